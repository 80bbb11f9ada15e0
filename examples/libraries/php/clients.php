<?php
// What the locks in PHP are put on: phpredis and Predis, each with its defaults, and the protocol loop.

declare(strict_types=1);

require __DIR__ . '/../../php/lockbench_worker.php';

// A worker that ends releases nothing: no destructor runs.
register_shutdown_function(static fn () => posix_kill(getmypid(), SIGKILL));

/** A client of phpredis whose calls are bounded by lockbench's time-out. */
final class OnPhpRedis
{
    public \Redis $client;
    private array $at;

    public function __construct(string $address)
    {
        $this->at = explode(':', $address);
        $this->client = new \Redis();
        $this->client->connect($this->at[0], (int) $this->at[1]);
    }

    public function within(float $seconds): void
    {
        if (!$this->client->isConnected()) {
            $this->client->connect($this->at[0], (int) $this->at[1], $seconds);
        }
        $this->client->setOption(\Redis::OPT_READ_TIMEOUT, $seconds);
    }

    public function disconnect(): void
    {
        try {
            $this->client->close();
        } catch (\RedisException) { // it is gone already
        }
    }
}

/** A client of Predis whose calls are bounded by lockbench's time-out. */
final class OnPredis
{
    public \Predis\Client $client;

    public function __construct(string $address)
    {
        require_once 'Predis/autoload.php';
        [$host, $port] = explode(':', $address);
        $this->client = new \Predis\Client(['host' => $host, 'port' => (int) $port]);
    }

    public function within(float $seconds): void
    {
        $socket = $this->client->getConnection()->getResource();
        stream_set_timeout($socket, (int) $seconds, (int) (fmod($seconds, 1) * 1e6));
    }

    public function disconnect(): void
    {
        $this->client->disconnect();
    }
}

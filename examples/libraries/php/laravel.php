<?php
// Cache::lock of Laravel on its cache store for Redis, with the defaults of the client and of the lock.

declare(strict_types=1);

require_once __DIR__ . '/clients.php';
require_once 'Illuminate/Redis/autoload.php';
require_once 'Illuminate/Cache/autoload.php';

use Illuminate\Cache\RedisStore;
use Illuminate\Contracts\Cache\LockTimeoutException;
use Illuminate\Redis\RedisManager;

abstract class LaravelLock
{
    const KEYS = ['%s'];
    const RELEASES_REFUSED = true;
    const PROMISES = ['whole_seconds' => true, 'poll' => 250]; // as its documentation and block() say

    private RedisManager $manager;
    private RedisStore $store;

    public function __construct(array $addresses, array $setting)
    {
        [$host, $port] = explode(':', $addresses[0]);
        $this->manager = new RedisManager(null, static::CLIENT, ['default' => ['host' => $host, 'port' => (int) $port]]);
        $this->store = new RedisStore($this->manager);
    }

    private function lock(string $key, int $ttlMs)
    {
        if ($ttlMs < 1000 || $ttlMs % 1000 > 0) {
            throw new Lockbench\Refused('invalid', 'a lease lasts for whole seconds');
        }
        return $this->store->lock($key, intdiv($ttlMs, 1000));
    }

    public function acquire(string $key, int $ttlMs)
    {
        return $this->take($this->lock($key, $ttlMs));
    }

    public function acquireDefault(string $key)
    {
        return $this->take($this->store->lock($key));
    }

    private function take($lock)
    {
        return $lock->get() ? $lock : throw new Lockbench\Refused('taken', 'lock is taken', $lock);
    }

    public function wait(string $key, int $ttlMs, float $limitS)
    {
        $lock = $this->lock($key, $ttlMs);
        try {
            return $lock->block((int) ceil($limitS)) ? $lock : null;
        } catch (LockTimeoutException) {
            return null;
        }
    }

    public function release(string $key, $lock): bool
    {
        return $lock->release();
    }

    public function within(float $seconds): void
    {
        $client = $this->store->connection()->client();
        if ($client instanceof \Redis) {
            $client->setOption(\Redis::OPT_READ_TIMEOUT, $seconds);
        } else {
            $socket = $client->getConnection()->getResource();
            stream_set_timeout($socket, (int) $seconds, (int) (fmod($seconds, 1) * 1e6));
        }
    }

    /** The next call connects again. */
    public function disconnect(): void
    {
        $this->manager->purge('default');
    }
}

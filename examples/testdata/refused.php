<?php
// A sound lock in PHP that tells what a client could release that was refused, and has a lease by default.

declare(strict_types=1);

require __DIR__ . '/../php/lockbench_worker.php';

final class Refusing
{
    const KEYS = ['lock:%s'];
    const PROMISES = ['default_ttl' => 30000];
    const RELEASES_REFUSED = true;

    const RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
    const EXTEND = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";

    private Lockbench\Connection $redis;

    public function __construct(array $addresses, array $setting)
    {
        $this->redis = new Lockbench\Connection($addresses[0]);
    }

    public function acquire(string $key, int $ttlMs): string
    {
        $token = bin2hex(random_bytes(16));
        if ($this->redis->set("lock:$key", $token, ['nx', 'px' => $ttlMs]) !== true) {
            throw new Lockbench\Refused('taken', 'lock is taken', $token);
        }
        return $token;
    }

    public function acquireDefault(string $key): string
    {
        return $this->acquire($key, 30000);
    }

    public function release(string $key, $lease): bool
    {
        return $this->redis->eval(self::RELEASE, ["lock:$key", $lease], 1) === 1;
    }

    public function extend(string $key, $lease, int $ttlMs): bool
    {
        return $this->redis->eval(self::EXTEND, ["lock:$key", $lease, $ttlMs], 1) === 1;
    }

    public function holds(string $key, $lease): bool
    {
        return $this->redis->get("lock:$key") === $lease;
    }

    public function within(float $seconds): void
    {
        $this->redis->within($seconds);
    }

    public function disconnect(): void
    {
        $this->redis->disconnect();
    }
}

Lockbench\serve(Refusing::class);

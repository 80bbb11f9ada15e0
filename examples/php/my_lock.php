<?php
// Your lock, as lockbench calls it. Put your own code into MyLock; what is there is sound.
//
//   lockbench gate --backend process --worker 'php my_lock.php'

declare(strict_types=1);

require __DIR__ . '/lockbench_worker.php';

class MyLock
{
    const KEYS = ['lock:%s']; // under which names the lock on %s is kept
    const PROMISES = []; // what your lock keeps beyond that, such as ['tolerance' => 500]; see lockbench's docs/worker-protocol.md

    const COMPARE_AND_DELETE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
    const COMPARE_AND_EXPIRE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";

    private Lockbench\Connection $redis;

    public function __construct(array $addresses, array $setting)
    {
        $this->redis = new Lockbench\Connection($addresses[0]);
    }

    /** Returns a lease, or null if somebody else holds the lock. Tries once. */
    public function acquire(string $key, int $ttlMs): ?string
    {
        $token = bin2hex(random_bytes(16));
        return $this->redis->set("lock:$key", $token, ['nx', 'px' => $ttlMs]) === true ? $token : null;
    }

    /** Says whether the lease was still ours. */
    public function release(string $key, $lease): bool
    {
        return $this->redis->eval(self::COMPARE_AND_DELETE, ["lock:$key", $lease], 1) === 1;
    }

    /** Says whether the lease was still ours, and lasts for ttlMs from now. Remove it if your lock cannot. */
    public function extend(string $key, $lease, int $ttlMs): bool
    {
        if ($ttlMs <= 0) { // Redis would delete the key
            throw new Lockbench\Refused('invalid', 'a lease lasts for more than 0 ms');
        }
        return $this->redis->eval(self::COMPARE_AND_EXPIRE, ["lock:$key", $lease, $ttlMs], 1) === 1;
    }

    /** Bounds each command from now on. */
    public function within(float $seconds): void
    {
        $this->redis->within($seconds);
    }

    /** Forgets connections on which a late reply would be taken for the next one. */
    public function disconnect(): void
    {
        $this->redis->disconnect();
    }
}

Lockbench\serve(MyLock::class);

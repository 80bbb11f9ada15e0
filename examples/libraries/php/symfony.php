<?php
// Lock of Symfony's component lock over RedisStore, with the defaults of the store and of the lock.

declare(strict_types=1);

require_once __DIR__ . '/clients.php';
require_once 'Symfony/Component/Lock/autoload.php';

use Symfony\Component\Lock\Exception\InvalidArgumentException;
use Symfony\Component\Lock\Exception\LockAcquiringException;
use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Exception\LockExpiredException;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\RedisStore;

abstract class SymfonyLock
{
    const KEYS = ['%s'];
    const RELEASES_REFUSED = true;
    // release() returns nothing; createLock() has a ttl of its own.
    const PROMISES = ['silent_release' => true, 'default_ttl' => 300000];

    private OnPhpRedis|OnPredis $on;
    private LockFactory $locks;

    public function __construct(array $addresses, array $setting)
    {
        $this->on = $this->client($addresses[0]);
        $this->locks = new LockFactory(new RedisStore($this->on->client));
    }

    abstract protected function client(string $address): OnPhpRedis|OnPredis;

    public function acquire(string $key, int $ttlMs)
    {
        return $this->take($this->locks->createLock($key, $ttlMs / 1000));
    }

    public function acquireDefault(string $key)
    {
        return $this->take($this->locks->createLock($key));
    }

    private function take($lock)
    {
        return $lock->acquire() ? $lock : throw new Lockbench\Refused('taken', 'lock is taken', $lock);
    }

    public function release(string $key, $lock): ?bool
    {
        $lock->release();
        return null;
    }

    public function extend(string $key, $lock, int $ttlMs): bool
    {
        try {
            $lock->refresh($ttlMs / 1000);
        } catch (LockConflictedException) {
            return false;
        } catch (InvalidArgumentException $why) {
            throw new Lockbench\Refused('invalid', $why->getMessage());
        } catch (LockAcquiringException $why) {
            if ($why->getPrevious() instanceof LockExpiredException) { // so it says that the lease is over
                return false;
            }
            throw $why;
        }
        return true;
    }

    public function holds(string $key, $lock): bool
    {
        return $lock->isAcquired();
    }

    public function within(float $seconds): void
    {
        $this->on->within($seconds);
    }

    public function disconnect(): void
    {
        $this->on->disconnect();
    }
}

#!/usr/bin/python3
"""redis.lock.Lock of redis-py, with the defaults of the client and of the lock.

    lockbench gate --worker 'python3 examples/libraries/python/redis_py.py'
"""

import redis
from redis.exceptions import LockError

from loop import Refused, serve


class RedisPy:
    NAME = "redis-py Lock " + redis.__version__
    KEYS = ["%s"]
    ERRORS = (redis.RedisError,)
    # As extend and sleep document their defaults; without socket_timeout a call waits for ever.
    PROMISES = {"extend_adds": True, "poll": 100, "endless": True}
    THREADS, RELEASES_TWICE, RELEASES_REFUSED = True, True, True
    LOCK, EXTEND = {}, {}

    def __init__(self, addresses, setting):
        host, _, port = addresses[0].rpartition(":")
        self.client = self.connect(host, int(port))

    def connect(self, host, port):
        return redis.Redis(host=host, port=port)

    def new(self, key, ttl_ms):
        return self.client.lock(key, timeout=ttl_ms and ttl_ms / 1000, **self.LOCK)

    def acquire(self, key, ttl_ms):
        lock = self.new(key, ttl_ms)
        if not lock.acquire(blocking=False):
            raise Refused("taken", "lock is taken", lock)
        return lock

    def acquire_default(self, key):
        return self.acquire(key, None)

    def wait(self, key, ttl_ms, limit_s):
        lock = self.new(key, ttl_ms)
        return lock if lock.acquire(blocking_timeout=limit_s) else None

    def release(self, key, lock):
        try:
            lock.release()
        except LockError:
            return False
        return True

    def extend(self, key, lock, ttl_ms):
        if lock.timeout is None:  # the library raises the LockError of a lease that is gone
            raise Refused("invalid", "a lock with no timeout cannot be extended")
        try:
            return lock.extend(ttl_ms / 1000, **self.EXTEND)
        except LockError:
            return False

    def holds(self, key, lock):
        return lock.owned()


if __name__ == "__main__":
    serve(RedisPy)

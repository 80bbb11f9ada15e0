#!/usr/bin/python3
"""redis.asyncio.lock.Lock of redis-py, with the defaults of the client and of the lock.

    lockbench gate --worker 'python3 examples/libraries/python/redis_asyncio.py'
"""

import asyncio

import redis
import redis.asyncio
from redis.exceptions import LockError

from loop import serve


class RedisAsyncio:
    NAME = "redis.asyncio Lock " + redis.__version__
    KEYS = ["%s"]
    ERRORS = (redis.RedisError,)
    PROMISES = {"extend_adds": True, "poll": 100}  # as extend and sleep document their defaults

    def __init__(self, addresses, setting):
        host, _, port = addresses[0].rpartition(":")
        self.loop = asyncio.new_event_loop()
        self.client = redis.asyncio.Redis(host=host, port=int(port))

    def run(self, coroutine):
        return self.loop.run_until_complete(coroutine)

    async def take(self, key, ttl_ms, **how):
        lock = self.client.lock(key, timeout=ttl_ms / 1000)
        return lock if await lock.acquire(**how) else None

    def acquire(self, key, ttl_ms):
        return self.run(self.take(key, ttl_ms, blocking=False))

    def wait(self, key, ttl_ms, limit_s):
        return self.run(self.take(key, ttl_ms, blocking_timeout=limit_s))

    def release(self, key, lock):
        try:
            self.run(lock.release())
        except LockError:
            return False
        return True

    def extend(self, key, lock, ttl_ms):
        try:
            return self.run(lock.extend(ttl_ms / 1000))
        except LockError:
            return False

    def holds(self, key, lock):
        return self.run(lock.owned())

    def disconnect(self):
        """A call that the alarm ended has left its task behind: end it first."""
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.run(asyncio.sleep(0))
        self.run(self.client.connection_pool.disconnect())


if __name__ == "__main__":
    serve(RedisAsyncio)

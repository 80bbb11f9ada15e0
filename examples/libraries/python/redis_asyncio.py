#!/usr/bin/python3
"""redis.asyncio.lock.Lock of redis-py, with the defaults of the client and of the lock.

    lockbench gate --worker 'python3 examples/libraries/python/redis_asyncio.py'
"""

import asyncio
import threading

import redis
import redis.asyncio
from redis.exceptions import LockError

from loop import Refused, serve


class RedisAsyncio:
    NAME = "redis.asyncio Lock " + redis.__version__
    KEYS = ["%s"]
    ERRORS = (redis.RedisError,)
    # As extend and sleep document their defaults; without socket_timeout a call waits for ever.
    PROMISES = {"extend_adds": True, "poll": 100, "endless": True}
    RELEASES_TWICE, RELEASES_REFUSED = True, True
    THREADS = True  # what lockbench calls a thread is a task here

    def __init__(self, addresses, setting):
        host, _, port = addresses[0].rpartition(":")
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.client = redis.asyncio.Redis(host=host, port=int(port))

    def run(self, method, *args, **named):
        async def task():  # whatever the method does before it waits is done in the loop's thread, too
            return await method(*args, **named)

        return asyncio.run_coroutine_threadsafe(task(), self.loop).result()

    def new(self, key, ttl_ms):
        return self.client.lock(key, timeout=ttl_ms and ttl_ms / 1000)

    async def take(self, key, ttl_ms, **how):
        lock = self.new(key, ttl_ms)
        if not await lock.acquire(**how):
            raise Refused("taken", "lock is taken", lock)
        return lock

    def acquire(self, key, ttl_ms):
        return self.run(self.take, key, ttl_ms, blocking=False)

    def acquire_default(self, key):
        return self.acquire(key, None)

    def wait(self, key, ttl_ms, limit_s):
        return self.run(self.take, key, ttl_ms, blocking_timeout=limit_s)

    def release(self, key, lock):
        try:
            self.run(lock.release)
        except LockError:
            return False
        return True

    def extend(self, key, lock, ttl_ms):
        if lock.timeout is None:  # the library raises the LockError of a lease that is gone
            raise Refused("invalid", "a lock with no timeout cannot be extended")
        try:
            return self.run(lock.extend, ttl_ms / 1000)
        except LockError:
            return False

    def holds(self, key, lock):
        return self.run(lock.owned)


if __name__ == "__main__":
    serve(RedisAsyncio)

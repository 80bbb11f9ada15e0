#!/usr/bin/python3
"""One redis.lock.Lock of redis-py for all threads, with its defaults: each thread has a token of its own in it.

    lockbench gate --worker 'python3 examples/libraries/python/redis_py_one.py'
"""

import redis

from loop import serve
from redis_py import RedisPy


class RedisPyOne(RedisPy):
    NAME = "redis-py Lock, one for all threads " + redis.__version__

    def __init__(self, addresses, setting):
        super().__init__(addresses, setting)
        self.objects = {}

    def new(self, key, ttl_ms):
        return self.objects.setdefault((key, ttl_ms), super().new(key, ttl_ms))

    def release(self, key, lock):
        # In a thread that has never held it the library sends nothing, and raises an AttributeError.
        return hasattr(lock.local, "token") and super().release(key, lock)


if __name__ == "__main__":
    serve(RedisPyOne)

#!/usr/bin/python3
"""One redis.asyncio.lock.Lock of redis-py for all tasks, with the defaults of the client and of the lock.

    lockbench gate --worker 'python3 examples/libraries/python/redis_asyncio_shared.py'
"""

import redis

from loop import serve
from redis_asyncio import RedisAsyncio


class RedisAsyncioShared(RedisAsyncio):
    NAME = "redis.asyncio Lock, one for all tasks " + redis.__version__

    def __init__(self, addresses, setting):
        super().__init__(addresses, setting)
        self.objects = {}

    def new(self, key, ttl_ms):
        return self.objects.setdefault((key, ttl_ms), super().new(key, ttl_ms))


if __name__ == "__main__":
    serve(RedisAsyncioShared)

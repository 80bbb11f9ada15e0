#!/usr/bin/python3
"""redis.lock.Lock of redis-py with thread_local=False: threads may hand the lock on to each other.

    lockbench gate --worker 'python3 examples/libraries/python/redis_py_shared.py'
"""

import redis

from loop import serve
from redis_py import RedisPy


class RedisPyShared(RedisPy):
    NAME = "redis-py Lock, thread_local=False " + redis.__version__
    LOCK = {"thread_local": False}


if __name__ == "__main__":
    serve(RedisPyShared)

#!/usr/bin/python3
"""One redis.lock.Lock of redis-py for all threads, with thread_local=False: they may hand the lock on to each other.

    lockbench gate --worker 'python3 examples/libraries/python/redis_py_shared.py'
"""

import redis

from loop import serve
from redis_py_one import RedisPyOne


class RedisPyShared(RedisPyOne):
    NAME = "redis-py Lock, thread_local=False " + redis.__version__
    LOCK = {"thread_local": False}


if __name__ == "__main__":
    serve(RedisPyShared)

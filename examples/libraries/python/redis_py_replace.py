#!/usr/bin/python3
"""redis.lock.Lock of redis-py, extended by extend(ttl, replace_ttl=True).

    lockbench gate --worker 'python3 examples/libraries/python/redis_py_replace.py'
"""

import redis

from loop import serve
from redis_py import RedisPy


class RedisPyReplace(RedisPy):
    NAME = "redis-py Lock, replace_ttl=True " + redis.__version__
    PROMISES = {"poll": 100, "endless": True}
    EXTEND = {"replace_ttl": True}


if __name__ == "__main__":
    serve(RedisPyReplace)

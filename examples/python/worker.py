#!/usr/bin/env python3
"""A client of lockbench in Python, on redis-py: two locks, one broken and one sound.

    lockbench run --scenario get-del-race --backend process --worker 'python3 examples/python/worker.py' --lock setnx-px-get-del
    lockbench run --scenario get-del-race --backend process --worker 'python3 examples/python/worker.py' --lock setnx-px-lua

To test a lock of your own, begin with `lockbench init python`.
"""

import uuid

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from lockbench_worker import Refused, serve


class SetNXPXLua:
    """SET NX PX with a random token; release by a script that compares and deletes."""

    NAME = "redis-py " + redis.__version__
    KEYS = ["%s"]
    ERRORS = (redis.RedisError,)

    COMPARE_AND_DELETE = """
        if redis.call('GET', KEYS[1]) == ARGV[1] then
            return redis.call('DEL', KEYS[1])
        end
        return 0"""

    COMPARE_AND_EXPIRE = """
        if redis.call('GET', KEYS[1]) == ARGV[1] then
            return redis.call('PEXPIRE', KEYS[1], ARGV[2])
        end
        return 0"""

    def __init__(self, addresses, setting):
        host, _, port = addresses[0].rpartition(":")
        # No retries, whatever the version's default: a SET NX that is sent again meets its own key.
        self.client = redis.Redis(host=host, port=int(port), retry=Retry(NoBackoff(), 0))

    def acquire(self, key, ttl_ms):
        token = uuid.uuid4().hex
        return token if self.client.set(key, token, nx=True, px=ttl_ms) else None

    def release(self, key, token):
        return self.client.eval(self.COMPARE_AND_DELETE, 1, key, token) == 1

    def extend(self, key, token, ttl_ms):
        if ttl_ms <= 0:  # Redis would delete the key
            raise Refused("invalid", "a lease lasts for more than 0 ms")
        return self.client.eval(self.COMPARE_AND_EXPIRE, 1, key, token, ttl_ms) == 1

    def holds(self, key, token):
        return self.client.get(key) == token.encode()

    def disconnect(self):
        self.client.connection_pool.disconnect()


class SetNXPXGetDel(SetNXPXLua):
    """The same with a release that compares here and deletes there.

    Broken: between GET and DEL the lease may end and somebody else take the lock.
    """

    def release(self, key, token):
        if self.client.get(key) != token.encode():
            return False
        self.client.delete(key)
        return True


if __name__ == "__main__":
    serve({"setnx-px-lua": SetNXPXLua, "setnx-px-get-del": SetNXPXGetDel})

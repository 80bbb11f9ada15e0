#!/usr/bin/env python3
"""Your lock, as lockbench calls it. Put your own code into MyLock; what is there is sound.

    lockbench gate --backend process --worker 'python3 my_lock.py'
"""

import uuid

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from lockbench_worker import Refused, serve

COMPARE_AND_DELETE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
COMPARE_AND_EXPIRE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"


class MyLock:
    KEYS = ["lock:%s"]  # under which names the lock on %s is kept
    PROMISES = {}  # what your lock keeps beyond that, such as {"tolerance": 500}; see lockbench's docs/worker-protocol.md
    ERRORS = (redis.RedisError,)  # after these nobody knows what happened

    def __init__(self, addresses, setting):
        host, _, port = addresses[0].rpartition(":")
        # No retries, whatever the version's default: a SET NX that is sent again meets its own key.
        self.client = redis.Redis(host=host, port=int(port), retry=Retry(NoBackoff(), 0))

    def acquire(self, key, ttl_ms):
        """Return a lease, or None if somebody else holds the lock. Try once."""
        token = uuid.uuid4().hex
        return token if self.client.set("lock:" + key, token, nx=True, px=ttl_ms) else None

    def release(self, key, lease):
        """Say whether the lease was still ours."""
        return self.client.eval(COMPARE_AND_DELETE, 1, "lock:" + key, lease) == 1

    def extend(self, key, lease, ttl_ms):
        """Say whether the lease was still ours, and lasts for ttl_ms from now. Remove it if your lock cannot."""
        if ttl_ms <= 0:  # Redis would delete the key
            raise Refused("invalid", "a lease lasts for more than 0 ms")
        return self.client.eval(COMPARE_AND_EXPIRE, 1, "lock:" + key, lease, ttl_ms) == 1

    def disconnect(self):
        """Forget connections on which a late reply would be taken for the next one."""
        self.client.connection_pool.disconnect()


if __name__ == "__main__":
    serve(MyLock)

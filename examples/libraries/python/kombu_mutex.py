#!/usr/bin/python3
"""kombu.transport.redis.Mutex, a context manager over redis-py, with the defaults of the client.

    lockbench gate --worker 'python3 examples/libraries/python/kombu_mutex.py'
"""

import kombu
import redis
from kombu.transport.redis import Mutex, MutexHeld

from loop import serve


class KombuMutex:
    NAME = "kombu Mutex " + kombu.__version__
    KEYS = ["%s"]
    ERRORS = (redis.RedisError,)
    # The end of the block says nothing of a lease that was lost; without socket_timeout a call waits for ever.
    PROMISES = {"silent_release": True, "endless": True}
    THREADS = True

    def __init__(self, addresses, setting):
        host, _, port = addresses[0].rpartition(":")
        self.client = redis.Redis(host=host, port=int(port))

    def acquire(self, key, ttl_ms):
        mutex = Mutex(self.client, key, ttl_ms / 1000)
        try:
            mutex.__enter__()
        except MutexHeld:
            return None
        return mutex

    def release(self, key, mutex):
        mutex.__exit__(None, None, None)


if __name__ == "__main__":
    serve(KombuMutex)

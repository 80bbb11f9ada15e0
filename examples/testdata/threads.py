"""A sound lock in Python that several threads may use at once, on a connection of each."""

import os
import sys
import threading

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

from lockbench_worker import Redis, Refused, serve  # noqa: E402

RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"

EXTEND = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"


class Threads:
    KEYS = ["lock:%s"]
    PROMISES = {"default_ttl": 30000}
    THREADS, RELEASES_TWICE, RELEASES_REFUSED = True, True, True

    def __init__(self, addresses, setting):
        self.address, self.connections = addresses[0], threading.local()

    def command(self, *args):
        if not hasattr(self.connections, "mine"):
            self.connections.mine = Redis(self.address)
        return self.connections.mine.command(*args)

    def acquire(self, key, ttl_ms):
        token = os.urandom(8).hex()
        if not self.command("SET", "lock:" + key, token, "NX", "PX", ttl_ms):
            raise Refused("taken", "lock is taken", token)
        return token

    def acquire_default(self, key):
        return self.acquire(key, 30000)

    def release(self, key, token):
        return self.command("EVAL", RELEASE, 1, "lock:" + key, token) == 1

    def extend(self, key, token, ttl_ms):
        return self.command("EVAL", EXTEND, 1, "lock:" + key, token, ttl_ms) == 1

    def holds(self, key, token):
        return self.command("GET", "lock:" + key) == token.encode()

    def disconnect(self):
        """A thread waits for its own replies: none comes late for another."""


if __name__ == "__main__":
    serve(Threads)

#!/usr/bin/env python3
"""A client of lockbench in Python, on redis-py: two locks, in one readable file.

    lockbench run --scenario get-del-race --backend process --worker 'python3 examples/python/worker.py'
    lockbench run --scenario get-del-race --backend process --worker 'python3 examples/python/worker.py' --lock setnx-px-lua

To test a lock of your own, write a class like the two below and give it the name of the
lock whose promises it makes. The protocol is in docs/worker-protocol.md: one JSON object
per line, requests on standard input, answers on standard output.
"""

import json
import os
import signal
import sys
import time
import uuid

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry


class SetNXPXLua:
    """SET NX PX with a random token; release by a script that compares and deletes."""

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

    def __init__(self, client):
        self.client = client

    def acquire(self, key, ttl_ms):
        """Return the token of a lease, or None if somebody else holds the lock."""
        token = uuid.uuid4().hex
        return token if self.client.set(key, token, nx=True, px=ttl_ms) else None

    def release(self, key, token):
        """Say whether the lease was still ours."""
        return self.client.eval(self.COMPARE_AND_DELETE, 1, key, token) == 1

    def extend(self, key, token, ttl_ms):
        """Say whether the lease was still ours, and now lasts for ttl_ms."""
        return self.client.eval(self.COMPARE_AND_EXPIRE, 1, key, token, ttl_ms) == 1

    def holds(self, key, token):
        return self.client.get(key) == token.encode()


class SetNXPXGetDel(SetNXPXLua):
    """The same with a release that compares here and deletes there.

    Broken: between GET and DEL the lease may end and somebody else take the lock.
    """

    def release(self, key, token):
        if self.client.get(key) != token.encode():
            return False
        self.client.delete(key)
        return True


LOCKS = {"setnx-px-lua": SetNXPXLua, "setnx-px-get-del": SetNXPXGetDel}
GUARDS = ("none", "elapsed", "check-token", "epoch")


class Fail(Exception):
    """A definite refusal: what was asked for did not happen, and never will."""

    def __init__(self, reason, text):
        super().__init__(text)
        self.reason = reason


class Impossible(Exception):
    """The worker cannot do what was asked: the harness must not go on."""


class Worker:
    """Answers requests, one method for each."""

    def __init__(self):
        self.lock = None
        self.leases = {}  # by the id of the acquire

    def hello(self, request):
        if request["protocol"] != 1:
            raise Impossible("this worker speaks protocol 1, not %s" % request["protocol"])
        return {"protocol": 1, "worker": "redis-py " + redis.__version__, "pid": os.getpid(), "can": ["extend"]}

    def configure(self, request):
        if request["lock"] not in LOCKS:
            raise Impossible("no lock %s, only %s" % (request["lock"], ", ".join(sorted(LOCKS))))
        if request["guard"] not in GUARDS:
            raise Impossible("no guard %s, only %s" % (request["guard"], ", ".join(GUARDS)))
        self.guard = request["guard"]
        self.scripts = request["register"]
        self.servers = [connect(request["nodes"][0]), connect(self.scripts["address"])]
        if request.get("connect"):
            for server in self.servers:
                server.ping()
        self.register = self.servers[1]
        self.lock = LOCKS[request["lock"]](self.servers[0])
        return {}

    def acquire(self, request):
        began = time.monotonic()
        token = self.lock.acquire(request["key"], round(request["ttl"]))
        if token is None:
            raise Fail("taken", "lock is taken")
        # The holder's lease counts from before the SET: then it ends here before it ends there.
        ends = began + request["ttl"] / 1000
        self.leases[request["id"]] = {"key": request["key"], "token": token, "ends": ends, "epoch": 0}
        return {"remaining": (ends - request["began"]) * 1000}

    def lease(self, request):
        if request["lease"] not in self.leases:
            raise Impossible("there is no lease %s, or it was released" % request["lease"])
        return self.leases[request["lease"]]

    def read(self, request):
        lease = self.lease(request)
        if self.guard == "epoch" and lease["epoch"] == 0:
            value, version, lease["epoch"] = self.access(lease, "enter")
        else:
            value, version = self.access(lease, "read", lease["epoch"])
        return {"value": value, "version": version, "token": lease["epoch"]}

    def write(self, request):
        lease = self.lease(request)
        if self.guard == "elapsed" and time.monotonic() >= lease["ends"]:
            raise Fail("elapsed", "the lease has ended by the client's clock")
        if self.guard == "check-token" and not self.lock.holds(lease["key"], lease["token"]):
            raise Fail("not-held", "lock is not held")
        if self.guard == "epoch" and lease["epoch"] == 0:
            self.read(request)
        _, replaced = self.access(lease, "write", lease["epoch"], request.get("value", 0))
        return {"version": replaced, "token": lease["epoch"]}

    def access(self, lease, script, *args):
        """Run one of the register's scripts. One number means that the token is stale."""
        reply = self.register.eval(self.scripts[script], 1, lease["key"] + self.scripts["suffix"], *args)
        if len(reply) == 1:
            raise Fail("stale", "fencing token is stale")
        return reply

    def extend(self, request):
        lease, began = self.lease(request), time.monotonic()
        if not self.lock.extend(lease["key"], lease["token"], round(request["ttl"])):
            raise Fail("not-held", "lock is not held")
        lease["ends"] = began + request["ttl"] / 1000
        return {"remaining": (lease["ends"] - request["began"]) * 1000}

    def release(self, request):
        lease = self.lease(request)
        del self.leases[request["lease"]]
        if not self.lock.release(lease["key"], lease["token"]):
            raise Fail("not-held", "lock is not held")
        return {}

    def disconnect(self):
        """Forget connections on which a late reply would be taken for the next one."""
        for server in self.servers:
            server.connection_pool.disconnect()


def connect(address):
    host, _, port = address.rpartition(":")
    # No retries, whatever the version's default: a SET NX that is sent again meets its own key.
    return redis.Redis(host=host, port=int(port), retry=Retry(NoBackoff(), 0))


def give_up(*_):
    raise TimeoutError("no answer in time")


def answer(worker, request):
    methods = ("hello", "configure", "acquire", "read", "write", "extend", "release")
    request["began"] = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, request.get("timeout", 0) / 1000)
    try:
        if request["op"] not in methods:
            raise Impossible("no op %s, only %s" % (request["op"], ", ".join(methods)))
        if worker.lock is None and request["op"] not in ("hello", "configure"):
            raise Impossible("%s before configure" % request["op"])
        return dict(getattr(worker, request["op"])(request), type="ok")
    except Fail as refusal:
        return {"type": "fail", "reason": refusal.reason, "error": str(refusal)}
    except Impossible as why:
        return {"type": "error", "error": str(why)}
    except (redis.RedisError, OSError) as why:  # TimeoutError is an OSError
        if worker.lock is None:
            return {"type": "error", "error": str(why)}
        worker.disconnect()
        return {"type": "unknown", "error": str(why)}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main():
    signal.signal(signal.SIGALRM, give_up)
    worker = Worker()
    for line in sys.stdin:  # ends with the harness
        request = json.loads(line)
        print(json.dumps(dict(answer(worker, request), id=request["id"])), flush=True)


if __name__ == "__main__":
    main()

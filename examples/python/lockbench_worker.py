"""The worker protocol of lockbench, for locks in Python. It needs Python 3.7 and nothing else.

    from lockbench_worker import serve

    class MyLock:
        KEYS = ["lock:%s"]          # the names under which the lock is kept in Redis
        DATABASE = 0                # the database that they are in
        PROMISES = {}               # see docs/worker-protocol.md
        THREADS = False             # several threads may use one MyLock at a time
        RELEASES_TWICE = False      # what was released may be released again
        RELEASES_REFUSED = False    # a refused acquire raises Refused("taken", text, lease), and that lease may be released
        ERRORS = (redis.RedisError,)  # after these nobody knows what happened; OSError always is one

        def __init__(self, addresses, setting): ...    # "host:port" of each master
        def acquire(self, key, ttl_ms): ...            # a lease, whatever you like; None: taken
        def release(self, key, lease): ...             # True: it was ours; False: it was not
        def extend(self, key, lease, ttl_ms): ...      # the same            (may be left out)
        def holds(self, key, lease): ...               # the same            (may be left out)
        def wait(self, key, ttl_ms, limit_s): ...      # as acquire          (may be left out)
        def acquire_read(self, key, ttl_ms): ...       # as acquire          (may be left out)
        def acquire_default(self, key): ...            # as acquire, without saying for how long (may be left out)
        def count(self, key): ...                      # how often we hold it (may be left out)
        def disconnect(self): ...                      # forget connections on which a late reply may come

    serve(MyLock)

A lock that issues fencing tokens has a method token(lease). One that renews its leases sets
TELLS_LOSS = True and calls self.lost(lease), which serve gives it, when one is gone.

With THREADS, each thread of a run is one here: it answers "unknown" when a request's time is over, and what the call brings
later is dropped. Without, the main thread makes all calls, and breaks them off by an exception.
"""

import json
import math
import os
import queue
import signal
import socket
import sys
import threading
import time
import traceback

GUARDS = ("none", "elapsed", "epoch", "done-marker")
OPTIONAL = {
    "extend": "extend", "holds": "verify", "wait": "wait", "acquire_read": "share", "acquire_default": "without-ttl", "count": "reenter",
}
ATTRIBUTES = {"TELLS_LOSS": "lost", "THREADS": "threads", "RELEASES_TWICE": "release-twice", "RELEASES_REFUSED": "release-refused"}


class Refused(Exception):
    """A definite refusal: what was asked for did not happen, and never will.

    reason is taken, not-held, invalid or rejected; see docs/worker-protocol.md. lease is what the caller of a refused
    acquire could release all the same; None: nothing.
    """

    def __init__(self, reason, text, lease=None):
        super().__init__(text)
        self.reason, self.lease = reason, lease


class Impossible(Exception):
    """The worker cannot do what was asked: lockbench must not go on."""


class TimedOut(BaseException):
    """The request's time is over. No Exception, as a library may swallow those and try again."""


class Alarm:
    """Raises TimedOut in the main thread, while it is armed and once."""

    def __init__(self):
        self.armed = False
        signal.signal(signal.SIGALRM, self.ring)

    def ring(self, *_):
        if self.armed:
            self.armed = False
            raise TimedOut

    def within(self, seconds, work):
        """Return work(), or raise TimedOut, wherever in here the signal lands."""
        try:
            self.armed = True
            if seconds > 0:
                signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-4))
            return work()
        finally:
            self.armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)


class First:
    """Passes on what it is called with first, and nothing after that."""

    def __init__(self, say):
        self.say, self.once = say, threading.Lock()

    def __call__(self, answer):
        if self.once.acquire(blocking=False):
            self.say(answer)


class Redis:
    """Just enough of a client to reach the register."""

    def __init__(self, address):
        self.address, self.file = address, None

    def command(self, *args):
        if self.file is None:
            host, _, port = self.address.rpartition(":")
            with socket.create_connection((host, int(port))) as connection:
                self.file = connection.makefile("rwb")
        args = [str(a).encode() for a in args]
        self.file.write(b"*%d\r\n" % len(args) + b"".join(b"$%d\r\n%s\r\n" % (len(a), a) for a in args))
        self.file.flush()
        return self.reply()

    def reply(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise ConnectionError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return self.file.read(int(rest) + 2)[:-2] if int(rest) >= 0 else None
        if kind == b"*":
            return [self.reply() for _ in range(int(rest))]
        return rest

    def disconnect(self):
        if self.file is not None:
            self.file.close()
            self.file = None


class Worker:
    """Answers requests, one method for each."""

    def __init__(self, locks):
        self.locks, self.out = locks, threading.Lock()
        self.alarm, self.lock = Alarm(), None
        self.threads = None  # by their numbers: the requests that wait for each; None: the lock is for one
        self.own = threading.local()  # of each thread: its connection to the register
        self.leases = {}  # by the id of the acquire
        self.refused = {}  # by thread: what its latest acquire was refused, with the id of that

    def chosen(self, request):
        name = request.get("lock", "")
        if not isinstance(self.locks, dict):
            return self.locks  # the only one, whatever it is called
        if name and name not in self.locks:
            raise Impossible("no lock %s, only %s" % (name, ", ".join(self.locks)))
        return self.locks[name or next(iter(self.locks))]

    def hello(self, request):
        if request.get("newest", 1) < 2:
            raise Impossible("this worker speaks protocol 2, and lockbench up to %s" % request.get("newest", 1))
        lock = self.chosen(request)
        answer = {"protocol": 2, "worker": getattr(lock, "NAME", lock.__name__), "pid": os.getpid()}
        answer["can"] = [can for method, can in OPTIONAL.items() if callable(getattr(lock, method, None))]
        for attribute, can in ATTRIBUTES.items():
            answer["can"] += [can] if getattr(lock, attribute, False) else []
        answer["guards"] = list(GUARDS)
        answer["guards"] += ["check-token"] if hasattr(lock, "holds") else []
        answer["guards"] += ["fence"] if hasattr(lock, "token") else []
        answer["promises"] = dict({"fencing": hasattr(lock, "token")}, **getattr(lock, "PROMISES", {}))
        for field in ("keys", "database"):
            if hasattr(lock, field.upper()):
                answer[field] = getattr(lock, field.upper())
        return answer

    def configure(self, request):
        self.guard, self.scripts = request["guard"], request["register"]
        lock = self.chosen(request)
        said = getattr(lock, "PROMISES", {})
        self.no_lease, self.adds, self.endless = (said.get(p, False) for p in ("no_lease", "extend_adds", "endless"))
        self.default_ttl = said.get("default_ttl") or math.inf
        self.twice = getattr(lock, "RELEASES_TWICE", False)
        if getattr(lock, "THREADS", False):
            self.threads = {}
        self.errors = (OSError,) + tuple(getattr(lock, "ERRORS", ()))
        if request.get("connect"):
            for address in request["nodes"] + [self.scripts["address"]]:
                Redis(address).command("PING")
        self.lock = lock(request["nodes"], request)
        self.lock.lost = self.lost
        return {}

    def lost(self, token):
        """Tell of a lease that is gone. It may be called by any thread."""
        for number, lease in list(self.leases.items()):
            if lease["token"] is token:
                self.write_line(dict({"event": "lost", "lease": number}, **self.remaining(lease, time.monotonic())))

    def acquire(self, request):
        thread = request.get("thread", 0)
        self.refused.pop(thread, None)
        try:
            return self.attempt(request)
        except Refused as refusal:
            if refusal.lease is not None:
                self.refused[thread] = {"id": request["id"], "key": request["key"], "token": refusal.lease}
            raise

    def attempt(self, request):
        key, ttl, began = request["key"], round(request.get("ttl", 0)), time.monotonic()
        if not request.get("ttl"):
            if request.get("mode") or request.get("wait"):
                raise Impossible("without a ttl the lock is neither shared nor waited for")
            token, ttl = self.lock.acquire_default(key), self.default_ttl
        elif request.get("mode") == "read":
            token = self.lock.acquire_read(key, ttl)
        elif request.get("wait"):
            token = self.lock.wait(key, ttl, request["wait"] / 1000)
            began = time.monotonic()  # when its last try began, only the lock knows
        else:
            token = self.lock.acquire(key, ttl)
        if token is None or token is False:
            raise Refused("taken", "lock is taken")
        lease = {"key": key, "token": token, "epoch": 0, "value": None}
        self.leases[request["id"]] = lease
        return self.lasting(lease, request, began + ttl / 1000)

    def lasting(self, lease, request, ends):
        """A lease counts from before the command was sent: it ends here before it ends there."""
        lease["ends"] = math.inf if self.no_lease else ends
        answer = self.remaining(lease, request["began"])
        if hasattr(self.lock, "token"):
            answer["token"] = self.lock.token(lease["token"])
        return answer

    @staticmethod
    def remaining(lease, since):
        return {} if lease["ends"] == math.inf else {"remaining": (lease["ends"] - since) * 1000}

    def lease(self, request):
        if request["lease"] not in self.leases:
            raise Impossible("there is no lease %s, or it was released" % request["lease"])
        return self.leases[request["lease"]]

    def refusal(self, request):
        """What the thread's latest acquire was refused, if the request is about that."""
        refused = self.refused.get(request.get("thread", 0))
        return refused if refused and refused["id"] == request["lease"] else None

    def extend(self, request):
        lease, ttl = self.refusal(request) or self.lease(request), round(request.get("ttl", 0))
        now = time.monotonic()
        ends = (lease.get("ends", now) if self.adds else now) + ttl / 1000
        if not self.lock.extend(lease["key"], lease["token"], ttl):
            raise Refused("not-held", "lock is not held")
        return self.lasting(lease, request, ends)

    def verify(self, request):
        lease = self.lease(request)
        if not self.lock.holds(lease["key"], lease["token"]):
            raise Refused("not-held", "lock is not held")
        return {}

    def release(self, request):
        lease = self.refusal(request)
        if lease is None:
            lease = self.lease(request)
            if not self.twice or lease.get("released"):
                del self.leases[request["lease"]]
            lease["released"] = True
        if self.lock.release(lease["key"], lease["token"]) is False:
            raise Refused("not-held", "lock is not held")
        return {}

    def count(self, request):
        return {"count": self.lock.count(request["key"])}

    def read(self, request):
        lease = self.lease(request)
        if self.guard == "epoch" and lease["epoch"] == 0:
            value, version, lease["epoch"] = self.access(lease, "enter")
        else:
            value, version = self.access(lease, "read", self.stamp(lease))
        lease["value"] = value
        return {"value": value, "version": version, "token": self.stamp(lease)}

    def write(self, request):
        lease, value = self.lease(request), request.get("value", 0)
        if self.guard == "elapsed" and time.monotonic() >= lease["ends"]:
            raise Refused("elapsed", "the lease has ended by the client's clock")
        if self.guard == "check-token" and not self.lock.holds(lease["key"], lease["token"]):
            raise Refused("not-held", "lock is not held")
        if self.guard == "epoch" and lease["epoch"] == 0 or self.guard == "done-marker" and lease["value"] is None:
            self.read(request)
        if self.guard == "done-marker" and value <= lease["value"]:
            raise Refused("done", "it has been done already")
        _, replaced = self.access(lease, "write", self.stamp(lease), value)
        return {"version": replaced, "token": self.stamp(lease)}

    def stamp(self, lease):
        """The token that an access of the register carries."""
        return self.lock.token(lease["token"]) if self.guard == "fence" else lease["epoch"]

    def access(self, lease, script, *args):
        """Run one of the register's scripts. One number means that the token is stale."""
        reply = self.register.command("EVAL", self.scripts[script], 1, lease["key"] + self.scripts["suffix"], *args)
        if len(reply) == 1:
            raise Refused("stale", "fencing token is stale")
        return [int(number) for number in reply]

    @property
    def register(self):
        """The calling thread's connection."""
        if not hasattr(self.own, "register"):
            self.own.register = Redis(self.scripts["address"])
        return self.own.register

    def limit(self, request):
        """For how many seconds the request may be tried; 0: as long as the lock likes."""
        return 0 if getattr(self, "endless", False) else request.get("timeout", 0) / 1000

    def answer(self, request, within):
        """Answer a request, whose call within(work) makes."""
        methods = ("hello", "configure", "acquire", "read", "write", "extend", "verify", "release", "count")
        request["began"], unclear = time.monotonic(), (OSError,)
        try:
            if request["op"] not in methods:
                raise Impossible("no op %s, only %s" % (request["op"], ", ".join(methods)))
            if self.lock is None and request["op"] not in methods[:2]:
                raise Impossible("%s before configure" % request["op"])
            unclear = getattr(self, "errors", unclear)
            return dict(within(lambda: getattr(self, request["op"])(request)), type="ok")
        except Refused as refusal:
            return {"type": "fail", "reason": refusal.reason, "error": str(refusal)}
        except TimedOut:
            return self.unknown("no answer in time")
        except unclear as why:
            return self.unknown(str(why) or type(why).__name__)
        except Exception as why:
            traceback.print_exc()
            return {"type": "error", "error": str(why) or type(why).__name__}

    def unknown(self, why):
        if self.lock is None:
            return {"type": "error", "error": why}
        self.register.disconnect()
        if self.threads is None:  # a thread waits for its reply, and disturbs nobody else
            self.lock.disconnect()
        return {"type": "unknown", "error": why}

    def take(self, request):
        """Answer a request, here or in the thread that it is for."""
        limit, say = self.limit(request), First(lambda answer: self.write_line(dict(answer, id=request["id"])))
        if self.threads is None or request["op"] == "configure":
            say(self.answer(request, lambda work: self.alarm.within(limit, work)))
            return
        timer = threading.Timer(limit, say, [{"type": "unknown", "error": "no answer in time"}])
        timer.daemon = True
        if limit > 0:
            timer.start()
        number = request.get("thread", 0)
        if number not in self.threads:
            self.threads[number] = queue.Queue()
            threading.Thread(target=self.attend, args=[self.threads[number]], daemon=True).start()
        self.threads[number].put((request, say, timer))

    def attend(self, requests):
        """Be a thread of the run."""
        while True:
            request, say, timer = requests.get()
            say(self.answer(request, lambda work: work()))
            timer.cancel()

    def write_line(self, message):
        with self.out:
            print(json.dumps(message), flush=True)


def serve(locks):
    """Answer lockbench until it is done. locks is a class, or several by their names."""
    worker = Worker(locks)
    for line in sys.stdin:
        worker.take(json.loads(line))
    os._exit(0)  # whatever threads the lock has

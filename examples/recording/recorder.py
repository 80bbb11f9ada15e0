"""Records the calls of an application's own lock as a history that lockbench check reads."""
import itertools, json, threading, time

class Recorder:
    def __init__(self, path):
        self.out, self.lock, self.began = open(path, "w", buffering=1), threading.Lock(), time.monotonic_ns()
        self.index, self.calls = itertools.count(), itertools.count(1)

    def do(self, worker, what, key, call, attempt=None, ttl=0):
        """Makes a call (acquire, extend or release), which says whether it was done, and records it. attempt is
        what this returned for the acquire; ttl is in seconds. After an exception nobody knows the outcome."""
        n = next(self.calls)  # a call is a process of its own, and an acquire an attempt of its own
        event = {"process": n, "worker": worker, "f": what, "key": key, "attempt": attempt or n}
        self.log(event, "invoke", ttl=int(ttl * 1e9))
        try:
            done = call()
        except BaseException:
            self.log(event, "info")
            raise
        self.log(event, "ok" if done else "fail")
        return done, event["attempt"]

    def log(self, event, outcome, **more):
        with self.lock:
            line = {"index": next(self.index), "time": time.monotonic_ns() - self.began, "type": outcome, **event, **more}
            self.out.write(json.dumps(line) + "\n")

#!/usr/bin/env python3
"""Locks on redis-py that lockbench must tell apart: sound ones as they are written in many
places, and broken ones with one mistake each.

    variants.py NAME
"""

import os
import random
import sys
import threading
import time
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../examples/python"))

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from lockbench_worker import Refused, serve

COMPARE_AND_DELETE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
COMPARE_AND_EXPIRE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"


class Lock:
    """The sound lock that all others are made of."""

    KEYS = ["lock:%s"]
    DATABASE = 0
    ERRORS = (redis.RedisError,)

    def __init__(self, addresses, setting):
        self.setting = setting
        self.client = self.connect(addresses[0])

    def connect(self, address, database=None):
        host, _, port = address.rpartition(":")
        database = self.DATABASE if database is None else database
        return redis.Redis(host=host, port=int(port), db=database, retry=Retry(NoBackoff(), 0))

    def name(self, key):
        return self.KEYS[0] % key

    def token_of(self, key):
        return uuid.uuid4().hex

    def acquire(self, key, ttl_ms):
        token = self.token_of(key)
        return token if self.client.set(self.name(key), token, nx=True, px=ttl_ms) else None

    def release(self, key, lease):
        return self.client.eval(COMPARE_AND_DELETE, 1, self.name(key), lease) == 1

    def extend(self, key, lease, ttl_ms):
        if ttl_ms <= 0:
            raise Refused("invalid", "a lease lasts for more than 0 ms")
        return self.client.eval(COMPARE_AND_EXPIRE, 1, self.name(key), lease, ttl_ms) == 1

    def disconnect(self):
        self.client.connection_pool.disconnect()


class Renewing(Lock):
    """A thread for each lease makes it last, with a third of the TTL between renewals."""

    TELLS_LOSS = True
    extend = None  # is not offered

    def acquire(self, key, ttl_ms):
        token = super().acquire(key, ttl_ms)
        if token is None:
            return None
        lease = {"token": token, "over": threading.Event()}
        lease["thread"] = threading.Thread(target=self.renew, args=(key, lease, ttl_ms), daemon=True)
        lease["thread"].start()
        return lease

    def renew(self, key, lease, ttl_ms):
        client = redis.Redis(connection_pool=redis.ConnectionPool(**dict(self.client.connection_pool.connection_kwargs, socket_timeout=ttl_ms / 6000)))
        good = began = time.monotonic()
        while not lease["over"].wait(ttl_ms / 3000):
            asked = time.monotonic()
            if asked > began + ttl_ms * 0.01:  # a holder that hangs does not keep the lock for ever
                self.lost(lease)
                return
            try:
                held = self.prolong(client, key, lease, ttl_ms)
            except redis.RedisError:
                held = None
                client.connection_pool.disconnect()
            if held:
                good = asked
            elif held is not None or time.monotonic() > good + ttl_ms * 0.0006:
                if not lease["over"].is_set():
                    self.lost(lease)
                return

    def prolong(self, client, key, lease, ttl_ms):
        return client.eval(COMPARE_AND_EXPIRE, 1, self.name(key), lease["token"], ttl_ms) == 1

    def release(self, key, lease):
        self.stop(lease)
        return super().release(key, lease["token"])

    def stop(self, lease):
        lease["over"].set()
        lease["thread"].join()


# Sound.


class EvalshaFirst(Lock):
    """Scripts go by their digests, and the sources only where the server does not know them."""

    def run(self, script, *args):
        try:
            return self.client.evalsha(self.digest(script), 1, *args)
        except redis.exceptions.NoScriptError:
            return self.client.eval(script, 1, *args)

    def digest(self, script):
        import hashlib

        return hashlib.sha1(script.encode()).hexdigest()

    def acquire(self, key, ttl_ms):
        script = "if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end return 0"
        token = self.token_of(key)
        return token if self.run(script, self.name(key), token, ttl_ms) == 1 else None

    def release(self, key, lease):
        return self.run(COMPARE_AND_DELETE, self.name(key), lease) == 1

    def extend(self, key, lease, ttl_ms):
        if ttl_ms <= 0:
            raise Refused("invalid", "a lease lasts for more than 0 ms")
        return self.run(COMPARE_AND_EXPIRE, self.name(key), lease, ttl_ms) == 1


class PttlFirst(Lock):
    def acquire(self, key, ttl_ms):
        self.client.pttl(self.name(key))
        return super().acquire(key, ttl_ms)


class GetFirst(Lock):
    """Looks whether the lock is free before it asks for it."""

    def acquire(self, key, ttl_ms):
        if self.client.get(self.name(key)) is not None:
            return None
        return super().acquire(key, ttl_ms)


class Waiting(Lock):
    PROMISES = {"poll": 50}

    def wait(self, key, ttl_ms, limit_s):
        end = time.monotonic() + limit_s
        while True:
            lease = self.acquire(key, ttl_ms)
            if lease is not None or time.monotonic() > end:
                return lease
            time.sleep(self.pause())

    def pause(self):
        return 0.05


class Jitter(Waiting):
    def pause(self):
        return 0.05 + 0.05 * random.random()


class Tolerance(Lock):
    """Adds half a second to every lease, for clocks that drift, and says so."""

    PROMISES = {"tolerance": 500}

    def acquire(self, key, ttl_ms):
        return super().acquire(key, ttl_ms + 500)

    def extend(self, key, lease, ttl_ms):
        return super().extend(key, lease, ttl_ms + 500 if ttl_ms > 0 else ttl_ms)


class ClientSetinfo(Lock):
    """Introduces itself on every connection, as newer clients do."""

    def connect(self, address, database=None):
        client = super().connect(address, database)
        client.connection_pool.connection_kwargs["client_name"] = "variants"
        return client

    def acquire(self, key, ttl_ms):
        try:
            self.client.execute_command("CLIENT", "SETINFO", "LIB-NAME", "variants")
        except redis.ResponseError:  # servers before 7.2 do not know it
            pass
        return super().acquire(key, ttl_ms)


class HashTag(Lock):
    KEYS = ["{%s}"]


class OtherDatabase(Lock):
    DATABASE = 5


class WatchMulti(Lock):
    """Releases by a transaction in place of a script."""

    def release(self, key, lease):
        with self.client.pipeline() as pipe:
            pipe.watch(self.name(key))
            if pipe.get(self.name(key)) != lease.encode():
                return False
            pipe.multi()
            pipe.delete(self.name(key))
            try:
                return pipe.execute() == [1]
            except redis.WatchError:
                return False


class Fenced(Lock):
    """Leases carry a token that rises, drawn by the script that takes the lock."""

    ACQUIRE = "if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return redis.call('INCR', KEYS[2]) end return 0"

    def counter(self, key):
        return "fence:" + key

    def acquire(self, key, ttl_ms):
        secret = self.token_of(key)
        number = self.client.eval(self.ACQUIRE, 2, self.name(key), self.counter(key), secret, ttl_ms)
        return (secret, number) if number else None

    def token(self, lease):
        return lease[1]

    def release(self, key, lease):
        return super().release(key, lease[0])

    def extend(self, key, lease, ttl_ms):
        return super().extend(key, lease[0], ttl_ms)


# Broken, as they often are.


class BareDel(Lock):
    def release(self, key, lease):
        return self.client.delete(self.name(key)) == 1


class GetDel(Lock):
    def release(self, key, lease):
        if self.client.get(self.name(key)) != lease.encode():
            return False
        return self.client.delete(self.name(key)) == 1


class NoNX(Lock):
    def acquire(self, key, ttl_ms):
        token = self.token_of(key)
        self.client.set(self.name(key), token, px=ttl_ms)
        return token


class NoExpiry(Lock):
    def acquire(self, key, ttl_ms):
        token = self.token_of(key)
        return token if self.client.set(self.name(key), token, nx=True) else None


class SetnxThenExpire(Lock):
    def acquire(self, key, ttl_ms):
        token = self.token_of(key)
        if not self.client.setnx(self.name(key), token):
            return None
        self.client.pexpire(self.name(key), ttl_ms)
        return token


class GetThenSet(Lock):
    def acquire(self, key, ttl_ms):
        if self.client.get(self.name(key)) is not None:
            return None
        token = self.token_of(key)
        self.client.set(self.name(key), token, px=ttl_ms)
        return token


class UncheckedExtend(Lock):
    def extend(self, key, lease, ttl_ms):
        return self.client.pexpire(self.name(key), ttl_ms)


class AlwaysTrue(Lock):
    def release(self, key, lease):
        super().release(key, lease)
        return True


class OneToken(Lock):
    """Compares, but all clients have the same token."""

    def token_of(self, key):
        return "locked"


class MillisecondsAsSeconds(Lock):
    def acquire(self, key, ttl_ms):
        token = self.token_of(key)
        return token if self.client.set(self.name(key), token, nx=True, ex=ttl_ms) else None


# Broken in ways of their own.


class FailOpen(Lock):
    """Without Redis everybody is let in, as the shop must go on."""

    def acquire(self, key, ttl_ms):
        try:
            return super().acquire(key, ttl_ms)
        except (redis.RedisError, OSError):
            self.disconnect()
            return self.token_of(key)


class ErrorIsTaken(Lock):
    """Takes every error for a refusal, though the key may have been set."""

    def acquire(self, key, ttl_ms):
        try:
            return super().acquire(key, ttl_ms)
        except (redis.RedisError, OSError):
            self.disconnect()
            return None


class ReleasesElsewhere(Lock):
    """Releases the name without its prefix, and does not look at the reply."""

    def release(self, key, lease):
        self.client.eval(COMPARE_AND_DELETE, 1, key, lease)
        return True


class OtherDatabaseRelease(Lock):
    """Acquires in one database and releases in another."""

    def __init__(self, addresses, setting):
        super().__init__(addresses, setting)
        self.other = self.connect(addresses[0], 1)

    def release(self, key, lease):
        self.other.eval(COMPARE_AND_DELETE, 1, self.name(key), lease)
        return True

    def disconnect(self):
        super().disconnect()
        self.other.connection_pool.disconnect()


class ExtendRecreates(Lock):
    """Extends by setting the key again, whoever has it."""

    def extend(self, key, lease, ttl_ms):
        return bool(self.client.set(self.name(key), lease, px=ttl_ms))


class MinuteLonger(Lock):
    """Adds a minute to every lease, and does not say so."""

    def acquire(self, key, ttl_ms):
        return super().acquire(key, ttl_ms + 60_000)


class EvalshaOnly(EvalshaFirst):
    """Loads its scripts once, and is lost when the server forgets them."""

    def __init__(self, addresses, setting):
        super().__init__(addresses, setting)
        for script in (COMPARE_AND_DELETE, COMPARE_AND_EXPIRE):
            self.client.script_load(script)

    def run(self, script, *args):
        try:
            return self.client.evalsha(self.digest(script), 1, *args)
        except redis.exceptions.NoScriptError:
            return 1  # "it will expire by itself"

    def acquire(self, key, ttl_ms):
        return Lock.acquire(self, key, ttl_ms)


class SometimesBare(Lock):
    """In one of ten releases the comparison is left out."""

    def __init__(self, addresses, setting):
        super().__init__(addresses, setting)
        self.draw = random.Random(setting["seed"])

    def release(self, key, lease):
        if self.draw.random() < 0.1:
            return self.client.delete(self.name(key)) == 1
        return super().release(key, lease)


class RenewalOutlives(Renewing):
    """The renewal does not compare, and nobody stops it."""

    def prolong(self, client, key, lease, ttl_ms):
        client.pexpire(self.name(key), ttl_ms)
        return True

    def stop(self, lease):
        pass


class RenewalRecreates(Renewing):
    """The renewal sets the key again, whoever has it by then."""

    def prolong(self, client, key, lease, ttl_ms):
        return client.set(self.name(key), lease["token"], px=ttl_ms)


class HalfLease(Lock):
    """Asks Redis for half of the lease that it tells its holder of."""

    def acquire(self, key, ttl_ms):
        return super().acquire(key, ttl_ms // 2)


class RefusedProlongs(Lock):
    """Who is refused makes the key last for a TTL from then on."""

    def acquire(self, key, ttl_ms):
        lease = super().acquire(key, ttl_ms)
        if lease is None:
            self.client.pexpire(self.name(key), ttl_ms)
        return lease


class Retries(Lock):
    """Sends a command again whose answer it did not get."""

    def connect(self, address, database=None):
        host, _, port = address.rpartition(":")
        return redis.Redis(host=host, port=int(port), retry=Retry(NoBackoff(), 3), retry_on_error=[redis.ConnectionError])


class Spin(Waiting):
    """Waits by asking without a pause."""

    PROMISES = {}

    def pause(self):
        return 0


class WaitFallsThrough(Waiting):
    """A wait that ends in vain is taken for an acquire."""

    def wait(self, key, ttl_ms, limit_s):
        for _ in range(10):
            lease = self.acquire(key, ttl_ms)
            if lease is not None:
                break
            time.sleep(self.pause())
        return lease or self.token_of(key)


class ExtendUnheard(Lock):
    """Takes an extend that got no answer for one that worked."""

    def extend(self, key, lease, ttl_ms):
        try:
            return super().extend(key, lease, ttl_ms)
        except (redis.RedisError, OSError):
            self.disconnect()
            return True


class Impatient(Lock):
    """At the fiftieth refusal in a row it takes the key for left behind."""

    refused = 0

    def acquire(self, key, ttl_ms):
        lease = super().acquire(key, ttl_ms)
        self.refused = 0 if lease else self.refused + 1
        if self.refused == 50:
            self.client.delete(self.name(key))
            return self.acquire(key, ttl_ms)
        return lease


class ShortToken(Lock):
    """Tokens are two digits."""

    def token_of(self, key):
        return "%02d" % random.randrange(100)


class Lingers(Lock):
    """A release lets the key live for some seconds more."""

    def release(self, key, lease):
        return self.client.eval(COMPARE_AND_EXPIRE, 1, self.name(key), lease, 15_000) == 1


class FencePerClient(Fenced):
    """Each client counts its tokens by itself."""

    def __init__(self, addresses, setting):
        super().__init__(addresses, setting)
        self.identity = setting["identity"]

    def counter(self, key):
        return "fence:%s:%s" % (key, self.identity)


SOUND = {
    "evalsha-first": EvalshaFirst,
    "pttl-first": PttlFirst,
    "get-first": GetFirst,
    "waiting": Waiting,
    "jitter": Jitter,
    "watchdog": Renewing,
    "tolerance": Tolerance,
    "client-setinfo": ClientSetinfo,
    "hash-tag": HashTag,
    "other-database": OtherDatabase,
    "watch-multi": WatchMulti,
    "fenced": Fenced,
}

BROKEN = {
    "bare-del": BareDel,
    "get-del": GetDel,
    "no-nx": NoNX,
    "no-expiry": NoExpiry,
    "setnx-then-expire": SetnxThenExpire,
    "get-then-set": GetThenSet,
    "unchecked-extend": UncheckedExtend,
    "always-true": AlwaysTrue,
    "one-token": OneToken,
    "milliseconds-as-seconds": MillisecondsAsSeconds,
    "fail-open": FailOpen,
    "error-is-taken": ErrorIsTaken,
    "releases-elsewhere": ReleasesElsewhere,
    "other-database-release": OtherDatabaseRelease,
    "extend-recreates": ExtendRecreates,
    "minute-longer": MinuteLonger,
    "evalsha-only": EvalshaOnly,
    "sometimes-bare": SometimesBare,
    "renewal-outlives": RenewalOutlives,
    "renewal-recreates": RenewalRecreates,
    "half-lease": HalfLease,
    "refused-prolongs": RefusedProlongs,
    "retries": Retries,
    "spin": Spin,
    "wait-falls-through": WaitFallsThrough,
    "extend-unheard": ExtendUnheard,
    "impatient": Impatient,
    "short-token": ShortToken,
    "lingers": Lingers,
    "fence-per-client": FencePerClient,
}

if __name__ == "__main__":
    serve(dict(SOUND, **BROKEN)[sys.argv[1]])

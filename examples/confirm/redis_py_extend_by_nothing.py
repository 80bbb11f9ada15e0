"""redis-py: extend(0, replace_ttl=True) says True, and the holder's key is gone."""

import sys

import redis

client = redis.Redis(host="127.0.0.1", port=int(sys.argv[1]))
lock = client.lock("orders/42", timeout=10)
assert lock.acquire(blocking=False)
extended = lock.extend(0, replace_ttl=True)
other = client.lock("orders/42", timeout=10).acquire(blocking=False)
print("extend(0, replace_ttl=True) returned %s, and then another lock was granted: %s" % (extended, other))
sys.exit(0 if extended and other else 1)

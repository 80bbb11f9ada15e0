"""redis-py: which key a lock has whose timeout nobody gave, and for how long."""

import sys

import redis

client = redis.Redis(host="127.0.0.1", port=int(sys.argv[1]))
assert client.lock("orders/42").acquire(blocking=False)
for key in client.keys():
    left = client.pttl(key)
    print("the key %s %s" % (key.decode(), "has no end" if left < 0 else "lives for %d s" % round(left / 1000)))

"""redis.asyncio: which key a lock has whose timeout nobody gave, and for how long."""

import asyncio
import sys

import redis.asyncio


async def main():
    client = redis.asyncio.Redis(host="127.0.0.1", port=int(sys.argv[1]))
    assert await client.lock("orders/42").acquire(blocking=False)
    for key in await client.keys():
        left = await client.pttl(key)
        print("the key %s %s" % (key.decode(), "has no end" if left < 0 else "lives for %d s" % round(left / 1000)))


asyncio.run(main())

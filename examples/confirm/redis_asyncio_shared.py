"""redis.asyncio: tasks share a lock object. One is refused while another holds it, and can release the other's section."""

import asyncio
import sys

import redis.asyncio


async def main(port):
    client = redis.asyncio.Redis(host="127.0.0.1", port=port)
    lock = client.lock("orders/42", timeout=10)
    assert await asyncio.create_task(lock.acquire(blocking=False))
    refused = not await asyncio.create_task(lock.acquire(blocking=False))
    await asyncio.create_task(lock.release())  # of the task that was refused
    return refused and await client.lock("orders/42", timeout=10).acquire(blocking=False)


freed = asyncio.run(main(int(sys.argv[1])))
print("the task that was refused released the lock, and a third one was granted it: %s" % freed)
sys.exit(0 if freed else 1)

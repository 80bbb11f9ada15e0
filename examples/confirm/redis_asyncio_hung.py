"""redis.asyncio: a server that takes connections and answers nothing keeps acquire(blocking=False) for as long as one looks."""

import asyncio
import socket
import sys

import redis.asyncio


async def main(port):
    lock = redis.asyncio.Redis(host="127.0.0.1", port=port).lock("orders/42", timeout=1)
    call = asyncio.ensure_future(lock.acquire(blocking=False))
    done, _ = await asyncio.wait([call], timeout=10)  # ten times the lease
    call.cancel()
    return not done


hung = socket.create_server(("127.0.0.1", 0))
hangs = asyncio.run(main(hung.getsockname()[1]))
print("the server hangs: after 10 s the acquire of a lease of 1 s has not returned: %s" % hangs)
sys.exit(0 if hangs else 1)

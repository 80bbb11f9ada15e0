"""redis.asyncio of redis-py 6: a SET NX whose reply is lost is sent again, and meets its own key: refused, and the key is there."""

import asyncio
import socket
import sys
import threading

import redis
import redis.asyncio


def proxy(listener, port, direct):
    lost = False
    while True:
        client, server = listener.accept()[0], socket.create_connection(("127.0.0.1", port))
        for request in iter(lambda: client.recv(4096), b""):
            server.sendall(request)
            reply = server.recv(4096)
            if not lost and direct.exists("orders/42"):  # the lock was taken, and its client does not hear of it
                lost = True
                break
            client.sendall(reply)
        client.close()


port, listener = int(sys.argv[1]), socket.create_server(("127.0.0.1", 0))
direct = redis.Redis(host="127.0.0.1", port=port)
threading.Thread(target=proxy, args=(listener, port, direct), daemon=True).start()
lock = redis.asyncio.Redis(host="127.0.0.1", port=listener.getsockname()[1]).lock("orders/42", timeout=10)
got = asyncio.run(lock.acquire(blocking=False))
print("acquire(blocking=False) returned %s, and its key is there: %s" % (got, direct.exists("orders/42") == 1))
sys.exit(0 if not got and direct.exists("orders/42") else 1)

"""redis-py: a server that takes connections and answers nothing keeps acquire(blocking=False) for as long as one looks."""

import socket
import sys
import threading

import redis

hung = socket.create_server(("127.0.0.1", 0))
lock = redis.Redis(host="127.0.0.1", port=hung.getsockname()[1]).lock("orders/42", timeout=1)
call = threading.Thread(target=lambda: lock.acquire(blocking=False), daemon=True)
call.start()
call.join(10)  # ten times the lease
print("the server hangs: after 10 s the acquire of a lease of 1 s has not returned: %s" % call.is_alive())
sys.exit(0 if call.is_alive() else 1)

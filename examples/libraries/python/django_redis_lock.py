#!/usr/bin/python3
"""cache.lock of django-redis, with the defaults of the cache and of the lock.

    lockbench gate --worker 'python3 examples/libraries/python/django_redis_lock.py'
"""

import django
import django_redis
from django.conf import settings
from django.core.cache import caches

from loop import serve
from redis_py import RedisPy


class DjangoRedis(RedisPy):
    NAME = "django-redis lock " + ".".join(map(str, django_redis.VERSION))
    KEYS = [":1:%s"]

    def connect(self, host, port):
        settings.configure(CACHES={"default": {
            "BACKEND": "django_redis.cache.RedisCache", "LOCATION": "redis://%s:%d/0" % (host, port),
        }})
        django.setup()
        self.cache = caches["default"]
        return self.cache.client.get_client(write=True)

    def new(self, key, ttl_ms):
        return self.cache.lock(key, timeout=ttl_ms and ttl_ms / 1000)


if __name__ == "__main__":
    serve(DjangoRedis)

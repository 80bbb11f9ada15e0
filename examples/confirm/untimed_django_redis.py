"""django-redis: which key cache.lock has whose timeout nobody gave, and for how long."""

import sys

import django
import redis
from django.conf import settings

url = "redis://127.0.0.1:%s/0" % sys.argv[1]
settings.configure(CACHES={"default": {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": url}})
django.setup()
from django.core.cache import cache  # noqa: E402

assert cache.lock("orders/42").acquire(blocking=False)
client = redis.Redis.from_url(url)
for key in client.keys():
    left = client.pttl(key)
    print("the key %s %s" % (key.decode(), "has no end" if left < 0 else "lives for %d s" % round(left / 1000)))

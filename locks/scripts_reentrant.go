package locks

// The scripts of the re-entrant locks. In all of them:
//
//	KEYS[1] the lock, a hash   ARGV[1] the holder, its field
//	                           ARGV[2] the TTL in milliseconds

// hashAcquireScript is C's, with PEXPIRE for EXPIRE. It answers 1, or 0 if the lock is
// another's.
var hashAcquireScript = newScript("hash-acquire", `if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return 1
end
return 0
`)

// hashAcquireKeepScript is hashAcquireScript, but leaves a longer TTL alone.
var hashAcquireKeepScript = newScript("hash-acquire-keep", `if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
  if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
  end
  return 1
end
return 0
`)

// hashReleaseScript is C's. It answers nil if the lock is not the holder's, 1 if it is
// free now, and 0 if the holder still has it.
var hashReleaseScript = newScript("hash-release", `if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return nil
elseif redis.call('HINCRBY', KEYS[1], ARGV[1], -1) == 0 then
  redis.call('DEL', KEYS[1])
  return 1
else
  return 0
end
`)

// hashExtendScript is C's, with PEXPIRE for EXPIRE. It answers 1, or 0 if the lock is not
// the holder's.
var hashExtendScript = newScript("hash-extend", `if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
`)

// hashExpireScript is C's, with the TTL in seconds. It answers 1, or 0 if the lock is not the
// holder's.
var hashExpireScript = newScript("hash-expire", `if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  return redis.call('EXPIRE', KEYS[1], ARGV[2])
end
return 0
`)

// hashExtendKeepScript is hashExtendScript, but leaves a longer TTL alone.
var hashExtendKeepScript = newScript("hash-extend-keep", `if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 1
`)

// redissonAcquireScript is Redisson's, but leaves a longer TTL alone. It answers nil, or
// the remaining TTL in milliseconds if the lock is another's.
var redissonAcquireScript = newScript("redisson-acquire", `if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
  if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
  end
  return nil
end
return redis.call('PTTL', KEYS[1])
`)

// redissonReleaseScript is Redisson's, but leaves a longer TTL alone. It answers as
// hashReleaseScript, and tells the waiters when the lock becomes free.
//
//	KEYS[2] the channel of the waiters
var redissonReleaseScript = newScript("redisson-release", `if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return nil
end
if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) > 0 then
  if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
  end
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', KEYS[2], '0')
return 1
`)

// redissonLockScript is RedissonLock's of 3.12, which has HSET 1 for the first HINCRBY. It
// answers nil, or the remaining TTL in milliseconds if the lock is another's.
var redissonLockScript = newScript("redisson-lock", `if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return nil
end
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return nil
end
return redis.call('PTTL', KEYS[1])
`)

// redissonUnlockScript is RedissonLock's of 3.12. It answers as redissonReleaseScript.
var redissonUnlockScript = newScript("redisson-unlock", `if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return nil
end
local counter = redis.call('HINCRBY', KEYS[1], ARGV[1], -1)
if counter > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return 0
else
  redis.call('DEL', KEYS[1])
  redis.call('PUBLISH', KEYS[2], '0')
  return 1
end
return nil
`)

// hashAcquireOnceScript is hashAcquireKeepScript, but counts a request once, however often
// it is sent. The hash has a field for each request that counts.
//
//	ARGV[3] the request
var hashAcquireOnceScript = newScript("hash-acquire-once", `if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  if redis.call('HSETNX', KEYS[1], ARGV[3], ARGV[1]) == 1 then
    redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
  end
  if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
  end
  return 1
end
return 0
`)

// hashReleaseOnceScript is hashReleaseScript for a request that counts. It answers nil if
// the request does not.
//
//	ARGV[2] the request
var hashReleaseOnceScript = newScript("hash-release-once", `if redis.call('HDEL', KEYS[1], ARGV[2]) == 0 then
  return nil
elseif redis.call('HINCRBY', KEYS[1], ARGV[1], -1) == 0 then
  redis.call('DEL', KEYS[1])
  return 1
else
  return 0
end
`)

func reentrantScripts() []script {
	return []script{
		hashAcquireScript, hashAcquireKeepScript, hashReleaseScript, hashExtendScript, hashExpireScript, hashExtendKeepScript,
		hashAcquireOnceScript, hashReleaseOnceScript, redissonAcquireScript, redissonReleaseScript,
		redissonLockScript, redissonUnlockScript,
	}
}

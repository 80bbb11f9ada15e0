package locks

// The scripts of the re-entrant locks. In all of them:
//
//	KEYS[1] the lock, a hash   ARGV[1] the holder, its field
//	                           ARGV[2] the TTL in milliseconds

// hashAcquireScript is C's, with PEXPIRE for EXPIRE. It answers 1, or 0 if the lock is
// another's.
func hashAcquireScript() script {
	return script{
		name: "hash-acquire",
		lua: `if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return 1
end
return 0
`,
		sha1: "838eae8e539017c986ae22f53a19666a18d3b43d",
	}
}

// hashAcquireKeepScript is hashAcquireScript, but leaves a longer TTL alone.
func hashAcquireKeepScript() script {
	return script{
		name: "hash-acquire-keep",
		lua: `if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
  if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
  end
  return 1
end
return 0
`,
		sha1: "9a756295fad76921840f2e6440d475e8de0fe264",
	}
}

// hashReleaseScript is C's. It answers nil if the lock is not the holder's, 1 if it is
// free now, and 0 if the holder still has it.
func hashReleaseScript() script {
	return script{
		name: "hash-release",
		lua: `if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return nil
elseif redis.call('HINCRBY', KEYS[1], ARGV[1], -1) == 0 then
  redis.call('DEL', KEYS[1])
  return 1
else
  return 0
end
`,
		sha1: "98daccce48a2b5b63ecd1206e2e301c3c6bab071",
	}
}

// hashExtendScript is C's, with PEXPIRE for EXPIRE. It answers 1, or 0 if the lock is not
// the holder's.
func hashExtendScript() script {
	return script{
		name: "hash-extend",
		lua: `if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
`,
		sha1: "50e87080cd54c98e7a0be835e9d4a9e93421b297",
	}
}

// hashExtendKeepScript is hashExtendScript, but leaves a longer TTL alone.
func hashExtendKeepScript() script {
	return script{
		name: "hash-extend-keep",
		lua: `if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 1
`,
		sha1: "3fc3c99e5b23159a57d671f2c10abcd90fa39f1c",
	}
}

// redissonAcquireScript is Redisson's, but leaves a longer TTL alone. It answers nil, or
// the remaining TTL in milliseconds if the lock is another's.
func redissonAcquireScript() script {
	return script{
		name: "redisson-acquire",
		lua: `if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
  if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
  end
  return nil
end
return redis.call('PTTL', KEYS[1])
`,
		sha1: "ca2b12066636a14732e3e7e54b4335f88917e7d1",
	}
}

// redissonReleaseScript is Redisson's, without its PEXPIRE for the leases that remain.
// It answers as hashReleaseScript, and tells the waiters when the lock becomes free.
//
//	KEYS[2] the channel of the waiters
func redissonReleaseScript() script {
	return script{
		name: "redisson-release",
		lua: `if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return nil
end
if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) > 0 then
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', KEYS[2], '0')
return 1
`,
		sha1: "1c171c0b10bfa4a2d5d2c60e6ee62cfefed0f3c4",
	}
}

// hashAcquireOnceScript is hashAcquireKeepScript, but counts a request once, however often
// it is sent. The hash has a field for each request that counts.
//
//	ARGV[3] the request
func hashAcquireOnceScript() script {
	return script{
		name: "hash-acquire-once",
		lua: `if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  if redis.call('HSETNX', KEYS[1], ARGV[3], ARGV[1]) == 1 then
    redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
  end
  if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
  end
  return 1
end
return 0
`,
		sha1: "27e688d5d89087b09522a1f5badd4e704e957ea0",
	}
}

// hashReleaseOnceScript is hashReleaseScript for a request that counts. It answers nil if
// the request does not.
//
//	ARGV[2] the request
func hashReleaseOnceScript() script {
	return script{
		name: "hash-release-once",
		lua: `if redis.call('HDEL', KEYS[1], ARGV[2]) == 0 then
  return nil
elseif redis.call('HINCRBY', KEYS[1], ARGV[1], -1) == 0 then
  redis.call('DEL', KEYS[1])
  return 1
else
  return 0
end
`,
		sha1: "c4f12b3f4a20a271a04c88b26981dd6cf8f9574d",
	}
}

func reentrantScripts() []script {
	return []script{
		hashAcquireScript(), hashAcquireKeepScript(), hashReleaseScript(), hashExtendScript(), hashExtendKeepScript(),
		hashAcquireOnceScript(), hashReleaseOnceScript(), redissonAcquireScript(), redissonReleaseScript(),
	}
}

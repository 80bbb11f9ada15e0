package locks

// rwScripts lists the scripts of the readers-writer locks.
func rwScripts() []script {
	return []script{
		rwTwoKeyReadScript(),
		rwTwoKeyWriteScript(),
		rwHashTimestampReadScript(),
		rwHashTimestampWriteScript(),
		rwHashTimestampReadReleaseScript(),
		rwHashTimestampWriteReleaseScript(),
		rwHashReadScript(),
		rwHashWriteScript(),
		rwHashClientIDWriteScript(),
		rwHashExtendScript(),
		rwHashReleaseScript(),
		rwHashVerifyScript(),
	}
}

// rwTwoKeyReadScript is E 1.1. It answers 1, or 0 if a writer holds the lock.
//
//	KEYS[1] the readers' key   ARGV[1] the TTL
//	KEYS[2] the writer's key   ARGV[2] its unit, EX or PX
func rwTwoKeyReadScript() script {
	return script{
		name: "rw-two-key-read",
		lua: `local wExist = redis.call('EXISTS', KEYS[2])
if wExist == 1 then
  return 0
else
  redis.call('SET', KEYS[1], '1', ARGV[2], ARGV[1])
end
return 1
`,
		sha1: "2145b12024ff9b1b4ddf8478474c00a69341d687",
	}
}

// rwTwoKeyWriteScript is E 1.2. It answers 1, or 0 if anybody holds the lock. Keys and
// arguments are those of rwTwoKeyReadScript.
func rwTwoKeyWriteScript() script {
	return script{
		name: "rw-two-key-write",
		lua: `local rExist = redis.call('EXISTS', KEYS[1])
if rExist == 1 then
  return 0
else
  local result = redis.call('SET', KEYS[2], '1', ARGV[2], ARGV[1], 'NX')
  if result then
    return 1
  else
    return 0
  end
end
`,
		sha1: "81354c38ba9a86e2ea7208b7cf27376dd92ab234",
	}
}

// rwHashTimestampReadScript is E 2.1. It answers 1, or 0 if a writer holds the lock.
//
//	KEYS[1] the lock   ARGV[1] the key's TTL   ARGV[2] the time-out of a read
//	                   ARGV[3] the time-out of a write   ARGV[4] the client's time
//
// All are milliseconds.
func rwHashTimestampReadScript() script {
	return script{
		name: "rw-hash-timestamp-read",
		lua: `local lockKey, timeout, readExpTime, writeExpTime, currentTimeWs = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local writeValue = redis.call('HGET', lockKey, 'write')
local canGet = false
if writeValue then
  canGet = ((currentTimeWs - tonumber(writeValue)) > writeExpTime)
else
  canGet = true
end
if canGet then
  redis.call('HSET', lockKey, 'read', currentTimeWs)
  redis.call('PEXPIRE', lockKey, timeout)
  return 1
else
  return 0
end
`,
		sha1: "48be8b6662676789b8ab975bd38c2034152e4495",
	}
}

// rwHashTimestampWriteScript is E 2.3. It answers 1, or 0 if anybody holds the lock. Keys
// and arguments are those of rwHashTimestampReadScript.
func rwHashTimestampWriteScript() script {
	return script{
		name: "rw-hash-timestamp-write",
		lua: `local lockKey, timeout, readExpTime, writeExpTime, currentTimeWs = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local writeValue = redis.call('HGET', lockKey, 'write')
local writeValid = false
if writeValue then
  writeValid = ((currentTimeWs - tonumber(writeValue)) > writeExpTime)
else
  writeValid = true
end
local readValue = redis.call('HGET', lockKey, 'read')
local readValid = false
if readValue then
  readValid = ((currentTimeWs - tonumber(readValue)) > readExpTime)
else
  readValid = true
end
if writeValid and readValid then
  redis.call('HSET', lockKey, 'write', currentTimeWs)
  redis.call('PEXPIRE', lockKey, timeout)
  return 1
else
  return 0
end
`,
		sha1: "385ba40561791f8119e9e286adc2569846dc6dd0",
	}
}

// rwHashTimestampReadReleaseScript is E 2.2. It answers nothing, whatever it did.
//
//	KEYS[1] the lock   ARGV[1] the time that the acquire wrote
func rwHashTimestampReadReleaseScript() script {
	return script{
		name: "rw-hash-timestamp-read-release",
		lua: `local lockKey, readTime = KEYS[1], ARGV[1]
local readValue = redis.call('HGET', lockKey, 'read')
if readTime == readValue then
  redis.call('HDEL', lockKey, 'read')
end
`,
		sha1: "4341f8c1601baa03892d275e76fa9b85b8943d13",
	}
}

// rwHashTimestampWriteReleaseScript is E 2.4. It answers nothing, whatever it did.
//
//	KEYS[1] the lock   ARGV[1] the time that the acquire wrote
func rwHashTimestampWriteReleaseScript() script {
	return script{
		name: "rw-hash-timestamp-write-release",
		lua: `local lockKey, writeTime = KEYS[1], ARGV[1]
local writeValue = redis.call('HGET', lockKey, 'write')
if writeTime == writeValue then
  redis.call('HDEL', lockKey, 'write')
end
`,
		sha1: "c7d1fb1e2235eb3523feae878117e0028fc3ab4f",
	}
}

// rwHashLua begins every script of rw-hash: what has ended is not seen by the rest.
// TIME in a script that writes needs Redis 5, which replicates the writes and not the
// script. Microseconds since 1970 are exact in a score.
const rwHashLua = `local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local function set(member, milliseconds)
  redis.call('ZADD', KEYS[1], now + milliseconds * 1000, member)
end
local function expire_with_the_last()
  local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
  if last[2] then
    redis.call('PEXPIREAT', KEYS[1], math.ceil(last[2] / 1000))
  end
end
`

// rwHashReadScript answers 1, or 0 if a writer holds the lock or is waited for. A writer
// is alone in the set.
//
//	KEYS[1] the lock   ARGV[1] the holder   ARGV[2] the TTL in milliseconds
func rwHashReadScript() script {
	return script{
		name: "rw-hash-read",
		lua: rwHashLua + `local first = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
if first and string.sub(first, 1, 6) == 'write:' then
  return 0
end
if redis.call('ZSCORE', KEYS[1], 'intent') then
  return 0
end
set(ARGV[1], ARGV[2])
expire_with_the_last()
return 1
`,
		sha1: "be357392d7703477206933289f689828ea67df47",
	}
}

// rwHashWriteScript answers 1, or 0 if anybody holds the lock. If these are readers, it
// leaves an intent, or prolongs the one there is.
//
//	KEYS[1] the lock   ARGV[1] the holder   ARGV[2] the TTL in milliseconds
//	                   ARGV[3] that of the intent
func rwHashWriteScript() script {
	return script{
		name: "rw-hash-write",
		lua:  rwHashLua + rwHashWriteLua,
		sha1: "d76311fb2ac44ea874d55a5ebd2c487567dde35f",
	}
}

const rwHashWriteLua = `local intent = redis.call('ZSCORE', KEYS[1], 'intent')
local first = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
if first and string.sub(first, 1, 6) == 'write:' then
  return 0
end
if redis.call('ZCARD', KEYS[1]) > (intent and 1 or 0) then
  if not intent or tonumber(intent) < now + ARGV[3] * 1000 then
    set('intent', ARGV[3])
    expire_with_the_last()
  end
  return 0
end
redis.call('DEL', KEYS[1])
set(ARGV[1], ARGV[2])
expire_with_the_last()
return 1
`

// rwHashExtendScript answers 1, or 0 if the holder has gone.
//
//	KEYS[1] the lock   ARGV[1] the holder   ARGV[2] the TTL in milliseconds
func rwHashExtendScript() script {
	return script{
		name: "rw-hash-extend",
		lua: rwHashLua + `if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  return 0
end
set(ARGV[1], ARGV[2])
expire_with_the_last()
return 1
`,
		sha1: "0077e83530421e278de137b0741c35ab47192485",
	}
}

// rwHashReleaseScript answers the number of holders that it removed.
//
//	KEYS[1] the lock   ARGV[1] the holder
func rwHashReleaseScript() script {
	return script{
		name: "rw-hash-release",
		lua: rwHashLua + `local removed = redis.call('ZREM', KEYS[1], ARGV[1])
expire_with_the_last()
return removed
`,
		sha1: "0e913c78e73633490003ca0cf1c8e7bfbf7cece6",
	}
}

// rwHashVerifyScript answers 1, or 0 if the holder has gone.
//
//	KEYS[1] the lock   ARGV[1] the holder
func rwHashVerifyScript() script {
	return script{
		name: "rw-hash-verify",
		lua: rwHashLua + `return redis.call('ZSCORE', KEYS[1], ARGV[1]) and 1 or 0
`,
		sha1: "be9c2b4ad5e2898e2ec3c2ba39fb5e137532922f",
	}
}

package locks

// rwScripts lists the scripts of the readers-writer locks.
func rwScripts() []script {
	return []script{
		rwTwoKeyReadScript,
		rwTwoKeyWriteScript,
		rwHashTimestampReadScript,
		rwHashTimestampWriteScript,
		rwHashTimestampReadReleaseScript,
		rwHashTimestampWriteReleaseScript,
		rwHashReadScript,
		rwHashWriteScript,
		rwHashClientIDWriteScript,
		rwHashExtendScript,
		rwHashReleaseScript,
		rwHashVerifyScript,
	}
}

// rwTwoKeyReadScript is E 1.1. It answers 1, or 0 if a writer holds the lock.
//
//	KEYS[1] the readers' key   ARGV[1] the TTL
//	KEYS[2] the writer's key   ARGV[2] its unit, EX or PX
var rwTwoKeyReadScript = newScript("rw-two-key-read", `local wExist = redis.call('EXISTS', KEYS[2])
if wExist == 1 then
  return 0
else
  redis.call('SET', KEYS[1], '1', ARGV[2], ARGV[1])
end
return 1
`)

// rwTwoKeyWriteScript is E 1.2. It answers 1, or 0 if anybody holds the lock. Keys and
// arguments are those of rwTwoKeyReadScript.
var rwTwoKeyWriteScript = newScript("rw-two-key-write", `local rExist = redis.call('EXISTS', KEYS[1])
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
`)

// rwHashTimestampReadScript is E 2.1. It answers 1, or 0 if a writer holds the lock.
//
//	KEYS[1] the lock   ARGV[1] the key's TTL   ARGV[2] the time-out of a read
//	                   ARGV[3] the time-out of a write   ARGV[4] the client's time
//
// All are milliseconds.
var rwHashTimestampReadScript = newScript("rw-hash-timestamp-read", `local lockKey, timeout, readExpTime, writeExpTime, currentTimeWs = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
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
`)

// rwHashTimestampWriteScript is E 2.3. It answers 1, or 0 if anybody holds the lock. Keys
// and arguments are those of rwHashTimestampReadScript.
var rwHashTimestampWriteScript = newScript("rw-hash-timestamp-write", `local lockKey, timeout, readExpTime, writeExpTime, currentTimeWs = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
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
`)

// rwHashTimestampReadReleaseScript is E 2.2. It answers nothing, whatever it did.
//
//	KEYS[1] the lock   ARGV[1] the time that the acquire wrote
var rwHashTimestampReadReleaseScript = newScript("rw-hash-timestamp-read-release", `local lockKey, readTime = KEYS[1], ARGV[1]
local readValue = redis.call('HGET', lockKey, 'read')
if readTime == readValue then
  redis.call('HDEL', lockKey, 'read')
end
`)

// rwHashTimestampWriteReleaseScript is E 2.4. It answers nothing, whatever it did.
//
//	KEYS[1] the lock   ARGV[1] the time that the acquire wrote
var rwHashTimestampWriteReleaseScript = newScript("rw-hash-timestamp-write-release", `local lockKey, writeTime = KEYS[1], ARGV[1]
local writeValue = redis.call('HGET', lockKey, 'write')
if writeTime == writeValue then
  redis.call('HDEL', lockKey, 'write')
end
`)

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
var rwHashReadScript = newScript("rw-hash-read", rwHashLua+`local first = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
if first and string.sub(first, 1, 6) == 'write:' then
  return 0
end
if redis.call('ZSCORE', KEYS[1], 'intent') then
  return 0
end
set(ARGV[1], ARGV[2])
expire_with_the_last()
return 1
`)

// rwHashWriteScript answers 1, or 0 if anybody holds the lock. If these are readers, it
// leaves an intent, or prolongs the one there is.
//
//	KEYS[1] the lock   ARGV[1] the holder   ARGV[2] the TTL in milliseconds
//	                   ARGV[3] that of the intent
var rwHashWriteScript = newScript("rw-hash-write", rwHashLua+rwHashWriteLua)

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
var rwHashExtendScript = newScript("rw-hash-extend", rwHashLua+`if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  return 0
end
set(ARGV[1], ARGV[2])
expire_with_the_last()
return 1
`)

// rwHashReleaseScript answers the number of holders that it removed.
//
//	KEYS[1] the lock   ARGV[1] the holder
var rwHashReleaseScript = newScript("rw-hash-release", rwHashLua+`local removed = redis.call('ZREM', KEYS[1], ARGV[1])
expire_with_the_last()
return removed
`)

// rwHashVerifyScript answers 1, or 0 if the holder has gone.
//
//	KEYS[1] the lock   ARGV[1] the holder
var rwHashVerifyScript = newScript("rw-hash-verify", rwHashLua+`return redis.call('ZSCORE', KEYS[1], ARGV[1]) and 1 or 0
`)

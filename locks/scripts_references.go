package locks

// referenceScripts lists the scripts of the locks that were written to measure others by.
func referenceScripts() []script {
	return []script{
		fenceDrawScript,
		stringAcquireScript, stringReleaseScript, stringExtendScript,
		rwFieldsReadScript, rwFieldsWriteScript, rwFieldsExtendScript, rwFieldsReleaseScript, rwFieldsVerifyScript,
	}
}

// fenceDrawScript answers the fencing token, or 0 if the lock is not the holder's.
//
//	KEYS[1] the lock     ARGV[1] the holder's token
//	KEYS[2] the counter
var fenceDrawScript = newScript("fence-draw", `if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('INCR', KEYS[2])
`)

// stringLua begins every script of reentrant-string: how often the holder holds the lock, 0 if
// it is free, and nil if it is another's.
//
//	KEYS[1] the lock   ARGV[1] the holder   ARGV[2] the TTL in milliseconds
const stringLua = `local value = redis.call('GET', KEYS[1])
local count = 0
if value then
  local number, holder = string.match(value, '^(%d+) (.*)$')
  count = holder == ARGV[1] and tonumber(number) or nil
end
`

// stringAcquireScript answers how often the holder holds the lock now, or 0 if it is another's.
var stringAcquireScript = newScript("string-acquire", stringLua+`if not count then
  return 0
end
local left = math.max(redis.call('PTTL', KEYS[1]), tonumber(ARGV[2]))
redis.call('SET', KEYS[1], (count + 1) .. ' ' .. ARGV[1], 'PX', left)
return count + 1
`)

// stringReleaseScript answers nil if the lock is not the holder's, else how often the holder
// still holds it.
var stringReleaseScript = newScript("string-release", stringLua+`if not count or count == 0 then
  return nil
elseif count == 1 then
  redis.call('DEL', KEYS[1])
  return 0
end
redis.call('SET', KEYS[1], (count - 1) .. ' ' .. ARGV[1], 'KEEPTTL')
return count - 1
`)

// stringExtendScript answers 1, or 0 if the lock is not the holder's.
var stringExtendScript = newScript("string-extend", stringLua+`if not count or count == 0 then
  return 0
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 1
`)

// rwFieldsLua begins every script of rw-fields: what has ended is not seen by the rest. latest
// is the last deadline of others than the holder. TIME in a script that writes needs Redis 5.
//
//	KEYS[1] the lock   ARGV[1] the holder   ARGV[2] the TTL in microseconds
const rwFieldsLua = `local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local writer, intent, readers, latest = false, false, 0, 0
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  local field, ends = fields[i], tonumber(fields[i + 1])
  if ends <= now then
    redis.call('HDEL', KEYS[1], field)
  else
    if field == 'intent' then
      intent = ends
    elseif string.sub(field, 1, 2) == 'w:' then
      writer = true
    else
      readers = readers + 1
    end
    if field ~= ARGV[1] then
      latest = math.max(latest, ends)
    end
  end
end
local function set(field, microseconds)
  local ends = now + microseconds
  redis.call('HSET', KEYS[1], field, string.format('%.0f', ends))
  latest = math.max(latest, ends)
  redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', math.ceil(latest / 1000)))
end
`

// rwFieldsReadScript answers 1, or 0 if a writer holds the lock or is waited for.
var rwFieldsReadScript = newScript("rw-fields-read", rwFieldsLua+`if writer or intent then
  return 0
end
set(ARGV[1], ARGV[2])
return 1
`)

// rwFieldsWriteScript answers 1, or 0 if anybody holds the lock. If these are readers, it leaves
// an intent, or prolongs the one there is.
//
//	ARGV[3] the TTL of the intent in microseconds
var rwFieldsWriteScript = newScript("rw-fields-write", rwFieldsLua+`if writer then
  return 0
end
if readers > 0 then
  if not intent or intent < now + ARGV[3] then
    set('intent', ARGV[3])
  end
  return 0
end
redis.call('DEL', KEYS[1])
latest = 0
set(ARGV[1], ARGV[2])
return 1
`)

// rwFieldsExtendScript answers 1, or 0 if the holder has gone.
var rwFieldsExtendScript = newScript("rw-fields-extend", rwFieldsLua+`if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
set(ARGV[1], ARGV[2])
return 1
`)

// rwFieldsReleaseScript answers the number of holders that it removed.
var rwFieldsReleaseScript = newScript("rw-fields-release", rwFieldsLua+`local removed = redis.call('HDEL', KEYS[1], ARGV[1])
if removed == 1 and latest > 0 then
  redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', math.ceil(latest / 1000)))
end
return removed
`)

// rwFieldsVerifyScript answers 1, or 0 if the holder has gone.
var rwFieldsVerifyScript = newScript("rw-fields-verify", rwFieldsLua+`return redis.call('HEXISTS', KEYS[1], ARGV[1])
`)

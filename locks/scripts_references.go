package locks

// referenceScripts lists the scripts of the locks that were written to measure others by.
func referenceScripts() []script {
	return []script{
		fenceDrawScript(),
		stringAcquireScript(), stringReleaseScript(), stringExtendScript(),
		rwFieldsReadScript(), rwFieldsWriteScript(), rwFieldsExtendScript(), rwFieldsReleaseScript(), rwFieldsVerifyScript(),
	}
}

// fenceDrawScript answers the fencing token, or 0 if the lock is not the holder's.
//
//	KEYS[1] the lock     ARGV[1] the holder's token
//	KEYS[2] the counter
func fenceDrawScript() script {
	return script{
		name: "fence-draw",
		lua: `if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('INCR', KEYS[2])
`,
		sha1: "5d4d2b8c77d07c1f152296222762efc87e845291",
	}
}

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
func stringAcquireScript() script {
	return script{
		name: "string-acquire",
		lua: stringLua + `if not count then
  return 0
end
local left = math.max(redis.call('PTTL', KEYS[1]), tonumber(ARGV[2]))
redis.call('SET', KEYS[1], (count + 1) .. ' ' .. ARGV[1], 'PX', left)
return count + 1
`,
		sha1: "26d0b05c569ef489f225e9daf20f4fe7631beaa8",
	}
}

// stringReleaseScript answers nil if the lock is not the holder's, else how often the holder
// still holds it.
func stringReleaseScript() script {
	return script{
		name: "string-release",
		lua: stringLua + `if not count or count == 0 then
  return nil
elseif count == 1 then
  redis.call('DEL', KEYS[1])
  return 0
end
redis.call('SET', KEYS[1], (count - 1) .. ' ' .. ARGV[1], 'KEEPTTL')
return count - 1
`,
		sha1: "225481f4f45a06e9eac1debcf72fc4cc99b57b12",
	}
}

// stringExtendScript answers 1, or 0 if the lock is not the holder's.
func stringExtendScript() script {
	return script{
		name: "string-extend",
		lua: stringLua + `if not count or count == 0 then
  return 0
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 1
`,
		sha1: "69e72c6c423073849ea0550a27f86af52f6d4f1a",
	}
}

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
func rwFieldsReadScript() script {
	return script{
		name: "rw-fields-read",
		lua: rwFieldsLua + `if writer or intent then
  return 0
end
set(ARGV[1], ARGV[2])
return 1
`,
		sha1: "1a736e689045c9cd2ca92fea62723e0259808222",
	}
}

// rwFieldsWriteScript answers 1, or 0 if anybody holds the lock. If these are readers, it leaves
// an intent, or prolongs the one there is.
//
//	ARGV[3] the TTL of the intent in microseconds
func rwFieldsWriteScript() script {
	return script{
		name: "rw-fields-write",
		lua: rwFieldsLua + `if writer then
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
`,
		sha1: "84325ca02146b15050a4a5ef32d9e483e1f2b05c",
	}
}

// rwFieldsExtendScript answers 1, or 0 if the holder has gone.
func rwFieldsExtendScript() script {
	return script{
		name: "rw-fields-extend",
		lua: rwFieldsLua + `if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
set(ARGV[1], ARGV[2])
return 1
`,
		sha1: "9520ddc419bc07917659f92b9f7436e56fb88579",
	}
}

// rwFieldsReleaseScript answers the number of holders that it removed.
func rwFieldsReleaseScript() script {
	return script{
		name: "rw-fields-release",
		lua: rwFieldsLua + `local removed = redis.call('HDEL', KEYS[1], ARGV[1])
if removed == 1 and latest > 0 then
  redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', math.ceil(latest / 1000)))
end
return removed
`,
		sha1: "d5816855e7dde671dd178057e13225c163c83d34",
	}
}

// rwFieldsVerifyScript answers 1, or 0 if the holder has gone.
func rwFieldsVerifyScript() script {
	return script{
		name: "rw-fields-verify",
		lua: rwFieldsLua + `return redis.call('HEXISTS', KEYS[1], ARGV[1])
`,
		sha1: "cb6ed74814cb53e8bf351b1de6e0fc57f9d4377e",
	}
}

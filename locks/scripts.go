package locks

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"
)

// script is one Lua script and its name.
type script struct {
	name, lua string
	code      *redis.Script
}

func newScript(name, lua string) script {
	return script{name: name, lua: lua, code: redis.NewScript(lua)}
}

// run sends EVALSHA, and EVAL if the server does not have the script (after a
// restart or SCRIPT FLUSH). The script must answer an integer.
func (s script) run(ctx context.Context, node redis.Scripter, keys []string, args ...any) (int64, error) {
	return s.code.Run(ctx, node, keys, args...).Int64()
}

// scripts lists every script of this package.
func scripts() []script {
	return slices.Concat([]script{compareAndDeleteScript, compareAndPExpireScript, setOrPExpireScript, setNXExpireScript, existsExpireScript, fencedAcquireScript}, rwScripts(), reentrantScripts(), referenceScripts())
}

// compareAndDeleteScript is the release of A 2.3, A 4.1, D and the Redis documentation.
// It answers the number of keys that it removed.
//
//	KEYS[1] the lock   ARGV[1] the holder's token
var compareAndDeleteScript = newScript("compare-and-delete", `if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
`)

// compareAndPExpireScript gives a key that its holder still has a new TTL. It answers 1,
// or 0 if the key is gone or another's, which is then left alone.
//
//	KEYS[1] the lock   ARGV[1] the holder's token
//	                   ARGV[2] the TTL in milliseconds
var compareAndPExpireScript = newScript("compare-and-pexpire", `if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
`)

// setOrPExpireScript is compareAndPExpireScript, but sets a key that is gone.
var setOrPExpireScript = newScript("set-or-pexpire", `local value = redis.call('GET', KEYS[1])
if value == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
elseif value == false then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 1
end
return 0
`)

// setNXExpireScript is the acquire of B 转, as printed there. It answers 1, or nil if the
// key exists. An EXPIRE that fails does not undo SETNX: the argument must be checked
// before.
//
//	KEYS[1] the lock   ARGV[1] its value
//	                   ARGV[2] the TTL in seconds
var setNXExpireScript = newScript("setnx-expire", `if (redis.call('setnx', KEYS[1], ARGV[1]) == 1) then
  redis.call('expire', KEYS[1], tonumber(ARGV[2]))
  return true
else
  return false
end
`)

// existsExpireScript is C's timer for a string: it gives a key a new TTL, whoever's it is. It
// answers 1, or 0 if there is none.
//
//	KEYS[1] the lock   ARGV[1] the TTL in seconds
var existsExpireScript = newScript("exists-expire", `if redis.call('EXISTS', KEYS[1]) == 1 then
  return redis.call('EXPIRE', KEYS[1], ARGV[1])
end
return 0
`)

// fencedAcquireScript answers the fencing token, or 0 if the lock is taken. Whatever
// can fail comes before SET: a script that fails half-way is not undone.
//
//	KEYS[1] the lock     ARGV[1] the holder's token
//	KEYS[2] the counter  ARGV[2] the TTL in milliseconds
var fencedAcquireScript = newScript("fenced-acquire", `if redis.call('GET', KEYS[1]) then
  return 0
end
local fence = redis.call('INCR', KEYS[2])
if fence < 1 then
  return redis.error_reply('ERR fence counter must not be negative')
end
redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
return fence
`)

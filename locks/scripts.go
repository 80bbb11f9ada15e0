package locks

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"
)

// script is one Lua script with the digest that EVALSHA knows it by.
type script struct {
	name string
	lua  string
	sha1 string // hexadecimal
}

// run sends EVALSHA, and EVAL if the server does not have the script (after a
// restart or SCRIPT FLUSH). The script must answer an integer.
func (s script) run(ctx context.Context, node redis.Scripter, keys []string, args ...any) (int64, error) {
	reply := node.EvalSha(ctx, s.sha1, keys, args...)
	if redis.HasErrorPrefix(reply.Err(), "NOSCRIPT") {
		reply = node.Eval(ctx, s.lua, keys, args...)
	}
	return reply.Int64()
}

// scripts lists every script of this package.
func scripts() []script {
	return slices.Concat([]script{compareAndDeleteScript(), compareAndPExpireScript(), setOrPExpireScript(), setNXExpireScript(), fencedAcquireScript()}, rwScripts(), reentrantScripts(), referenceScripts())
}

// compareAndDeleteScript is the release of A 2.3, A 4.1, D and the Redis documentation.
// It answers the number of keys that it removed.
//
//	KEYS[1] the lock   ARGV[1] the holder's token
func compareAndDeleteScript() script {
	return script{
		name: "compare-and-delete",
		lua: `if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
`,
		sha1: "c89cee65b7ab260d98c281f3c3eb6fa7c992cdd2",
	}
}

// compareAndPExpireScript gives a key that its holder still has a new TTL. It answers 1,
// or 0 if the key is gone or another's, which is then left alone.
//
//	KEYS[1] the lock   ARGV[1] the holder's token
//	                   ARGV[2] the TTL in milliseconds
func compareAndPExpireScript() script {
	return script{
		name: "compare-and-pexpire",
		lua: `if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
`,
		sha1: "3a32323a05c08607e6bc7842cfeea9552d0b61f5",
	}
}

// setOrPExpireScript is compareAndPExpireScript, but sets a key that is gone.
func setOrPExpireScript() script {
	return script{
		name: "set-or-pexpire",
		lua: `local value = redis.call('GET', KEYS[1])
if value == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
elseif value == false then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 1
end
return 0
`,
		sha1: "4538214569b46eeba80b9864b3fa2ff2f979507e",
	}
}

// setNXExpireScript is the acquire of B 转, as printed there. It answers 1, or nil if the
// key exists. An EXPIRE that fails does not undo SETNX: the argument must be checked
// before.
//
//	KEYS[1] the lock   ARGV[1] its value
//	                   ARGV[2] the TTL in seconds
func setNXExpireScript() script {
	return script{
		name: "setnx-expire",
		lua: `if (redis.call('setnx', KEYS[1], ARGV[1]) == 1) then
  redis.call('expire', KEYS[1], tonumber(ARGV[2]))
  return true
else
  return false
end
`,
		sha1: "171bf864aa13a6c8b36b228930dddf2efd0c5a24",
	}
}

// fencedAcquireScript answers the fencing token, or 0 if the lock is taken. Whatever
// can fail comes before SET: a script that fails half-way is not undone.
//
//	KEYS[1] the lock     ARGV[1] the holder's token
//	KEYS[2] the counter  ARGV[2] the TTL in milliseconds
func fencedAcquireScript() script {
	return script{
		name: "fenced-acquire",
		lua: `if redis.call('GET', KEYS[1]) then
  return 0
end
local fence = redis.call('INCR', KEYS[2])
if fence < 1 then
  return redis.error_reply('ERR fence counter must not be negative')
end
redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
return fence
`,
		sha1: "4cee4eff9c5b626203f6c44eda7e34be99d53c57",
	}
}

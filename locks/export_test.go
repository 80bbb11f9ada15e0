package locks

import "bufio"

// The Lua texts, for tests that send them as they are.
var (
	CompareAndDeleteLua  = compareAndDeleteScript.lua
	CompareAndPExpireLua = compareAndPExpireScript.lua
	SetNXExpireLua       = setNXExpireScript.lua
	FencedAcquireLua     = fencedAcquireScript.lua
)

// RedissonChannel is where redisson-style tells of a release of key.
func RedissonChannel(key string) string { return redissonChannel(key) }

// Locks with options that the catalogue leaves as they are.
type (
	Polling         = polling
	RWTimeouts      = rwTimeouts
	WatchdogOptions = watchdogOptions
)

// NewLuaUUIDRepairedPolling returns lua-uuid-repaired, which tries again while the lock is taken.
func NewLuaUUIDRepairedPolling(env Env, p Polling) Locker { return newLuaUUIDRepairedPolling(env, p) }

// NewLuaUUIDOneTryPolling returns lua-uuid-one-try with a maximum of tries.
func NewLuaUUIDOneTryPolling(env Env, p Polling) Locker { return newLuaUUIDOneTryPolling(env, p) }

// NewRWHashTimestampWith returns rw-hash-timestamp with time-outs of its own.
func NewRWHashTimestampWith(env Env, t RWTimeouts) Locker { return newRWHashTimestampWith(env, t) }

// NewWatchdogWith returns watchdog with a bound on how long a lease is held.
func NewWatchdogWith(env Env, opt WatchdogOptions) Locker { return newWatchdogWith(env, opt) }

// ReadKey is where rw-two-key keeps the readers of key.
func ReadKey(key string) string { return readKey(key) }

// ReadMessage reads what a connection with subscriptions receives.
func ReadMessage(r *bufio.Reader) ([]string, error) { return readMessage(r) }

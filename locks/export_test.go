package locks

import "bufio"

// The Lua texts, for tests that send them as they are.
var (
	CompareAndDeleteLua  = compareAndDeleteScript().lua
	CompareAndPExpireLua = compareAndPExpireScript().lua
	SetNXExpireLua       = setNXExpireScript().lua
	FencedAcquireLua     = fencedAcquireScript().lua
)

// RedissonChannel is where redisson-style tells of a release of key.
func RedissonChannel(key string) string { return redissonChannel(key) }

// ReadMessage reads what a connection with subscriptions receives.
func ReadMessage(r *bufio.Reader) ([]string, error) { return readMessage(r) }

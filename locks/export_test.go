package locks

import "bufio"

// The Lua texts, for tests that send them as they are.
var (
	CompareAndDeleteLua  = compareAndDeleteScript().lua
	CompareAndPExpireLua = compareAndPExpireScript().lua
	SetNXExpireLua       = setNXExpireScript().lua
	FencedAcquireLua     = fencedAcquireScript().lua
)

// ScriptName is the name of the script with that digest, or "".
func ScriptName(sha1 string) string {
	for _, s := range scripts() {
		if s.sha1 == sha1 {
			return s.name
		}
	}
	return ""
}

// RedissonChannel is where redisson-style tells of a release of key.
func RedissonChannel(key string) string { return redissonChannel(key) }

// ReadMessage reads what a connection with subscriptions receives.
func ReadMessage(r *bufio.Reader) ([]string, error) { return readMessage(r) }

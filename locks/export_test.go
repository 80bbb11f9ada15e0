package locks

// The Lua texts, for tests that send them as they are.
var (
	CompareAndDeleteLua = compareAndDeleteScript().lua
	FencedAcquireLua    = fencedAcquireScript().lua
)

package locks

import (
	"context"
	"reflect"

	"github.com/redis/go-redis/v9"
)

// connection is one connection of a client.
type connection struct{ *redis.Conn }

// Do sends a command. Older versions of go-redis do so on clients alone.
func (c connection) Do(ctx context.Context, args ...any) *redis.Cmd {
	cmd := redis.NewCmd(ctx, args...)
	_ = c.Process(ctx, cmd) // cmd has the error
	return cmd
}

// setNewer sets those options of a client of go-redis that not every version 9 has, so that a module that pins an older one
// compiles. opt is a pointer to redis.Options or redis.FailoverOptions.
func setNewer(opt any) {
	// Pipelines and transactions share the pool: a second one would be small.
	setIfKnown(opt, "PipelinePoolSize", -1)
	// Nothing but HELLO is sent before the first command of a connection. Older versions know the first spelling alone.
	setIfKnown(opt, "DisableIndentity", true)
	setIfKnown(opt, "DisableIdentity", true)
	// Lock commands are short, and one run may open hundreds of connections.
	setIfKnown(opt, "ReadBufferSize", 4<<10)
	setIfKnown(opt, "WriteBufferSize", 4<<10)
	// No hand-over of connections, and no goroutines that wait for one.
	if config := reflect.ValueOf(opt).Elem().FieldByName("MaintNotificationsConfig"); config.IsValid() {
		config.Set(reflect.New(config.Type().Elem()))
		setIfKnown(config.Interface(), "Mode", "disabled")
	}
}

// setDialsOnce makes a client dial once per call, so that a dead server is noticed at once. Older versions do so anyway.
func setDialsOnce(opt any) { setIfKnown(opt, "DialerRetries", 1) }

// setIfKnown sets a field of a struct if it has one of that name.
func setIfKnown(opt any, name string, value any) {
	if field := reflect.ValueOf(opt).Elem().FieldByName(name); field.IsValid() {
		field.Set(reflect.ValueOf(value).Convert(field.Type()))
	}
}

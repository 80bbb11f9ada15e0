package embedded

import (
	"reflect"
	"slices"

	"github.com/alicebob/miniredis/v2/server"
)

// keepsWatch answers as Redis does what miniredis would take for the end of a watch. A key that is watched again is still compared with
// what it was when it was watched first. And UNWATCH in a transaction is queued as any other command, and does nothing: EXEC has asked
// for changes by then.
func keepsWatch(srv *server.Server, p *server.Peer, cmd string, args []string) bool {
	switch {
	case cmd == "WATCH" && len(args) > 0 && stateOf(p).multi:
		p.WriteError("ERR WATCH inside MULTI is not allowed") // and not in other words
		return true
	case cmd == "WATCH" && len(args) > 0:
		fresh := slices.DeleteFunc(slices.Clone(args), func(key string) bool { return watches(p, key) })
		switch len(fresh) {
		case len(args):
			return false
		case 0:
			p.WriteOK()
		default:
			srv.Dispatch(p, append([]string{"WATCH"}, fresh...))
		}
		return true
	case cmd == "UNWATCH" && len(args) == 0 && stateOf(p).multi:
		srv.Dispatch(p, []string{"SWAPDB", "0", "0"}) // +OK, and does nothing
		return true
	}
	return false
}

// watches reports whether a connection watches a key of its database. Like stateOf it reads what miniredis keeps.
func watches(p *server.Peer, key string) bool {
	if p.Ctx == nil {
		return false
	}
	db := int64(stateOf(p).db)
	for _, k := range reflect.ValueOf(p.Ctx).Elem().FieldByName("watch").MapKeys() {
		if k.FieldByName("db").Int() == db && k.FieldByName("key").String() == key {
			return true
		}
	}
	return false
}

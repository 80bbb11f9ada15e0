package embedded

import (
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// Compiled keeps compiled scripts, and what runs them, for the clusters that share it, since to parse a script costs more than to
// run it. It is safe for concurrent use. The zero value is empty and ready.
type Compiled struct {
	lua   interpreters
	bySHA sync.Map // of *lua.FunctionProto, which nobody changes
}

func (c *Compiled) script(sha, script string) (*lua.FunctionProto, error) {
	if known, ok := c.bySHA.Load(sha); ok {
		return known.(*lua.FunctionProto), nil
	}
	chunk, err := parse.Parse(strings.NewReader(script), chunkName)
	if err != nil {
		return nil, err
	}
	proto, err := lua.Compile(chunk, chunkName)
	if err != nil {
		return nil, err
	}
	proto.IsVarArg &^= lua.VarArgNeedsArg // nobody passes arguments to a script
	c.bySHA.Store(sha, proto)
	return proto, nil
}

package embedded

import (
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"github.com/lockbench/lockbench/internal/wire"
)

// Shared keeps for the clusters that share it what costs more to make than to use: compiled scripts, what runs them, and buffers.
// It is safe for concurrent use. The zero value is empty and ready.
type Shared struct {
	lua   interpreters
	bySHA sync.Map // of *lua.FunctionProto, which nobody changes
	shas  sync.Map // of string, by script

	buffers wire.Buffers
}

// sha is what EVALSHA calls a script.
func (c *Shared) sha(script string) string {
	if known, ok := c.shas.Load(script); ok {
		return known.(string)
	}
	sha := sha1Hex(script)
	c.shas.Store(script, sha)
	return sha
}

func (c *Shared) script(sha, script string) (*lua.FunctionProto, error) {
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

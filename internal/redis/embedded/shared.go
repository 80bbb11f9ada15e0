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
	lua    interpreters
	bySHA  sync.Map // of *lua.FunctionProto, which nobody changes
	byCode sync.Map // the same, of libraries of functions
	shas   sync.Map // of string, by script

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
	proto, err := compile(script, chunkName)
	if err == nil {
		c.bySHA.Store(sha, proto)
	}
	return proto, err
}

// library compiles a library of functions, whose first line is no Lua.
func (c *Shared) library(code string) (*lua.FunctionProto, error) {
	if known, ok := c.byCode.Load(code); ok {
		return known.(*lua.FunctionProto), nil
	}
	_, body, _ := strings.Cut(code, "\n")
	proto, err := compile("\n"+body, functionChunk)
	if err == nil {
		c.byCode.Store(code, proto)
	}
	return proto, err
}

func compile(source, name string) (*lua.FunctionProto, error) {
	chunk, err := parse.Parse(strings.NewReader(source), name)
	if err != nil {
		return nil, err
	}
	proto, err := lua.Compile(chunk, name)
	if err != nil {
		return nil, err
	}
	proto.IsVarArg &^= lua.VarArgNeedsArg // nobody passes arguments to a script
	return proto, nil
}

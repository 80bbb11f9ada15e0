package node

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/internal/wire"
)

// UnknownCommands returns those of commands that the server behind conn does not know, by COMMAND INFO.
func UnknownCommands(ctx context.Context, conn *wire.Conn, commands []string) ([]string, error) {
	if len(commands) == 0 { // to which a server tells of all that it knows
		return nil, nil
	}
	info, err := Do(ctx, conn, append([]string{"COMMAND", "INFO"}, commands...)...)
	if err != nil {
		return nil, err
	}
	if len(info.Elems) != len(commands) {
		return nil, fmt.Errorf("COMMAND INFO tells of %d commands, want %d", len(info.Elems), len(commands))
	}
	var unknown []string
	for i, told := range info.Elems {
		if told.Null || len(told.Elems) == 0 {
			unknown = append(unknown, commands[i])
		}
	}
	return unknown, nil
}

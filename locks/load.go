package locks

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// Scripts returns the sources of all scripts of this package, by their names.
func Scripts() map[string]string {
	all := make(map[string]string)
	for _, s := range scripts() {
		all[s.name] = s.lua
	}
	return all
}

// Load opens a connection to node and sends every script of this package ahead, so
// that the first release of a run is one command and not two.
func Load(ctx context.Context, node *redis.Client) error {
	for _, s := range scripts() {
		if err := s.code.Load(ctx, node).Err(); err != nil {
			return fmt.Errorf("load script %s: %w", s.name, err)
		}
	}
	return nil
}

// Command ordinary runs a bubble in a binary that "go test" did not build.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/lockbench/lockbench/internal/sim"
)

func main() {
	err := sim.Run(1, time.Minute, func(w *sim.World) error {
		err := w.Source().Sleep(context.Background(), time.Hour)
		fmt.Println(w.Now().Truncate(time.Second))
		return err
	})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

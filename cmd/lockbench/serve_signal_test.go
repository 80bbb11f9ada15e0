//go:build unix

package main

import (
	"bufio"
	"os"
	"testing"
)

// TestServeInterrupted: Ctrl-C is how a server ends, and no failure.
func TestServeInterrupted(t *testing.T) {
	c := newChild(t, "serve", "--store", ".", "--addr", "127.0.0.1:0")
	c.Stdout = nil
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil || c.stderr.Len() > 0 {
		t.Errorf("ended with %v, stderr %q", err, c.stderr.String())
	}
}

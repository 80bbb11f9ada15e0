package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/demo"
)

// keyboard waits for keys on a terminal.
type keyboard struct {
	ctx  context.Context
	in   *os.File
	out  io.Writer
	keys chan []byte // closed when nothing can be read any more
	asks chan struct{}
}

// What ends a wait for a key.
var (
	errLeft        = errors.New("the reader has left")
	errInterrupted = errors.New("interrupted")
)

// newKeyboard returns the keyboard of the terminal that stdin and stdout are, or says that
// they are none.
func newKeyboard(ctx context.Context, stdin io.Reader, stdout io.Writer) (*keyboard, error) {
	in, ok := stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return nil, errors.New("--pause waits for a key, and standard input is no terminal; leave --pause out")
	}
	if out := fileOf(stdout); out == nil || !term.IsTerminal(int(out.Fd())) {
		return nil, errors.New("--pause shows one step after another, and standard output is no terminal; leave --pause out")
	}
	k := &keyboard{ctx: ctx, in: in, out: stdout, keys: make(chan []byte), asks: make(chan struct{})}
	go k.read()
	return k, nil
}

// read reads keys as they are asked for, so that the terminal is read only while somebody waits.
// It cannot be stopped while it reads, and ends with the program.
func (k *keyboard) read() {
	defer close(k.keys)
	for range k.asks {
		buf := make([]byte, 64) // an arrow is several bytes, and one key
		n, err := k.in.Read(buf)
		if err != nil {
			return
		}
		k.keys <- buf[:n]
	}
}

// wait shows prompt, waits for a key, takes the prompt away, and returns the key: demo.Back for an
// arrow to the left and for Backspace. It returns errLeft if the reader leaves by q, Escape or Ctrl-D, and
// another error after Ctrl-C or a signal. The terminal is as it was afterwards.
func (k *keyboard) wait(prompt string) (rune, error) {
	if err := k.ctx.Err(); err != nil {
		return 0, errInterrupted
	}
	state, err := term.MakeRaw(int(k.in.Fd()))
	if err != nil {
		return 0, fmt.Errorf("wait for a key: %w", err)
	}
	fmt.Fprint(k.out, prompt)
	defer func() {
		fmt.Fprint(k.out, "\r\x1b[K")
		_ = term.Restore(int(k.in.Fd()), state)
	}()
	k.asks <- struct{}{}
	select {
	case <-k.ctx.Done():
		return 0, errInterrupted
	case key, ok := <-k.keys:
		return meant(key, ok)
	}
}

// meant is what a key means; ok says that there was one. Of keys that were pressed before
// they were asked for the first one counts.
func meant(key []byte, ok bool) (rune, error) {
	const ctrlC, ctrlD, escape, backspace, left = 3, 4, 27, 127, "\x1b[D"
	if !ok || len(key) == 0 {
		return 0, errLeft
	}
	switch key[0] {
	case ctrlC:
		return 0, errInterrupted
	case 'q', 'Q', ctrlD:
		return 0, errLeft
	case backspace:
		return demo.Back, nil
	case escape:
		if len(key) == 1 { // more of them are an arrow or the like
			return 0, errLeft
		}
		if string(key) == left {
			return demo.Back, nil
		}
		return escape, nil
	}
	pressed, _ := utf8.DecodeRune(key)
	return pressed, nil
}

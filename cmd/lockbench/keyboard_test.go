package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/demo"
)

func TestMeant(t *testing.T) {
	for key, want := range map[string]rune{
		" ": ' ', "\r": '\r', "b": 'b', "键": '键', "\x1b[A": '\x1b', "\x1b[D": demo.Back, "\x7f": demo.Back, "\b": demo.Back, "bq": 'b',
	} {
		if got, err := meant([]byte(key), true); got != want || err != nil {
			t.Errorf("%q means %q, %v, want %q", key, got, err, want)
		}
	}
	for key, want := range map[string]error{
		"q": errLeft, "Q": errLeft, "\x04": errLeft, "\x1b": errLeft, "": errLeft, "q\x04": errLeft,
		"\x03": errInterrupted, "\x03\x03": errInterrupted,
	} {
		if _, got := meant([]byte(key), true); !errors.Is(got, want) {
			t.Errorf("%q means %v, want %v", key, got, want)
		}
	}
	if _, got := meant(nil, false); !errors.Is(got, errLeft) {
		t.Errorf("the end of the input means %v, want %v", got, errLeft)
	}
}

func TestKeyboardNeedsATerminal(t *testing.T) {
	if _, err := newKeyboard(t.Context(), strings.NewReader("q"), new(bytes.Buffer)); err == nil {
		t.Error("a reader is no terminal, and was taken for one")
	}
}

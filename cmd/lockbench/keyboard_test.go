package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestMeant(t *testing.T) {
	for key, want := range map[string]error{
		" ": nil, "\r": nil, "x": nil, "键": nil, "\x1b[A": nil,
		"q": errLeft, "Q": errLeft, "\x04": errLeft, "\x1b": errLeft, "": errLeft, "q\x04": errLeft,
		"\x03": errInterrupted, "\x03\x03": errInterrupted,
	} {
		if got := meant([]byte(key), true); !errors.Is(got, want) {
			t.Errorf("%q means %v, want %v", key, got, want)
		}
	}
	if got := meant(nil, false); !errors.Is(got, errLeft) {
		t.Errorf("the end of the input means %v, want %v", got, errLeft)
	}
}

func TestKeyboardNeedsATerminal(t *testing.T) {
	if _, err := newKeyboard(t.Context(), strings.NewReader("q"), new(bytes.Buffer)); err == nil {
		t.Error("a reader is no terminal, and was taken for one")
	}
}

package demo

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestColumns(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "锁": 2, "A 认为": 6, "3b1d…": 5, "A → n1–n3": 9, "（A 的）": 8, "e\u0301": 1, "‹x›": 3} {
		if got := columns(s); got != want {
			t.Errorf("%q takes %d columns, want %d", s, got, want)
		}
	}
	if got := pad("锁", 5); got != "锁   " {
		t.Errorf("got %q", got)
	}
}

func TestWrap(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"nothing":      {"", []string{""}},
		"one line":     {" a b ", []string{"a b"}},
		"words":        {"the lock is taken by two commands", []string{"the lock is taken by two", "commands"}},
		"long word":    {strings.Repeat("x", 30), []string{strings.Repeat("x", 24), "xxxxxx"}},
		"wide":         {strings.Repeat("锁", 13), []string{strings.Repeat("锁", 12), "锁"}},
		"closing mark": {strings.Repeat("锁", 12) + "，完", []string{strings.Repeat("锁", 11), "锁，完"}},
		"opening mark": {strings.Repeat("锁", 11) + "（完）", []string{strings.Repeat("锁", 11), "（完）"}},
		"mixed":        {"锁的持有者用 SETNX key value 加锁", []string{"锁的持有者用 SETNX key", "value 加锁"}},
	} {
		got := wrap(tc.text, narrowest)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// FuzzWrap checks that wrapping loses nothing but spaces, and keeps to the width.
func FuzzWrap(f *testing.F) {
	f.Add("the lock 被释放，然后 B 加锁（成功）。", 30)
	f.Add("，，，，，，，，，，，，，，，，，，，，", 24)
	f.Fuzz(func(t *testing.T, text string, n int) {
		text = strings.ToValidUTF8(text, "?")
		lines := wrap(text, n)
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if squeeze(strings.Join(lines, " ")) != squeeze(text) {
			t.Errorf("%q became %q", text, lines)
		}
		for _, line := range lines {
			if columns(line) > max(n, narrowest) {
				t.Errorf("%q takes %d columns instead of %d", line, columns(line), n)
			}
		}
	})
}

package catalogue_test

import (
	"errors"
	"testing"

	"github.com/lockbench/lockbench/internal/catalogue"
)

func TestNearest(t *testing.T) {
	for _, tt := range []struct {
		name  string
		known []string
		want  string
	}{
		{"cat", nil, ""},
		{"cat", []string{"cat"}, "cat"},
		{"cat", []string{"cart", "bat", "dog"}, "cart"}, // the first of equals
		{"cat", []string{"dog"}, ""},
		{"kitten", []string{"sitting"}, "sitting"}, // 3 edits of 7
		{"ab", []string{"cd"}, ""},
		{"", []string{"a"}, ""},
	} {
		if got := catalogue.Nearest(tt.name, tt.known); got != tt.want {
			t.Errorf("Nearest(%q, %q) = %q, want %q", tt.name, tt.known, got, tt.want)
		}
	}
}

func TestFind(t *testing.T) {
	all := []string{"plan", "plane"}
	self := func(s string) string { return s }
	if got, err := catalogue.Find("thing", "plane", all, self); got != "plane" || err != nil {
		t.Errorf("plane is %q, %v", got, err)
	}
	_, err := catalogue.Find("thing", "plain", all, self)
	if unknown, ok := errors.AsType[*catalogue.UnknownError](err); !ok || unknown.Kind != "thing" || unknown.Nearest != "plan" && unknown.Nearest != "plane" {
		t.Errorf("plain is %v, want an error that names one of both", err)
	}
}

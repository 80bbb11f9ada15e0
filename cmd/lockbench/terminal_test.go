package main

import "testing"

func TestLocale(t *testing.T) {
	for _, tc := range []struct {
		all, ctype, lang string
		want             bool
	}{
		{"", "", "", false}, {"", "", "C", false}, {"", "", "en_GB.UTF-8", true}, {"", "", "de_DE.utf8", true},
		{"C", "", "en_GB.UTF-8", false}, {"", "C.UTF-8", "C", true}, {"POSIX", "C.UTF-8", "", false}, {"", "en_US.ISO-8859-1", "C.UTF-8", false},
	} {
		env := map[string]string{"LC_ALL": tc.all, "LC_CTYPE": tc.ctype, "LANG": tc.lang}
		if got := isUTF8(func(name string) string { return env[name] }); got != tc.want {
			t.Errorf("%v: %v", tc, got)
		}
	}
}

func TestColoured(t *testing.T) {
	for _, tc := range []struct {
		no, force, cli, term string
		terminal, pipe       bool
	}{
		{"", "", "", "xterm", true, false}, {"", "", "", "dumb", false, false}, {"1", "1", "1", "xterm", false, false},
		{"", "1", "0", "dumb", true, true}, {"", "0", "", "xterm", true, false}, {"", "", "0", "xterm", false, false}, {"", "", "1", "xterm", true, false},
	} {
		env := map[string]string{"NO_COLOR": tc.no, "CLICOLOR_FORCE": tc.force, "CLICOLOR": tc.cli, "TERM": tc.term}
		getenv := func(name string) string { return env[name] }
		if got := coloured(getenv, true); got != tc.terminal {
			t.Errorf("%v: on a terminal %v", tc, got)
		}
		if got := coloured(getenv, false); got != tc.pipe {
			t.Errorf("%v: in a pipe %v", tc, got)
		}
	}
}

func TestColumns(t *testing.T) {
	for asked, want := range map[string]int{"": 100, "120": 120, "40": 40, "39": 100, "-5": 100, "wide": 100} {
		if got := columns(asked); got != want {
			t.Errorf("columns(%q) = %d, want %d", asked, got, want)
		}
	}
}

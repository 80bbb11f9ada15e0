package main

import (
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/lockbench/lockbench/internal/report"
)

// styleOf looks at what stdout is. What is no terminal has 100 columns, or as many as COLUMNS
// says, and UTF-8, wherever it is written.
func styleOf(stdout io.Writer) report.Style {
	f := fileOf(stdout)
	if f == nil || !term.IsTerminal(int(f.Fd())) {
		return report.Style{Colour: coloured(os.Getenv, false), Width: columns(os.Getenv("COLUMNS")), Volume: volumeOf(stdout)}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width = 0
	}
	return report.Style{Colour: coloured(os.Getenv, true), Width: width, Volume: volumeOf(stdout)}
}

// columns is how wide a text is that is written to no terminal, if somebody asked for a width.
func columns(asked string) int {
	if n, err := strconv.Atoi(asked); err == nil && n >= 40 {
		return n
	}
	return 100
}

// coloured reports whether there are colours: by default on terminals alone, with CLICOLOR_FORCE
// also elsewhere, and never with NO_COLOR (no-color.org, bixense.com/clicolors).
func coloured(getenv func(string) string, terminal bool) bool {
	force := getenv("CLICOLOR_FORCE")
	switch {
	case getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return terminal && getenv("CLICOLOR") != "0" && getenv("TERM") != "dumb"
}

// unicodeLocale reports whether a terminal can show more than ASCII: whether the locale is one of
// UTF-8. Consoles of Windows have no locale, and take everything.
func unicodeLocale() bool { return runtime.GOOS == "windows" || isUTF8(os.Getenv) }

// isUTF8 looks at the variables of a locale as POSIX does: the first that is set counts.
func isUTF8(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(getenv(name)); locale != "" {
			return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
		}
	}
	return false
}

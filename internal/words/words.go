// Package words writes numbers and times for people.
package words

import (
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"
)

// Count returns a number with its noun: "1 update", "2 updates".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Times returns how often something was: "once", "2 times".
func Times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// Seconds returns a time as stories tell it: "0.014 s".
func Seconds(d time.Duration) string { return Instant(d) + " s" }

// Instant returns an instant of a run, or a duration, in seconds with milliseconds and without the
// unit: "0.014".
func Instant(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// Rounded returns a duration as people say how long something took: "9.8 s", "98 s", "3m20s".
func Rounded(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// Capital returns a sentence with a capital letter at its beginning.
func Capital(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + s[n:]
}

// Bytes returns a size in units of a thousand: "1 byte", "1.5 kB", "20.0 MB".
func Bytes(n int64) string {
	units := []string{"bytes", "kB", "MB", "GB", "TB"}
	x, i := float64(n), 0
	for x >= 1000 && i < len(units)-1 {
		x, i = x/1000, i+1
	}
	if i == 0 {
		return Count(int(n), "byte")
	}
	return fmt.Sprintf("%.1f %s", x, units[i])
}

// Command survey plays real libraries through lockbench and writes docs/libraries.md: which library shows which named anomaly.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/survey"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "survey:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	lockbench := flag.String("lockbench", "bin/lockbench", "the program")
	output := flag.String("output", "docs/libraries.md", "the page to write; - is standard output")
	date := flag.String("date", "", "the day that the page names")
	trixie := flag.Bool("trixie", false, "play the versions of Debian 13, in a root of it, and not those of this machine")
	only := flag.String("only", "", "regular expression of the names of the libraries (default: all)")
	install := flag.Bool("install", true, "have missing packages installed by apt-get")
	parallel := flag.Int("parallel", 2, "how many libraries are played at a time")
	limit := flag.Duration("limit", 4*time.Minute, "for how long one library may take")
	flag.Parse()
	chosen, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	libraries := survey.Libraries()
	if *trixie {
		libraries = survey.Trixie()
	}
	libraries = slices.DeleteFunc(libraries, func(l survey.Library) bool { return !chosen.MatchString(l.Name) })
	if len(libraries) == 0 {
		return errors.New("there is no such library")
	}
	server, err := exec.CommandContext(ctx, "redis-server", "--version").Output()
	if err != nil {
		return fmt.Errorf("want redis-server on PATH (Debian: apt-get install redis-server): %w", err)
	}
	s := survey.Survey{Lockbench: *lockbench, Root: ".", Limit: *limit, Jobs: 4, Log: os.Stderr}
	switch {
	case *trixie:
		if err := s.InstallTrixie(ctx, libraries); err != nil {
			return err
		}
	case *install:
		s.Install(ctx, libraries)
	}
	page := survey.Page{Date: *date, Server: word(string(server), "v=")}
	if page.Shown, err = s.Learn(ctx); err != nil {
		return err
	}
	if page.Rows = s.All(ctx, libraries, *parallel); ctx.Err() != nil {
		return ctx.Err()
	}
	text := page.Markdown()
	if *output == "-" {
		_, err = os.Stdout.WriteString(text)
		return err
	}
	return os.WriteFile(*output, []byte(text), 0o644)
}

// word is the word that begins with a prefix, without that.
func word(text, prefix string) string {
	for w := range strings.FieldsSeq(text) {
		if rest, ok := strings.CutPrefix(w, prefix); ok && rest != "" {
			return rest
		}
	}
	return "of unknown version"
}

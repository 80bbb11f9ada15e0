// Command survey plays real libraries through lockbench and writes what it finds, and docs/libraries.md: which library shows which named anomaly.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
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
	file := flag.String("results", "internal/survey/libraries.json", "the file of results, in which those of the libraries that are played are replaced")
	page := flag.String("page", "docs/libraries.md", "the page to write of all results")
	date := flag.String("date", "", "the day that the results name")
	trixie := flag.Bool("trixie", false, "play the versions of Debian 13, in a root of it, and not those of this machine")
	only := flag.String("only", "", "regular expression of the names of the libraries (default: all)")
	install := flag.Bool("install", true, "have missing packages installed by apt-get")
	parallel := flag.Int("parallel", 2, "how many libraries are played at a time")
	limit := flag.Duration("limit", 5*time.Minute, "for how long one library may take")
	flag.Parse()
	chosen, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	libraries, root := survey.Libraries(), "/"
	if *trixie {
		libraries, root = survey.Trixie(), survey.TrixieRoot
	}
	libraries = slices.DeleteFunc(libraries, func(l survey.Library) bool { return !chosen.MatchString(l.Name) })
	if len(libraries) == 0 {
		return errors.New("there is no such library")
	}
	server, err := exec.CommandContext(ctx, "redis-server", "--version").Output()
	if err != nil {
		return fmt.Errorf("want redis-server on PATH (Debian: apt-get install redis-server): %w", err)
	}
	s := survey.Survey{Lockbench: *lockbench, Root: ".", Limit: *limit, Jobs: 8, Log: os.Stderr}
	switch {
	case *trixie:
		if err := s.InstallTrixie(ctx, libraries); err != nil {
			return err
		}
	case *install:
		s.Install(ctx, libraries)
	}
	shown, err := s.Learn(ctx)
	if err != nil {
		return err
	}
	all := s.All(ctx, libraries, *parallel)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	before, err := read(*file)
	if err != nil {
		return err
	}
	after := before.After(all, shown, survey.Occasion{System: survey.System(root), Server: word(string(server), "v="), Date: *date})
	data, err := after.JSON()
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(*file, data, 0o644), os.WriteFile(*page, []byte(after.Markdown()), 0o644))
}

// read reads the results in a file: none, if there is no file.
func read(file string) (survey.Results, error) {
	data, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return survey.Results{}, nil
	case err != nil:
		return survey.Results{}, err
	}
	return survey.ParseResults(data)
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

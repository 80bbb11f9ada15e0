package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/report/html"
	"github.com/lockbench/lockbench/internal/report/plot"
	"github.com/lockbench/lockbench/locks"
)

// pageSuffix is how the names of pages end, and indexFile is that of the overview.
const (
	pageSuffix = ".html"
	indexFile  = "index" + pageSuffix
)

// draw draws the page of the run of a finding, beside its schedule.
func (s *search) draw(ctx context.Context, one *told) error {
	page, err := pageOf(ctx, one.file, s.lock)
	if err != nil {
		return fmt.Errorf("the page of %s was not drawn: %w; lockbench run draws one", one.file, err)
	}
	one.page = strings.TrimSuffix(one.file, scheduleSuffix) + pageSuffix
	return gate.WriteFile(one.page, page)
}

// pageOf plays the schedule in a file as lockbench run does, and returns the page of the run.
func pageOf(ctx context.Context, file string, lock locks.Spec) ([]byte, error) {
	run := runFlags{}
	run.flags(&cobra.Command{})
	run.scenario, run.lock, run.out = file, lock.Name, noStore
	cfg, err := run.config(ctx, func(string) bool { return false })
	if err != nil {
		return nil, err
	}
	if cfg, err = run.wanted(cfg); err != nil {
		return nil, err
	}
	cfg.Seed = run.seed
	cfg.Command, cfg.Alternatives = run.replay(cfg.Seed), run.alternatives(cfg)
	res, err := harness.Run(ctx, cfg)
	if err != nil {
		return nil, err
	}
	drawn := draw(res)
	withSchedule(ctx, &drawn, *run.own, res)
	var b bytes.Buffer
	err = html.Write(&b, drawn, html.Options{Plots: plot.Draw, Files: []html.File{{Name: filepath.Base(file), Href: filepath.Base(file)}, {Name: "all that was found", Href: indexFile}}})
	return b.Bytes(), err
}

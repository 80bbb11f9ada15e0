package explore_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/locks"
)

const marginsFile = "../../docs/margins.md"

// marginsRows are the locks and guards of the table: the sound ones, with those guards that they support that may make a difference.
func marginsRows(yield func(locks.Spec, resource.Guard)) {
	for _, lock := range libraries.Catalogue() {
		for _, guard := range []resource.Guard{resource.None, resource.CheckToken, resource.Fence} {
			if lock.Sound && guard.Supports(lock) == nil {
				yield(lock, guard)
			}
		}
	}
}

// asLeases is a length in leases and in milliseconds.
func asLeases(m explore.Margin) string {
	switch {
	case m.Always:
		return "always"
	case m.Survives < 0:
		return "never"
	}
	text := fmt.Sprintf("%.3f T (%d ms)", m.Survives.Seconds()/m.Lease.Seconds(), m.Survives/time.Millisecond)
	if m.Again {
		text += ", again"
	}
	return text
}

// byDisturbance are margins by disturbance, and those in their order.
func byDisturbance(all []explore.Margin) (of map[string][]explore.Margin, names []string) {
	of = map[string][]explore.Margin{}
	for _, m := range all {
		if of[m.Disturbance] == nil {
			names = append(names, m.Disturbance)
		}
		of[m.Disturbance] = append(of[m.Disturbance], m)
	}
	return of, names
}

// first tells what gives way first under a disturbance.
func first(all []explore.Margin) string {
	least := slices.MinFunc(all, func(a, b explore.Margin) int { return int(a.Survives - b.Survives) })
	if least.Always {
		return "always"
	}
	var names []string
	for _, m := range all {
		if m.Survives == least.Survives {
			names = append(names, strings.ReplaceAll(string(m.Property), "-", " "))
		}
	}
	return asLeases(least) + ": " + strings.Join(names, ", ")
}

// safe tells how long the resource is safe.
func safe(all []explore.Margin) string {
	i := slices.IndexFunc(all, func(m explore.Margin) bool { return m.Property == checker.ResourceSafety })
	if i < 0 {
		return "–"
	}
	return asLeases(all[i])
}

// marginsRow is a row of a table: of a lock and guard, with what is told of each disturbance.
func marginsRow(all []explore.Margin, columns []string, lock locks.Spec, guard resource.Guard, tell func([]explore.Margin) string) string {
	of, _ := byDisturbance(all)
	row := fmt.Sprintf("| %s | %s |", lock.Name, guard)
	for _, name := range columns {
		cell := "–"
		if of[name] != nil {
			cell = tell(of[name])
		}
		row += " " + cell + " |"
	}
	return row + "\n"
}

const marginsHead = `# Margins

Written by ` + "`make docs`" + ` from what ` + "`lockbench margins LOCK --guard GUARD`" + ` measures: how long something may last, in leases (T, 3 s) and
milliseconds, until a property does not hold any more, in virtual time. The rows are the sound locks of the catalogue, with those of the guards none,
check-token and fence that they support. *always*: as far as was looked. *again*: it also holds under some that are longer than
one under which it does not. *never*: not even without, or it is not put to the test. –: the lock cannot be put through it. ` + "`--html FILE`" + ` draws all properties.

That mutual exclusion lasts for a lease, and a little for the way to the server, is what a lease means. What renews its lease has no end in the
first column. What a guard is good for is in the second table: check-token asks before a write, and does not help against a write that
is under way; fence does.

`

// marginsPage is the page, made from the rows of both tables.
func marginsPage(all []explore.Margin, firsts, safes string) string {
	_, columns := byDisturbance(all)
	of := map[string]explore.Margin{}
	for _, m := range all {
		of[m.Disturbance] = m
	}
	var b strings.Builder
	b.WriteString(marginsHead)
	b.WriteString("| disturbance | what lasts longer and longer | looked up to |\n|---|---|---|\n")
	for _, name := range columns {
		m := of[name]
		fmt.Fprintf(&b, "| %s | %s | %.1f T |\n", name, m.Title, m.Looked.Seconds()/m.Lease.Seconds())
	}
	head := "| lock | guard | " + strings.Join(columns, " | ") + " |\n|---|---|" + strings.Repeat("---|", len(columns)) + "\n"
	b.WriteString("\n## What gives way first\n\n" + head + firsts + "\n## How long the resource is safe\n\n" + head + safes)
	return b.String()
}

// TestMarginsTable measures the rows of docs/margins.md again: on every push those of a lock, under -short none, and all of them at night. With -update
// it writes the page.
func TestMarginsTable(t *testing.T) {
	some := []string{"fenced"} // with each of the guards; all locks take 100 seconds of a processor
	if testing.Short() {
		some = nil // that each lock has its rows is looked at all the same
	}
	page, err := os.ReadFile(marginsFile)
	if err != nil && !*update {
		t.Fatalf("%v; make docs writes it", err)
	}
	var firsts, safes strings.Builder
	var whole []explore.Margin
	named := map[string]bool{}
	marginsRows(func(lock locks.Spec, guard resource.Guard) {
		named[lock.Name] = true
		if !*update && !strings.Contains(string(page), fmt.Sprintf("\n| %s | %s |", lock.Name, guard)) {
			t.Errorf("%s has no row of %s with guard %s; make docs writes it", marginsFile, lock.Name, guard)
		}
		if !*update && !effort.Nightly() && !slices.Contains(some, lock.Name) {
			return
		}
		all, _, err := explore.Margins(t.Context(), lock, guard)
		if err != nil {
			t.Fatal(err)
		}
		if whole == nil {
			whole = all
		}
		_, columns := byDisturbance(whole)
		for _, of := range []struct {
			rows *strings.Builder
			tell func([]explore.Margin) string
		}{{&firsts, first}, {&safes, safe}} {
			row := marginsRow(all, columns, lock, guard, of.tell)
			of.rows.WriteString(row)
			if !*update && !strings.Contains(string(page), "\n"+row) {
				t.Errorf("%s is not what is measured, make docs writes it; want\n%s", marginsFile, row)
			}
		}
	})
	want := marginsPage(whole, firsts.String(), safes.String())
	switch {
	case *update:
		write(t, marginsFile, want)
	case effort.Nightly() && want != string(page):
		t.Errorf("%s is not what is measured; make docs writes it", marginsFile)
	}
	if len(named) < 15 {
		t.Errorf("the table is about %d locks, want all that are sound", len(named))
	}
}

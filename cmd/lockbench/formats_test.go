package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/joshdk/go-junit"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lockbench/lockbench/cmd/lockbench/internal/gate"
	"github.com/lockbench/lockbench/docs/schema"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/testkit/effort"
	"github.com/lockbench/lockbench/internal/testkit/locktest"
)

// conform checks files and output against the schemas, read strictly.
type conform struct {
	*testing.T
	schemas map[string]*jsonschema.Schema
	seen    map[string]int // documents by schema
}

func (c *conform) fits(name, where string, data []byte) {
	c.Helper()
	if !utf8.Valid(data) {
		c.Errorf("%s is not UTF-8", where)
	}
	c.seen[name]++
	if err := c.schemas[name].Validate(parsed(c, data)); err != nil {
		c.Errorf("%s is not as %s.schema.json has it: %v\n%.1000s", where, name, err, data)
	}
}

// lockbench runs a command that must end with that code, and checks each JSON value that it
// prints against a schema. It returns what it prints.
func (c *conform) lockbench(code int, name string, args ...string) string {
	c.Helper()
	var stdout, stderr bytes.Buffer
	if got := run(c.Context(), args, &stdout, &stderr); got != code {
		c.Errorf("lockbench %v: exit code %d, want %d\n%s", args, got, code, stderr.String())
	}
	if name == "" {
		return stdout.String()
	}
	if code >= exitUsage && name != "check" && stderr.Len() == 0 {
		c.Errorf("lockbench %v: stderr says nothing", args)
	}
	d := json.NewDecoder(bytes.NewReader(stdout.Bytes()))
	n := 0
	for ; ; n++ {
		var one json.RawMessage
		err := d.Decode(&one)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			c.Fatalf("lockbench %v: %v\n%s", args, err, stdout.String())
		}
		c.fits(name, "lockbench "+strings.Join(args, " "), one)
	}
	if n == 0 {
		c.Errorf("lockbench %v: there is no JSON", args)
	}
	return stdout.String()
}

// store checks every file of the runs below a directory.
func (c *conform) store(dir string) {
	c.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch d.Name() {
		case "run.json":
			c.fits("run", path, data)
		case "results.json":
			c.fits("results", path, data)
		case "history.jsonl", "commands.jsonl", "samples.jsonl":
			name := map[string]string{"history.jsonl": "event", "commands.jsonl": "exchange", "samples.jsonl": "sample"}[d.Name()]
			for line := range bytes.Lines(data) {
				c.fits(name, path, line)
			}
		}
		return nil
	})
	if err != nil {
		c.Fatal(err)
	}
}

// file checks a file against a schema.
func (c *conform) file(name, path string) {
	c.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		c.Fatal(err)
	}
	c.fits(name, path, data)
}

// TestWhatIsWrittenFits checks what lockbench really writes and prints, good and bad, against
// the schemas.
func TestWhatIsWrittenFits(t *testing.T) {
	effort.Long(t)
	c := &conform{t, schemas(t, true), map[string]int{}}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	keep := func(name, content string) string {
		if err := os.WriteFile(at(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return at(name)
	}
	store := at("store")
	run := func(code int, args ...string) string {
		return c.lockbench(code, "report", append([]string{"run", "--format", "json", "--out", store}, args...)...)
	}
	for _, s := range []string{"P01", "P14", "P18", "P20", "P29", "P42", "P45", "P47", "P49", "P56"} {
		run(0, "--scenario", s)
	}
	run(0, "--scenario", "P11", "--lock", "fenced", "--guard", "fence")
	run(0, "--scenario", "P14", "--expect", "fail")
	run(1, "--scenario", "P14", "--expect", "pass")
	run(2, "--workload", "contend", "--clients", "1")
	run(1, "--workload", "contend", "--ttl", "1ms", "--rounds", "100", "--expect", "pass", "--fail-fast", "--runs", "3")
	run(0, "--workload", "readwrite", "--keys", "2", "--rate", "50", "--rounds", "5", "--seed", "18446744073709551615")
	run(1, "--workload", "contend", "--lock", "fenced", "--guard", "fence", "--nemesis", "pause,restart,partition", "--rounds", "10", "--expect", "pass")
	run(0, "--workload", "contend", "--nemesis", "pause", "--time-limit", "6s", "--seed", "5")
	c.store(store)
	if lines := strings.Count(run(0, "--scenario", "P14", "--runs", "3"), "\n"); lines != 3 {
		t.Errorf("three runs are %d lines", lines)
	}

	// What goes wrong: of a run, and of the command line.
	failed := run(255, "--scenario", "P14", "--out", filepath.Join(keep("plain", ""), "store"), "--junit", at("failed.xml"), "--markdown", at("failed.md"))
	for _, want := range []string{`"error": "cannot create run directory`, `"scenario": "failover-async-repl"`} {
		if !strings.Contains(failed, want) {
			t.Errorf("want %q in\n%s", want, failed)
		}
	}
	if suites, err := junit.IngestFile(at("failed.xml")); err != nil || suites[0].Totals.Error != 1 {
		t.Errorf("failed.xml: %+v, %v", suites, err)
	}
	if data, err := os.ReadFile(at("failed.md")); err != nil || !strings.HasPrefix(string(data), "## 💥 failover-async-repl") {
		t.Errorf("failed.md: %s, %v", data, err)
	}
	for _, args := range [][]string{
		{"run", "--scenario", "P999", "--format", "json"}, {"run", "--format", "json"}, {"list", "--format", "json", "locks", "guards"},
		{"gate", "--only", "P999", "--format", "json"},
		{"merge", "--format", "json", at("none.json")}, {"matrix", "--only", "P999", "--format", "json"},
		{"check", at("none.jsonl"), "--format", "json"}, {"convert", keep("h.edn", ""), "--to", "edn", "--format", "json"},
		{"version", "--format", "json", "more"}, {"clean", "--format", "json", "more"},
	} {
		c.lockbench(254, "error", args...)
	}
	for _, args := range [][]string{
		{"gate", "--only", "P45", "--lock", "redlock", "--format", "json"}, {"run", "P45", "--lock", "redlock", "--format", "json"},
		{"matrix", "--only", "P45", "--lock", "redlock", "--format", "json"},
	} {
		c.lockbench(3, "error", args...)
	}
	if unfit := run(3, "--scenario", "P08", "--lock", "setnx"); !strings.Contains(unfit, `"not_applicable": true`) {
		t.Errorf("want that it is not applicable in\n%s", unfit)
	}
	c.lockbench(0, "prune", "prune", "--store", store, "--keep", "0", "--dry-run", "--format", "json")
	c.lockbench(254, "error", "prune", "--store", store, "--format", "json")
	t.Setenv("DOCKER_HOST", "unix://"+at("no-engine"))
	c.lockbench(255, "clean", "clean", "--format", "json")

	// Histories of others, sound and not.
	history := filepath.Join(store, "failover-async-repl", "latest")
	check := func(code int, args ...string) {
		c.lockbench(code, "check", append([]string{"check", "--format", "json"}, args...)...)
	}
	check(1, history)
	check(1, history, "--property", "exclusion")
	check(2, history, "--property", "single-winner")
	check(1, history, "--certificate", at("certificate.json"))
	c.file("certificate", at("certificate.json"))
	c.lockbench(0, "verify", "verify", history, at("certificate.json"), "--format", "json")
	c.lockbench(254, "error", "verify", history, history+"/history.jsonl", "--format", "json")
	edn := at("history.edn")
	c.lockbench(0, "convert", "convert", history, "-o", edn, "--format", "json")
	check(1, edn)
	foreign := keep("foreign.edn", "{:type :invoke, :f :write, :value 1, :process 0}\n{:type :ok, :f :write, :value 1, :process 0}\n{:type :invoke, :f :read, :process 1}\n{:type :ok, :f :read, :value 0, :process 1}\n")
	check(1, foreign, "--model", "register")
	events, err := os.ReadFile(filepath.Join(history, "history.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(events), "\n")
	damaged := keep("damaged.jsonl", lines[0]+"{\"torn\xff\n"+strings.Join(lines[1:], ""))
	c.lockbench(254, "error", "check", damaged, "--format", "json")
	check(1, damaged, "--lenient")
	c.lockbench(0, "convert", "convert", damaged, "-o", at("mended.jsonl"), "--lenient", "--format", "json")
	check(254, keep("swapped.jsonl", lines[1]+lines[0]))
	c.lockbench(254, "error", "check", keep("empty.jsonl", ""), "--format", "json")

	// Gates, whole and in parts.
	gate := func(code int, args ...string) {
		c.lockbench(code, "gate", append([]string{"gate", "--format", "json", "--json", at("gate.json")}, args...)...)
		c.file("gate", at("gate.json"))
	}
	gate(0, "--only", "P02,P07,P45", "--runs", "2")
	gate(1, "--only", "P08,P11,P45", "--lock", "setnx-px-get-del", "--fail-on", "ownership,resource-safety", "--junit", at("gate.xml"))
	gate(0, "--only", "P08,P11", "--lock", "setnx-px-get-del", "--baseline", at("base.json"), "--update-baseline")
	c.file("baseline", at("base.json"))
	c.lockbench(0, "gate", "gate", "--format", "json", "--only", "P02,P07", "--shard", "1/2", "--json", at("1.json"))
	c.lockbench(0, "gate", "gate", "--format", "json", "--only", "P02,P07", "--shard", "2/2", "--json", at("2.json"))
	c.lockbench(0, "gate", "merge", "--format", "json", at("1.json"), at("2.json"))
	c.lockbench(254, "error", "merge", "--format", "json", at("1.json"))
	c.lockbench(255, "error", "merge", "--format", "json", keep("odd.json", "{}"))
	c.lockbench(0, "matrix", "matrix", "--only", "P07,P08,P45", "--lock", "setnx-px-get-del,redlock", "--format", "json")

	// A search, in this process: lockbench explore starts others.
	lock, err := libraries.Catalogue().Find("setnx-px-del")
	if err != nil {
		t.Fatal(err)
	}
	opt := explore.Options{Play: explore.InProcess(), Depth: 1, Programs: []string{"once", "released-twice"}, Among: libraries.Catalogue()}
	found, err := explore.Explore(t.Context(), lock, opt)
	if err != nil || len(found.Findings) == 0 {
		t.Fatalf("%d findings, %v", len(found.Findings), err)
	}
	if err := writeRecord(opt.Record(lock, found, "test"), at("explored.json"), at("explored.xml")); err != nil {
		t.Fatal(err)
	}
	c.file("explored", at("explored.json"))
	c.lockbench(1, "explored", "merge", at("explored.json"), "--format", "json")
	c.lockbench(1, "gate", "merge", keep("searched.json", searchedBeside(t, at("1.json"), opt.Record(lock, found, "test"))), "--format", "json", "--junit", at("searched.xml"))
	c.lockbench(0, "gate", "merge", at("searched.json"), "--format", "json", "--baseline", at("searched-base.json"), "--update-baseline")
	c.file("baseline", at("searched-base.json"))
	c.lockbench(0, "gate", "merge", at("searched.json"), "--format", "json", "--baseline", at("searched-base.json"))
	c.lockbench(0, "margins", "margins", "setnx-px-lua", "--format", "json")
	c.lockbench(254, "error", "margins", "setnx-px-lua", "--guard", "fense", "--format", "json")
	c.lockbench(0, "libraries", "report", "--libraries", "--format", "json")
	c.lockbench(0, "list", "list", "--format", "json")
	c.lockbench(0, "list", "list", "locks", "--format", "json")
	c.lockbench(0, "version", "version", "--format", "json")
	for _, name := range schema.Names() {
		if c.seen[name] == 0 && name != "sample" { // of real time
			t.Errorf("nothing was checked against %s.schema.json", name)
		}
	}
}

// searchedBeside is the JSON of a gate, as a shard wrote it, that has also explored on real servers.
func searchedBeside(t *testing.T, shard string, r explore.Record) string {
	t.Helper()
	res, err := gate.Read(shard)
	if err != nil {
		t.Fatal(err)
	}
	r.Backend, r.Worker, r.Proven = "process", []string{"mine"}, explore.Progress{Meant: 2, Played: 1, Unmet: 1}
	res.Shard, res.Planned, res.Exploring, res.Explored = gate.Shard{Index: 1, Of: 1}, res.Share, time.Second, []explore.Record{r}
	data, err := res.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestProcessRunsFit is the same in real time, in which the machine is looked at.
func TestProcessRunsFit(t *testing.T) {
	locktest.NeedRedis(t)
	c := &conform{t, schemas(t, true), map[string]int{}}
	store := t.TempDir()
	c.lockbench(0, "report", "run", "--scenario", "failover-async-repl", "--backend", "process", "--out", store, "--format", "json")
	c.store(store)
	if c.seen["sample"] == 0 {
		t.Error("there are no samples")
	}
}

// TestSchemaCommand checks that the schemas are in the program, and that a wrong name is told.
func TestSchemaCommand(t *testing.T) {
	c := &conform{T: t}
	listed := c.lockbench(0, "", "schema")
	for _, name := range schema.Names() {
		file, err := os.ReadFile(filepath.Join("..", "..", "docs", "schema", name+".schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.lockbench(0, "", "schema", name); got != string(file) {
			t.Errorf("lockbench schema %s prints something else than the file", name)
		}
		if !strings.Contains(listed, "\n"+name+" ") {
			t.Errorf("%s is not listed in\n%s", name, listed)
		}
	}
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"schema", "result"}, &stdout, &stderr); code != exitUsage || !strings.Contains(stderr.String(), `no schema "result"; did you mean results?`) {
		t.Errorf("exit code %d, %s", code, stderr.String())
	}
}

// TestFormatsAreDocumented checks that docs/formats.md names every schema, and every command that
// has --format.
func TestFormatsAreDocumented(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "formats.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, name := range schema.Names() {
		if !strings.Contains(text, "(schema/"+name+".schema.json)") {
			t.Errorf("docs/formats.md has no link to schema/%s.schema.json", name)
		}
	}
	n := 0
	for _, cmd := range newRoot(io.Discard, io.Discard).Commands() {
		if cmd.Flags().Lookup("format") == nil {
			continue
		}
		n++
		if !strings.Contains(text, "| `lockbench "+cmd.Name()+" ") {
			t.Errorf("docs/formats.md has no line about lockbench %s --format json", cmd.Name())
		}
	}
	if n < 9 {
		t.Errorf("only %d commands have --format", n)
	}
}

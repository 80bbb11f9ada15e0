package explore

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/resource"
	"github.com/lockbench/lockbench/locks"
)

// Schema is the version of Record. The first one did not say what was tried.
const Schema = 2

// Record is what an exploration has come to, for files: what was meant, how far it came, and what it found.
type Record struct {
	Schema   int      `json:"schema"`
	Explored string   `json:"explored"`          // the lock
	Version  string   `json:"version"`           // of lockbench
	Guard    string   `json:"guard"`             // of the sections
	Backend  string   `json:"backend,omitempty"` // on which the lock was played in real time; empty: it was in virtual time
	Worker   []string `json:"worker,omitempty"`  // the command of the processes that clients ran in
	Depth    int      `json:"depth"`
	Samples  int      `json:"samples"`
	Seed     uint64   `json:"seed"`
	Shard    int      `json:"shard"` // from 1 on
	Shards   int      `json:"shards"`
	Programs []string `json:"programs"` // that were meant
	Done     []string `json:"done"`     // of them, those that were explored whole

	Schedules  uint64     `json:"schedules"`       // of those that were explored whole, of all shards
	Points     Points     `json:"points"`          // of those programs
	Runs       int        `json:"runs"`            // of the lock
	Measures   int        `json:"measures"`        // of other locks
	Proven     Progress   `json:"proven,omitzero"` // schedules that broke other locks, on real servers
	Missed     int        `json:"missed"`
	Unmeasured int        `json:"unmeasured"`
	Twice      int        `json:"twice"`
	Drawn      Drawn      `json:"drawn"`
	Differing  []string   `json:"differing"`
	GivenUp    []string   `json:"given_up"`
	Findings   []Kept     `json:"findings"`
	Weaknesses []Weakness `json:"weaknesses"`
	Tried      []Tried    `json:"tried"`
}

// Kept is a finding in a file.
type Kept struct {
	Program    string             `json:"program"`
	Rank       uint64             `json:"rank"` // of the schedule, among those of the program
	Deviations []KeptDeviation    `json:"deviations"`
	Kind       string             `json:"kind"`   // of the deviations, and in which program if they last; empty: in fair weather
	Title      string             `json:"title"`  // what happens, in a line
	Column     string             `json:"column"` // of the overview
	Broken     []checker.Property `json:"broken"`
	KeptBy     []string           `json:"kept_by"`
	Seen       int                `json:"seen"`
	Anomaly    string             `json:"anomaly,omitempty"`  // its code; empty: it has no name
	Schedule   string             `json:"schedule,omitempty"` // made as short as it can be; empty: it was not
	Command    string             `json:"command,omitempty"`  // that plays the schedule; empty: it is in no file
}

// KeptDeviation is a deviation in a file.
type KeptDeviation struct {
	Client  string `json:"client"`
	Call    int    `json:"call"`
	Server  string `json:"server"`
	Command string `json:"command"`
	Nth     int    `json:"nth"`
	Reply   bool   `json:"reply"`
	Since   int    `json:"since,omitempty"`
	Act     string `json:"act"`
}

// Record is what was found, with what was meant.
func (o Options) Record(lock locks.Spec, found Found, version string) Record {
	r := Record{
		Schema: Schema, Explored: lock.Name, Version: version, Guard: o.Guard.String(), Depth: o.Depth, Samples: o.Samples, Seed: o.Seed, Shard: o.Shard + 1, Shards: max(o.Shards, 1),
		Programs: found.Meant, Done: listed(found.Done), Schedules: found.Schedules, Points: found.Points, Runs: found.Runs, Measures: found.Measures, Proven: found.Proven, Missed: found.Missed,
		Unmeasured: found.Unmeasured, Twice: found.Twice, Drawn: found.Drawn, Differing: listed(found.Differing), GivenUp: listed(found.GivenUp),
		Weaknesses: listed(found.Weaknesses), Tried: listed(found.Tried), Findings: []Kept{},
	}
	for _, f := range found.Findings {
		k := Kept{
			Program: f.Program.Name, Rank: f.Rank, Broken: f.Broken, KeptBy: listed(f.KeptBy), Seen: f.Seen, Deviations: []KeptDeviation{}, Kind: f.Kind(), Title: f.Title(),
			Column: columnOf(f.Program, f.Deviations), Anomaly: f.Anomaly,
		}
		for _, d := range f.Deviations {
			k.Deviations = append(k.Deviations, KeptDeviation{d.Client, d.Call, d.Server, d.What, d.Nth, d.Reply, d.Since, d.Act.Name})
		}
		r.Findings = append(r.Findings, k)
	}
	return r
}

// listed is a list, also if there is nothing in it.
func listed[T any](all []T) []T { return append([]T{}, all...) }

// Undrawn is how many schedules were to be drawn, in this part, and were not.
func (r Record) Undrawn() int { return share(r.Samples, r.Shard-1, r.Shards) - r.Drawn.N }

// Tell adds to the finding of a schedule the shortest one that shows it, the command that plays that, and the name of f.
func (r *Record) Tell(f Finding, schedule, command string) {
	for i, k := range r.Findings {
		if k.Shows(f) {
			r.Findings[i].Schedule, r.Findings[i].Command, r.Findings[i].Anomaly = schedule, command, f.Anomaly
		}
	}
}

// Shows reports whether k is a finding, as it was found.
func (k Kept) Shows(f Finding) bool {
	return k.Program == f.Program.Name && k.Rank == f.Rank && slices.EqualFunc(k.Deviations, f.Deviations, KeptDeviation.is)
}

// is reports whether it is another one in a file.
func (k KeptDeviation) is(d Deviation) bool {
	return k == KeptDeviation{d.Client, d.Call, d.Server, d.What, d.Nth, d.Reply, d.Since, d.Act.Name}
}

// FindingsOf are those of a record, as they were found. Programs are those of its lock.
func (r Record) FindingsOf(programs []Program) (all []Finding, err error) {
	for _, k := range r.Findings {
		f, err := k.finding(programs)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// ReadRecord reads a Record. An error says what is wrong with it, and in which line if that can be said.
func ReadRecord(data []byte) (r Record, err error) {
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("it is no record of an exploration: %w; want what lockbench explore --json wrote", lineOf(data, err))
	}
	switch {
	case r.Schema != Schema:
		return r, fmt.Errorf("its schema is %d, want %d: it was written by another version of lockbench", r.Schema, Schema)
	case r.Explored == "" || len(r.Programs) == 0:
		return r, errors.New("it is no record of an exploration: want the lock that was explored, and its programs")
	case r.Shard < 1 || r.Shard > r.Shards:
		return r, fmt.Errorf("it is of shard %d/%d: want one of 1 up to the number of shards", r.Shard, r.Shards)
	}
	return r, r.sound()
}

// finding is k as it was found.
func (k Kept) finding(all []Program) (Finding, error) {
	i := slices.IndexFunc(all, func(p Program) bool { return p.Name == k.Program })
	if i < 0 {
		return Finding{}, fmt.Errorf("it names a program %q that there is not", k.Program)
	}
	f := Finding{Program: all[i], Rank: k.Rank, Broken: k.Broken, KeptBy: k.KeptBy, Seen: k.Seen, Anomaly: k.Anomaly}
	acts := Acts()
	for _, d := range k.Deviations {
		n := slices.IndexFunc(acts, func(a Act) bool { return a.Name == d.Act })
		if n < 0 {
			return f, fmt.Errorf("it names a deviation %q that there is not", d.Act)
		}
		f.Deviations = append(f.Deviations, Deviation{
			Point: Point{Client: d.Client, Call: d.Call, Server: d.Server, What: d.Command, Nth: d.Nth}, Reply: d.Reply, Since: d.Since, Act: acts[n],
		})
	}
	return f, nil
}

// Merge joins the records of all shards of one exploration. Programs are those of its lock.
func Merge(parts []Record, programs []Program) (Record, error) {
	if len(parts) == 0 {
		return Record{}, errors.New("there is no record to merge")
	}
	first := parts[0]
	slices.SortFunc(parts, func(a, b Record) int { return cmp.Compare(a.Shard, b.Shard) })
	if len(parts) != first.Shards {
		return Record{}, fmt.Errorf("there are %d records of an exploration in %d shards", len(parts), first.Shards)
	}
	e := &explorer{accused: map[trait]int{}, excused: map[trait]bool{}}
	var all []Finding
	for i, r := range parts {
		if err := first.fits(r, i+1); err != nil {
			return Record{}, err
		}
		for _, w := range r.Weaknesses {
			if t := (trait{w.Property, w.Kind}); !e.excused[t] {
				e.excused[t] = true
				e.found.Weaknesses = append(e.found.Weaknesses, w)
			}
		}
		found, err := r.FindingsOf(programs)
		if err != nil {
			return Record{}, err
		}
		all = append(all, found...)
		e.found.add(r, i == 0)
	}
	order := func(f Finding) int {
		return slices.IndexFunc(programs, func(p Program) bool { return p.Name == f.Program.Name })
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(len(a.Deviations), len(b.Deviations)), cmp.Compare(order(a), order(b)), cmp.Compare(a.Rank, b.Rank))
	})
	for _, f := range all {
		e.adopt(f)
	}
	e.found.Findings = e.settled()
	guard, err := resource.FindGuard(first.Guard)
	if err != nil {
		return Record{}, err
	}
	opt := Options{Guard: guard, Depth: first.Depth, Samples: first.Samples, Seed: first.Seed}
	return opt.Record(locks.Spec{Name: first.Explored}, e.found, first.Version), nil
}

// fits returns why another record is not that of a shard of the same exploration.
func (r Record) fits(other Record, shard int) error {
	switch {
	case other.Explored != r.Explored || other.Guard != r.Guard || other.Depth != r.Depth || other.Samples != r.Samples || other.Seed != r.Seed || other.Shards != r.Shards || !slices.Equal(other.Programs, r.Programs):
		return fmt.Errorf("the records are not of one exploration: shard %d is of lock %s, depth %d, in %d shards, and another of lock %s, depth %d, in %d",
			other.Shard, other.Explored, other.Depth, other.Shards, r.Explored, r.Depth, r.Shards)
	case other.Version != r.Version:
		return fmt.Errorf("the records were written by two versions of lockbench, %s and %s", r.Version, other.Version)
	case other.Shard != shard:
		return fmt.Errorf("want shard %d of %d, found shard %d: it is missing, or there is another one twice", shard, r.Shards, other.Shard)
	}
	return nil
}

// add adds what a record counts. first says that it is the first one.
func (f *Found) add(r Record, first bool) {
	f.Runs, f.Measures, f.Missed, f.Unmeasured, f.Twice = f.Runs+r.Runs, f.Measures+r.Measures, f.Missed+r.Missed, f.Unmeasured+r.Unmeasured, f.Twice+r.Twice
	f.Drawn = Drawn{f.Drawn.N + r.Drawn.N, f.Drawn.Once + r.Drawn.Once}
	f.Differing, f.GivenUp = append(f.Differing, r.Differing...), append(f.GivenUp, r.GivenUp...)
	f.Meant = r.Programs
	f.addTried(r.Tried)
	if first {
		f.Done, f.Schedules, f.Points = r.Done, r.Schedules, r.Points
		return
	}
	f.Done = slices.DeleteFunc(slices.Clone(f.Done), func(name string) bool { return !slices.Contains(r.Done, name) })
	if r.Schedules < f.Schedules { // it has explored fewer programs whole
		f.Schedules, f.Points = r.Schedules, r.Points
	}
}

// adopt takes over a finding as if its schedules had just been played and measured.
func (e *explorer) adopt(f Finding) {
	if at, known := e.knownOf(f.Broken[0], f.Program, f.Deviations); known && e.found.Findings[at].Broken[0] == f.Broken[0] {
		e.found.Findings[at].Seen += f.Seen
		f.Seen = min(f.Seen, 1)
	}
	f.Broken = slices.DeleteFunc(slices.Clone(f.Broken), func(property checker.Property) bool {
		_, known := e.knownOf(property, f.Program, f.Deviations)
		return known
	})
	if len(f.Broken) == 0 {
		return
	}
	for _, property := range f.Broken {
		e.accuse(property, f)
	}
	e.found.Findings = append(e.found.Findings, f)
}

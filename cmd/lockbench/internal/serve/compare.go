package serve

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/report"
)

// A comparison sets two runs beside each other.
type comparison struct {
	header
	Runs       [2]side    `json:"runs"`
	Meta       []metaPair `json:"meta"`
	Properties []property `json:"properties"`
	Parting    parting    `json:"histories"`
}

// A side is one of the two runs.
type side struct {
	ID      runID    `json:"id"`
	Lock    string   `json:"lock"`
	Guard   string   `json:"guard"`
	Judged  bool     `json:"judged"`
	Verdict string   `json:"verdict,omitempty"`
	Outcome string   `json:"outcome,omitempty"`
	Damage  []string `json:"damage"`
}

type metaPair struct {
	Field  string    `json:"field"`
	Values [2]string `json:"values"`
	Same   bool      `json:"same"`
}

// A property has the results of both runs; nil: not judged.
type property struct {
	Property checker.Property   `json:"property"`
	Results  [2]*checker.Result `json:"results"`
	Same     bool               `json:"same"` // the verdicts are
}

func (s *server) compare(w http.ResponseWriter, r *http.Request) error {
	chosen := r.URL.Query()["run"]
	if len(chosen) != 2 {
		return refuse(http.StatusBadRequest, "Two runs can be compared, and %d were chosen; choose two in the list.", len(chosen))
	}
	done, err := s.readers.take(r.Context())
	if err != nil {
		return err
	}
	defer done()
	c := comparison{header: s.header(r, "Two runs compared", "")}
	var metas [2][]fact
	var judgements [2]checker.Judgement
	var dirs [2]*os.Root
	for i, name := range chosen {
		id, err := parseID(name)
		if err != nil {
			return err
		}
		if dirs[i], err = s.store.openRun(id); err != nil {
			return err
		}
		defer dirs[i].Close()
		c.Runs[i], metas[i], judgements[i] = sideOf(dirs[i], id)
	}
	c.Meta, c.Properties = compareMeta(metas), compareVerdicts(judgements)
	if c.Parting, err = part(r.Context(), dirs); err != nil {
		return err
	}
	return s.show(w, r, "compare.html", c)
}

func sideOf(dir *os.Root, id runID) (side, []fact, checker.Judgement) {
	one := side{ID: id, Damage: []string{}}
	meta, _, err := readMeta(dir)
	if err != nil {
		one.Damage = append(one.Damage, clean(err.Error(), longestName))
	}
	one.Lock, one.Guard = clean(meta.Lock, longestName), clean(meta.Guard, longestName)
	j, judged, err := readJudgement(dir)
	if err != nil {
		one.Damage = append(one.Damage, clean(err.Error(), longestName))
	}
	if one.Judged = judged; judged {
		one.Verdict, one.Outcome = j.Verdict.String(), j.Outcome.String()
	}
	return one, facts(meta), j
}

func compareMeta(metas [2][]fact) []metaPair {
	var pairs []metaPair
	for i, a := range metas[0] {
		b := metas[1][i] // facts has all fields, always in the same order
		if a.Value != "" || b.Value != "" {
			pairs = append(pairs, metaPair{a.Name, [2]string{a.Value, b.Value}, a == b})
		}
	}
	return pairs
}

// compareVerdicts has every property that either run was judged by, in the order of reports.
func compareVerdicts(judgements [2]checker.Judgement) []property {
	names := checker.Properties()
	for _, j := range judgements {
		for _, res := range j.Results {
			if !slices.Contains(names, res.Property) {
				names = append(names, res.Property)
			}
		}
	}
	all := []property{}
	for _, name := range names {
		p := property{Property: name}
		for side, j := range judgements {
			if i := slices.IndexFunc(j.Results, func(res checker.Result) bool { return res.Property == name }); i >= 0 {
				p.Results[side] = &j.Results[i]
			}
		}
		a, b := p.Results[0], p.Results[1]
		if a == nil && b == nil {
			continue
		}
		p.Same = a != nil && b != nil && a.Verdict == b.Verdict
		all = append(all, p)
	}
	return all
}

const (
	// mostCompared bounds how much of a history is looked at.
	mostCompared = 1_000_000 // events
	// beside is how many events are told before and from the parting on.
	beside = 3
)

// A parting says where two histories part, and what each has.
type parting struct {
	// At is the index of the first event that differs in who did what to which key and how
	// it ended. Instants, attempts, which are drawn at random, and deadlines may differ before.
	// It is -1 if there is none, as far as both could be read.
	At int `json:"parting"`
	// Apart is the index of the first event that differs in anything at all, or -1.
	Apart int `json:"first_difference"`

	Shared []histories.Event    `json:"before"` // the last events that both have
	Events [2][]histories.Event `json:"events"` // of each run, from the parting on
	Counts []tally              `json:"counts"`
	Totals [2]int               `json:"totals"`
	Damage [2]string            `json:"damage"` // why a history was not read to its end
}

// A tally says how many events of a kind each run has.
type tally struct {
	F     histories.F    `json:"f"`
	Type  histories.Type `json:"type"`
	Count [2]int         `json:"count"`
}

// Same reports whether both have as many.
func (t tally) Same() bool { return t.Count[0] == t.Count[1] }

// kind is what events are counted by.
type kind struct {
	f histories.F
	t histories.Type
}

// mostKinds bounds the table of a history that somebody made up.
const mostKinds = 200

var errEnough = errors.New("enough")

// part finds where two histories part. Each is read once, and no more than a few of its
// events are held; one history is read while the other waits, so that two files of any size
// take no memory.
func part(ctx context.Context, dirs [2]*os.Root) (parting, error) {
	p := parting{At: -1, Apart: -1, Shared: []histories.Event{}, Events: [2][]histories.Event{{}, {}}}
	counts := map[kind]*[2]int{}
	var order []kind
	var streams [2]*stream
	for i, dir := range dirs {
		streams[i] = open(ctx, dir)
		defer streams[i].close()
	}
	for n := 0; ; n++ {
		var events [2]*histories.Event
		for i, in := range streams {
			e := in.next()
			if e == nil {
				continue
			}
			events[i] = e
			p.Totals[i]++
			k := kind{e.F, e.Type}
			if counts[k] == nil && len(order) < mostKinds {
				counts[k], order = new([2]int), append(order, k)
			}
			if counts[k] != nil {
				counts[k][i]++
			}
		}
		switch {
		case events[0] == nil && events[1] == nil:
			return p.finish(streams, counts, order), ctx.Err()
		case events[0] == nil && streams[0].err != nil || events[1] == nil && streams[1].err != nil:
			continue // nobody knows what comes there
		}
		p.look(n, events)
	}
}

// finish adds what is known once both were read.
func (p parting) finish(streams [2]*stream, counts map[kind]*[2]int, order []kind) parting {
	for i, in := range streams {
		if in.err != nil {
			p.Damage[i] = clean(in.err.Error(), longestName)
		}
	}
	slices.SortFunc(order, func(a, b kind) int {
		return cmp.Or(strings.Compare(string(a.f), string(b.f)), strings.Compare(a.t.String(), b.t.String()))
	})
	p.Counts = []tally{}
	for _, k := range order {
		p.Counts = append(p.Counts, tally{k.f, k.t, *counts[k]})
	}
	return p
}

// Both is how many events were compared.
func (p parting) Both() int { return min(p.Totals[0], p.Totals[1]) }

// Whole reports whether both histories were read to their ends.
func (p parting) Whole() bool { return p.Damage == [2]string{} }

// look takes the nth event of both into account.
func (p *parting) look(n int, events [2]*histories.Event) {
	a, b := events[0], events[1]
	if p.Apart < 0 && (a == nil || b == nil || *a != *b) {
		p.Apart = n
	}
	if p.At < 0 && a != nil && b != nil && report.Alike(*a, *b) {
		p.Shared = append(p.Shared, *a)
		if len(p.Shared) > beside {
			p.Shared = p.Shared[1:]
		}
		return
	}
	if p.At < 0 {
		p.At = n
	}
	if n < p.At+beside {
		for i, e := range events {
			if e != nil {
				p.Events[i] = append(p.Events[i], *e)
			}
		}
	}
}

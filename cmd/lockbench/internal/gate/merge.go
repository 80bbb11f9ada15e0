package gate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Part is the results of one shard, and where they were read.
type Part struct {
	File string
	Results
}

// Merge joins the results of all shards of one plan, in the order of the plan. Shards that
// are missing, there twice, cut short or of different plans are an error that says which.
func Merge(parts []Part) (Results, error) {
	if len(parts) == 0 {
		return Results{}, errors.New("there is nothing to merge")
	}
	first := parts[0]
	if n := first.Shard.Of; n < 1 || n > mostShards {
		return Results{}, fmt.Errorf("%s: it is shard %v, want one of 1 to %d shards", first.File, first.Shard, mostShards)
	}
	of := make([]*Part, first.Shard.Of+1)
	for i := range parts {
		p := &parts[i]
		if err := samePlan(first, *p); err != nil {
			return Results{}, err
		}
		if p.Shard.Index < 1 || p.Shard.Index > first.Shard.Of {
			return Results{}, fmt.Errorf("%s: it is shard %v, and there is no such", p.File, p.Shard)
		}
		if other := of[p.Shard.Index]; other != nil {
			return Results{}, fmt.Errorf("%s and %s are both shard %v; want each once", other.File, p.File, p.Shard)
		}
		if !p.Whole() {
			return Results{}, fmt.Errorf("%s: shard %v was cut short after %d of %d runs; run it again", p.File, p.Shard, len(p.Rows), p.Share)
		}
		of[p.Shard.Index] = p
	}
	var missing []string
	for i, p := range of[1:] {
		if p == nil {
			missing = append(missing, Shard{i + 1, first.Shard.Of}.String())
		}
	}
	if len(missing) > 0 {
		return Results{}, fmt.Errorf("missing of %d shards: %s", first.Shard.Of, strings.Join(missing, ", "))
	}
	return join(first, parts)
}

// samePlan returns what keeps two parts from being shards of one plan.
func samePlan(a, b Part) error {
	for _, field := range []struct{ name, a, b string }{
		{"the version of lockbench", a.Version, b.Version},
		{"the backend", a.Backend, b.Backend},
		{"the server", cmp.Or(a.Server, b.Server), cmp.Or(b.Server, a.Server)}, // a part with no run that came so far has none
		{"the seed", fmt.Sprint(a.Seed), fmt.Sprint(b.Seed)},
		{"the number of runs", fmt.Sprint(a.Runs), fmt.Sprint(b.Runs)},
		{"the lock", a.Lock, b.Lock},
		{"the worker", strings.Join(a.Worker, " "), strings.Join(b.Worker, " ")},
		{"the selection", strings.Join(a.Only, ","), strings.Join(b.Only, ",")},
		{"--explore", fmt.Sprint(a.Exploring), fmt.Sprint(b.Exploring)},
		{"--fail-on", fmt.Sprint(a.FailOn), fmt.Sprint(b.FailOn)},
		{"the number of shards", fmt.Sprint(a.Shard.Of), fmt.Sprint(b.Shard.Of)},
		{"the plan", a.Plan, b.Plan},
	} {
		if field.a != field.b {
			return fmt.Errorf("%s: %s is %q, and in %s it is %q; want shards of one gate", b.File, field.name, field.b, a.File, field.a)
		}
	}
	return nil
}

func join(first Part, parts []Part) (Results, error) {
	whole := first.Results
	whole.Shard, whole.Share, whole.Rows, whole.Took, whole.Stalls = Shard{1, 1}, first.Planned, []Row{}, 0, Stalls{}
	whole.Explored = nil
	from := map[string]string{}
	for _, p := range parts {
		whole.Took = max(whole.Took, p.Took) // they were played side by side
		whole.Stalls = whole.Stalls.with(p.Stalls)
		whole.Explored = append(whole.Explored, p.Explored...)
		whole.Server = cmp.Or(whole.Server, p.Server)
		for _, row := range p.Rows {
			if other, ok := from[row.key()]; ok {
				return Results{}, fmt.Errorf("%s and %s overlap: both have %s", other, p.File, row.key())
			}
			from[row.key()] = p.File
			whole.Rows = append(whole.Rows, row)
		}
	}
	if len(whole.Rows) != whole.Planned {
		return Results{}, fmt.Errorf("the shards have %d runs together, want %d", len(whole.Rows), whole.Planned)
	}
	slices.SortFunc(whole.Rows, func(a, b Row) int { return a.At - b.At })
	return whole, nil
}

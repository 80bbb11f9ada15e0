package survey

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/lockbench/lockbench/internal/anomalies"
)

// played notes what libraries show, too, twice and by their own fault.
func (s Shown) played(all []Played) {
	for _, p := range all {
		for _, a := range anomalies.All() {
			if c, ok := p.proven(a.Code); ok && c.Verdict == Shows {
				s.note(a.Code, c.Pitfalls...)
			}
		}
	}
}

// found notes what results say that libraries show.
func (s Shown) found(r Results) {
	for _, f := range r.Libraries {
		for _, c := range f.Cells {
			if c.Verdict == Shows {
				s.note(c.Anomaly, c.Pitfalls...)
			}
		}
	}
}

func (s Shown) note(code string, pitfalls ...string) {
	for _, id := range pitfalls {
		if !slices.Contains(s[code], id) {
			s[code] = append(s[code], id)
		}
	}
}

// Learn plays each asked pitfall with the lock that it breaks, in virtual time, and notes which anomalies that shows: whoever is put
// through the same steps and keeps all is free of them there.
func (s Survey) Learn(ctx context.Context) (Shown, error) {
	shown := Shown{}
	for _, id := range s.asked() {
		out, err := s.run(ctx, []string{s.Lockbench, "run", "--scenario", id, "--out", "none", "--format", "json"})
		var run struct {
			Results struct {
				Results []finding `json:"results"`
				Causes  []cause   `json:"causes"`
			} `json:"results"`
		}
		if unread := json.Unmarshal([]byte(out), &run); unread != nil {
			return nil, either(err, unread)
		}
		for _, c := range run.Results.Causes {
			if c.Anomaly != "" {
				shown.note(c.Anomaly, id)
			}
		}
	}
	return shown, nil
}

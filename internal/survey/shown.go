package survey

import (
	"context"
	"encoding/json"
	"slices"
)

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
			if c.Anomaly != "" && !slices.Contains(shown[c.Anomaly], id) {
				shown[c.Anomaly] = append(shown[c.Anomaly], id)
			}
		}
	}
	return shown, nil
}

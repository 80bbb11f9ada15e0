package certify_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/lockbench/lockbench/internal/certificate"
)

// FuzzCertificate: whatever is taken for a certificate is verified without a panic, and what is
// accepted is still accepted when it is written again.
func FuzzCertificate(f *testing.F) {
	all := samples(f)
	for i, s := range all {
		f.Add(i, s.text)
	}
	f.Fuzz(func(t *testing.T, n int, text []byte) {
		if n < 0 || n >= len(all) {
			return
		}
		c, err := certificate.Read(bytes.NewReader(text))
		if err != nil {
			if _, ok := errors.AsType[*certificate.FormatError](err); !ok {
				t.Errorf("error %T: %v", err, err)
			}
			return
		}
		err = certificate.Verify(bytes.NewReader(all[n].history), seeker(all[n].commands), c)
		if err == nil {
			var again bytes.Buffer
			if err := certificate.Write(&again, c); err != nil {
				t.Fatal(err)
			}
			if err := verify(all[n].history, all[n].commands, again.Bytes()); err != nil {
				t.Errorf("accepted, and not when it is written again: %v", err)
			}
			return
		}
		_, foreign := errors.AsType[*certificate.ForeignError](err)
		_, others := errors.AsType[*certificate.ForeignCommandsError](err)
		if _, rejected := errors.AsType[*certificate.RejectedError](err); !foreign && !others && !rejected {
			t.Errorf("error %T: %v", err, err)
		}
	})
}

// FuzzHistory: whatever is taken for a history is searched for every rule without a panic, and what is found
// in it is a certificate that is accepted.
func FuzzHistory(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.history)
	}
	f.Fuzz(func(t *testing.T, history []byte) {
		for _, terms := range []certificate.Terms{{}, {Slack: 1 << 62, Masters: 3, Overtaking: 1, Poll: 1, SilentRelease: true, ClientFaults: []string{"pause"}}} {
			found, err := certificate.Examine(bytes.NewReader(history), terms)
			if err != nil {
				if _, ok := errors.AsType[*certificate.HistoryError](err); !ok {
					t.Errorf("error %T: %v", err, err)
				}
				return
			}
			for _, rule := range rules() {
				fails, passes := found.Fails(string(rule), certificate.BySearch, 3), found.Passes(string(rule), certificate.BySearch)
				if len(fails) > 0 && passes == nil {
					t.Errorf("%s fails, and passes: %v", rule, fails[0])
				}
			}
		}
	})
}

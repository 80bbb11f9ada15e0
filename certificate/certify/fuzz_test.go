package certify_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/lockbench/lockbench/certificate"
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
		err = certificate.Verify(bytes.NewReader(all[n].history), c)
		if err == nil {
			var again bytes.Buffer
			if err := certificate.Write(&again, c); err != nil {
				t.Fatal(err)
			}
			if err := verify(all[n].history, again.Bytes()); err != nil {
				t.Errorf("accepted, and not when it is written again: %v", err)
			}
			return
		}
		_, foreign := errors.AsType[*certificate.ForeignError](err)
		if _, rejected := errors.AsType[*certificate.RejectedError](err); !foreign && !rejected {
			t.Errorf("error %T: %v", err, err)
		}
	})
}

package gate

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/certificate"
	"github.com/lockbench/lockbench/internal/certificate/certify"
	"github.com/lockbench/lockbench/internal/harness"
)

// certified finds the certificate of a run's verdicts and verifies it. The error says that a verdict has
// no proof, that the certificate is rejected, or that a judge accuses what an order of all calls explains:
// then lockbench is wrong, and not the lock. What breaks the rules of histories is judged by nobody, and
// has none.
func certified(res harness.Result) error {
	if len(res.Report.HarnessErrors) > 0 {
		return nil
	}
	var history, commands bytes.Buffer
	if err := errors.Join(histories.WriteJSONL(&history, res.Events), histories.WriteExchanges(&commands, res.Exchanges)); err != nil {
		return err
	}
	terms := certify.Terms(harness.Terms(&res.Meta))
	var wire io.ReadSeeker
	if terms.Kept, terms.Register = harness.Kept(&res.Meta); terms.Kept != nil {
		wire = bytes.NewReader(commands.Bytes())
	}
	c, err := certify.Certify(bytes.NewReader(history.Bytes()), wire, res.Report, terms)
	if _, invalid := errors.AsType[*certificate.HistoryError](err); invalid {
		return nil
	}
	if err != nil {
		return err
	}
	for _, u := range c.Unproven {
		if u.Verdict == checker.Pass.String() || u.Verdict == checker.Fail.String() {
			return fmt.Errorf("no certificate says that %s is %s: %s", u.Rule, u.Verdict, u.Reason)
		}
	}
	return certificate.Verify(&history, &commands, c)
}

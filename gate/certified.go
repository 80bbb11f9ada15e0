package gate

import (
	"bytes"
	"errors"

	"github.com/lockbench/lockbench/certificate"
	"github.com/lockbench/lockbench/certificate/certify"
	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/histories"
)

// certified finds the certificate of a run's verdicts and verifies it. The error says that the
// certificate is rejected, or that a judge accuses what an order of all calls explains: then lockbench
// is wrong, and not the lock. What breaks the rules of histories is judged by nobody, and has none.
func certified(res harness.Result) error {
	if len(res.Report.HarnessErrors) > 0 {
		return nil
	}
	var history bytes.Buffer
	if err := histories.WriteJSONL(&history, res.Events); err != nil {
		return err
	}
	c, err := certify.Certify(bytes.NewReader(history.Bytes()), res.Report, certify.Terms(harness.Terms(&res.Meta)))
	if _, invalid := errors.AsType[*certificate.HistoryError](err); invalid {
		return nil
	}
	if err != nil {
		return err
	}
	return certificate.Verify(&history, c)
}

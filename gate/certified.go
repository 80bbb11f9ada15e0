package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/certificate"
	"github.com/lockbench/lockbench/certificate/certify"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/harness"
	"github.com/lockbench/lockbench/histories"
)

// certified finds the certificate of a run's verdicts and verifies it. The error says that a verdict has
// no proof, that the certificate is rejected, or that a judge accuses what an order of all calls explains:
// then lockbench is wrong, and not the lock. What breaks the rules of histories is judged by nobody, and
// has none.
func certified(ctx context.Context, res harness.Result) error {
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
	for _, u := range c.Unproven {
		claims := u.Verdict == checker.Pass.String() || u.Verdict == checker.Fail.String()
		if claims && !byCommands(ctx, res, checker.Property(u.Rule)) {
			return fmt.Errorf("no certificate says that %s is %s: %s", u.Rule, u.Verdict, u.Reason)
		}
	}
	return certificate.Verify(&history, c)
}

// byCommands says whether a verdict would be another if it were not known what crossed the wire: of that
// a history tells nothing, nor can its certificate.
func byCommands(ctx context.Context, res harness.Result, rule checker.Property) bool {
	judge := func(exchanges []histories.Exchange) checker.Verdict {
		return harness.Judge(ctx, res.Events, exchanges, &res.Meta, []checker.Property{rule}).Result(rule).Verdict
	}
	told := res.Report.Result(rule).Verdict
	return judge(res.Exchanges) == told && judge(nil) != told
}

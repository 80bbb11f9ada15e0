package checker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/histories"
)

// A Stream judges a history that is read event by event and not kept: its memory does not grow with
// the history, as long as the keys become free now and then. The verdicts are those of Check. Make
// one with NewStream.
type Stream struct {
	ctx     context.Context //nolint:containedctx // of the judgement, which is all that a Stream is
	opt     Options
	divider *divider
	bench   []*chair
}

// A chair is a seat that is taken.
type chair struct {
	seat
	judge judge
	err   error
	took  time.Duration
}

// NewStream returns a Stream of no events. Of the options, Gaps and FaultsExpected need not be known
// before Check.
func NewStream(ctx context.Context, opt Options) *Stream { return newStream(ctx, opt, opt.seats()) }

func newStream(ctx context.Context, opt Options, seats []seat) *Stream {
	s := &Stream{ctx: ctx, opt: opt}
	s.divider = newDivider(opt, s.hear)
	s.divider.slept = s.forget
	for _, seat := range seats {
		s.bench = append(s.bench, &chair{seat: seat, judge: seat.judge(s.divider.record, opt)})
	}
	return s
}

// Add takes the next event. The error is always nil, so that histories.Decode can call it.
func (s *Stream) Add(e histories.Event) error {
	s.divider.add(&e)
	return nil
}

// A forgetful judge can forget what it knows of a key that nobody has or asked for, and that no fault has
// touched lately.
type forgetful interface{ forget(key string) }

// forget lets the judges forget a key.
func (s *Stream) forget(key string) {
	for _, c := range s.bench {
		if j, ok := c.judge.(forgetful); ok {
			j.forget(key)
		}
	}
}

// hear lets the judges hear a stretch.
func (s *Stream) hear(of *stretch) {
	of.testify()
	for _, c := range s.bench {
		if c.err == nil && s.ctx.Err() == nil && (c.concerns == nil || c.concerns(of.record)) {
			c.hear(s.ctx, of, s.opt)
		}
	}
}

// hear lets the judge hear a stretch. Of one that returns an error or panics nothing is asked any more.
func (c *chair) hear(ctx context.Context, s *stretch, opt Options) {
	start := opt.now()
	defer func() {
		c.took += opt.now() - start
		if p := recover(); p != nil {
			c.err = &panicError{p}
		}
	}()
	c.err = c.judge.hear(ctx, s)
}

// Check judges the events so far, as the function of that name does. Gaps and faultsExpected are the
// fields of Options of these names. The Stream must not be used again.
func (s *Stream) Check(gaps []int, faultsExpected bool) Report {
	rec := s.divider.record
	rec.opt.Gaps = gaps // which the last stretches have to know of
	unfit := s.divider.finish()
	rec.opt.Gaps, rec.opt.FaultsExpected = inside(gaps, rec.Events), faultsExpected // what comes later explains nothing
	s.opt = rec.opt
	var report Report
	switch unfit = s.opt.excuse(unfit); {
	case unfit != nil:
		report.HarnessErrors = []string{fmt.Sprintf("the history cannot be judged: %v", unfit)}
		report.refuse(s.bench, "The history breaks the harness's own assumptions, so it was not judged.")
	case rec.Events == 0:
		report.Vacuous = []string{"the history is empty"}
		report.refuse(s.bench, "The history is empty.")
	default:
		proofs := make(map[Property]frame)
		for _, c := range s.bench {
			if c.concerns != nil && !c.concerns(rec) {
				continue
			}
			res, err := c.verdict(s.ctx, rec, s.opt)
			_, panicked := errors.AsType[*panicError](err)
			report.Panicked = report.Panicked || panicked
			if err != nil && (len(s.opt.Gaps) == 0 || panicked || res.Verdict == Disagreement) { // else what is missing explains it
				report.HarnessErrors = append(report.HarnessErrors, fmt.Sprintf("%s: %v", c.property, err))
			}
			report.Results, proofs[c.property] = append(report.Results, res.Result), res.proof
		}
		report.doubt(vacuities(rec, s.opt))
		report.disturb(rec, s.opt, proofs)
	}
	verdicts := make([]Verdict, 0, len(report.Results))
	for _, r := range report.Results {
		verdicts = append(verdicts, r.Verdict)
	}
	report.Verdict = Merge(verdicts...)
	return report
}

// refuse leaves every property Unknown that every history has to do with.
func (r *Report) refuse(bench []*chair, story string) {
	for _, c := range bench {
		if c.concerns != nil {
			continue
		}
		r.Results = append(r.Results, Result{Property: c.property, Story: story})
	}
}

// verdict is what the judge has to say in the end. Where it returned an error or panicked the property is
// Unknown, with the reason as its story; a *disagreement makes it a Disagreement.
func (c *chair) verdict(ctx context.Context, rec *record, opt Options) (res finding, err error) {
	start := opt.now()
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{p}
		}
		if err != nil {
			res.Verdict, res.Witness, res.Attempts, res.Window = Unknown, nil, nil, nil
			if _, ok := errors.AsType[*disagreement](err); ok {
				res.Verdict = Disagreement
			}
			res.Story = fmt.Sprintf("Not judged, and not the lock's fault: %v.", err)
		}
		res.Property, res.Took = c.property, c.took+opt.now()-start
	}()
	if ctx.Err() != nil {
		res.Story = fmt.Sprintf("Not judged: %v.", context.Cause(ctx))
		return res, nil
	}
	res.Engine = c.engine
	res.count(rec, c.counts...)
	if c.err != nil {
		return res, c.err
	}
	return res, c.judge.verdict(&res)
}

// Exclusion are the properties of exclusion.
func Exclusion() []Property { return []Property{StrictExclusion, LeaseExclusion, LeaseHonoured} }

// excuse returns what makes a history unfit to be judged, unless gaps explain it.
func (o Options) excuse(unfit error) error {
	invalid, ok := errors.AsType[*histories.InvalidError](unfit)
	if ok && len(o.Gaps) > 0 && invalid.First >= o.Gaps[0] {
		return nil
	}
	return unfit
}

// seats are the judges that are asked.
func (o Options) seats() []seat {
	return slices.DeleteFunc(bench(), func(s seat) bool { return o.Properties != nil && !slices.Contains(o.Properties, s.property) })
}

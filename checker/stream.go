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
	judges  []*assessment
}

// An assessment is the judge of a property at work on a history.
type assessment struct {
	spec
	judge judge
	err   error
	took  time.Duration
}

// NewStream returns a Stream of no events. Of the options, Gaps and FaultsExpected need not be known
// before Check.
func NewStream(ctx context.Context, opt Options) *Stream { return newStream(ctx, opt, opt.specs()) }

func newStream(ctx context.Context, opt Options, specs []spec) *Stream {
	s := &Stream{ctx: ctx, opt: opt}
	s.divider = newDivider(opt, s.observe)
	s.divider.slept = s.forget
	for _, spec := range specs {
		s.judges = append(s.judges, &assessment{spec: spec, judge: spec.judge(s.divider.record, opt)})
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
	for _, c := range s.judges {
		if j, ok := c.judge.(forgetful); ok {
			j.forget(key)
		}
	}
}

// observe gives the judges a stretch.
func (s *Stream) observe(of *stretch) {
	of.testify()
	for _, c := range s.judges {
		if c.err == nil && s.ctx.Err() == nil && (c.concerns == nil || c.concerns(of.record)) {
			c.observe(s.ctx, of, s.opt)
		}
	}
}

// observe gives the judge a stretch. One that returns an error or panics is given no more.
func (a *assessment) observe(ctx context.Context, s *stretch, opt Options) {
	start := opt.now()
	defer func() {
		a.took += opt.now() - start
		if p := recover(); p != nil {
			a.err = &panicError{p}
		}
	}()
	a.err = a.judge.observe(ctx, s)
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
	switch unfit = s.opt.tolerate(unfit); {
	case unfit != nil:
		report.HarnessErrors = []string{fmt.Sprintf("the history cannot be judged: %v", unfit)}
		report.refuse(s.judges, "The history breaks the harness's own assumptions, so it was not judged.")
	case rec.Events == 0:
		report.Vacuous = []string{"the history is empty"}
		report.refuse(s.judges, "The history is empty.")
	default:
		proofs := make(map[Property]frame)
		for _, c := range s.judges {
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
		report.downgrade(vacuities(rec, s.opt))
		report.disturb(rec, s.opt, proofs)
	}
	verdicts := make([]Verdict, 0, len(report.Results))
	for _, r := range report.Results {
		verdicts = append(verdicts, r.Verdict)
	}
	report.Verdict = NotApplicable.Merge(verdicts...)
	return report
}

// refuse leaves every property Unknown that every history has to do with.
func (r *Report) refuse(judges []*assessment, story string) {
	for _, c := range judges {
		if c.concerns != nil {
			continue
		}
		r.Results = append(r.Results, Result{Property: c.property, Story: story})
	}
}

// verdict is what the judge has to say in the end. Where it returned an error or panicked the property is
// Unknown, with the reason as its story; a *disagreement makes it a Disagreement.
func (a *assessment) verdict(ctx context.Context, rec *record, opt Options) (res finding, err error) {
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
		res.Property, res.Took = a.property, a.took+opt.now()-start
	}()
	if ctx.Err() != nil {
		res.Story = fmt.Sprintf("Not judged: %v.", context.Cause(ctx))
		return res, nil
	}
	res.Engine = a.engine
	res.count(rec, a.counts...)
	if a.err != nil {
		return res, a.err
	}
	return res, a.judge.verdict(&res)
}

// Exclusion reports whether it is a property of exclusion.
func (p Property) Exclusion() bool { return slices.Contains(ofExclusion(), p) }

func ofExclusion() []Property { return []Property{StrictExclusion, LeaseExclusion, LeaseHonoured} }

// tolerate returns what makes a history unfit to be judged, unless gaps explain it.
func (o Options) tolerate(unfit error) error {
	invalid, ok := errors.AsType[*histories.InvalidError](unfit)
	if ok && len(o.Gaps) > 0 && invalid.First >= o.Gaps[0] {
		return nil
	}
	return unfit
}

// specs are those of the properties that are judged.
func (o Options) specs() []spec {
	return slices.DeleteFunc(allSpecs(), func(s spec) bool { return o.Properties != nil && !slices.Contains(o.Properties, s.property) })
}

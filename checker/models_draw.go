package checker

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/lockbench/lockbench/histories"
)

// VisualiseModel is Visualise for a violation of linearizability as a model: res is the result
// of CheckModel on events. It shows the calls of the key up to the answer that no order
// explains, those that prove it first and then as many of the last as fit.
func VisualiseModel(w io.Writer, events []histories.Event, model Model, res Result) error {
	if res.Property != Linearizability || res.Verdict != Fail || len(res.Witness) == 0 {
		return ErrNothingToDraw
	}
	d, err := model.datatype()
	if err != nil {
		return err
	}
	if shapeOf(events) == tuples {
		events = untuple(events)
	}
	actions, err := d.actions(events, &Result{})
	if err != nil {
		return fmt.Errorf("the history cannot be drawn: %w", err)
	}
	actions = d.provable(actions, res.Witness)
	if len(actions) == 0 {
		return ErrNothingToDraw
	}
	for n := min(len(actions), mostDrawn); ; n /= 2 {
		page, fits, err := d.draw(actions[:n], events)
		if err != nil {
			return err
		}
		if fits {
			_, err := w.Write(page)
			return err
		}
		if n <= len(res.Witness) { // with fewer it is no proof any more
			return ErrNothingToDraw
		}
	}
}

// provable are the actions of the key that a witness is about, up to its last event: those that
// it names, and then the others, the last first. What was not answered by then is unknown.
func (d datatype) provable(actions []timedAction, witness []int) []timedAction {
	end := slices.Max(witness)
	named := func(x timedAction) bool { return slices.Contains(witness, x.call) }
	at := slices.IndexFunc(actions, named)
	if at < 0 {
		return nil
	}
	key := actions[at].key
	actions = slices.DeleteFunc(actions, func(x timedAction) bool { return x.key != key || x.call > end })
	for i := range actions {
		if x := &actions[i]; x.at > end {
			x.unknown, x.at = true, noEvent
		}
	}
	actions = slices.DeleteFunc(actions, func(x timedAction) bool { return x.unknown && d.idle(x.action) })
	slices.SortStableFunc(actions, func(a, b timedAction) int {
		switch {
		case named(a) != named(b) && named(a):
			return -1
		case named(a) != named(b):
			return 1
		}
		return cmp.Compare(b.call, a.call)
	})
	return actions
}

// draw draws actions, and says whether they are a violation by themselves, and small enough.
func (d datatype) draw(actions []timedAction, events []histories.Event) (page []byte, fits bool, err error) {
	actions = slices.Clone(actions)
	slices.SortFunc(actions, func(a, b timedAction) int { return cmp.Compare(a.call, b.call) })
	clock := clockOf(timesOf(events))
	lanes := make(map[int]int)
	ops, init := turns(actions, d.init) // in the order of actions
	for i, x := range actions {
		if _, known := lanes[x.process]; !known {
			lanes[x.process] = len(lanes)
		}
		ops[i].ClientId, ops[i].Call, ops[i].Return = lanes[x.process], clock[x.call], clock[len(clock)-1]+1
		told := fmt.Sprintf("Process %d %s%s, event %d, not known to have returned by then.", x.process, d.tells(x.action), ofKey(x.key), x.call)
		if x.at != noEvent {
			ops[i].Return = clock[x.at]
			told = fmt.Sprintf("Process %d %s%s, events %d to %d.", x.process, d.tells(x.action), ofKey(x.key), x.call, x.at)
		}
		ops[i].Metadata = inert(told)
	}
	steps := drawingSteps
	model := d.model(context.Background(), init)
	step := model.Step
	model.Step = func(state, input, output any) (bool, any) {
		if steps--; steps < 0 {
			return false, state
		}
		return step(state, input, output)
	}
	answer, info := porcupine.CheckOperationsVerbose(model, ops, 0)
	model.DescribeOperation = func(input, _ any) string { return inert(d.tells(input.(turn).action)) }
	model.DescribeState = func(state any) string { return inert(describeData(state.(queued).data)) }
	model.DescribeOperationMetadata = func(told any) string { return told.(string) }
	var b bytes.Buffer
	err = porcupine.Visualize(model, info, &b)
	return b.Bytes(), answer == porcupine.Illegal && steps >= 0 && b.Len() <= mostDrawnBytes, err
}

// describeData is the state of a model in words.
func describeData(data any) string {
	switch now := data.(type) {
	case string:
		return orNil(now)
	case bool:
		if now {
			return "held"
		}
		return "free"
	case grip:
		return now.describe()
	}
	return fmt.Sprint(data)
}

func (g grip) describe() string {
	text := ""
	for _, c := range g.list() {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("worker %d", c.owner)
		if c.permits > 1 {
			text += fmt.Sprintf(" %d times", c.permits)
		}
		if c.reads {
			text += " for reading"
		}
	}
	switch {
	case text == "":
		return "free"
	case g.token != 0:
		return fmt.Sprintf("held by %s with token %d", text, g.token)
	}
	return "held by " + text
}

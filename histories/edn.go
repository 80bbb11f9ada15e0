package histories

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Jepsen keeps a history as EDN: an operation is a map, or a record that is tagged, with
// :index, :time in nanoseconds, :type, :process, :f, :value and :error. The fields of an
// Event that Jepsen does not have stand beside them in the namespace lockbench, which
// Jepsen's tools leave alone.
//
// Two things have other forms there. Jepsen's nemesis is the process :nemesis, whose
// operations are all :info; :lockbench/type says which begin and which end a fault. And
// Jepsen knows no events that stand alone, of which one by a client would break its
// pairing; they belong to the process :lockbench, and :lockbench/process says whose they are.
const (
	nemesisProcess = "nemesis"
	ourProcess     = "lockbench"
	ourSpace       = "lockbench/"
)

// ourFields are the names in our namespace.
const ourFields = "worker, process, type, key, attempt, token, ttl, deadline, version or node"

// decodeEDN reads operations, each from the form that is one: one map per line, or one vector or list of maps.
func decodeEDN(r io.Reader, each func(Event) error, d *lineDecoder) error {
	in := newFormReader(r)
	var ops ednEvents
	closing := byte(0) // of the vector or list that is the history
	began := false
	for {
		in.size, in.open = 0, in.open[:0]
		c, err := in.start()
		line := in.line
		var f form
		whole := true
		switch {
		case errors.Is(err, errUnfinished) && closing == 0:
			return nil
		case err != nil:
		case !began && (c == '[' || c == '('):
			closing, began = closedBy(c), true
			continue
		case closing != 0 && c == closing:
			return d.rest(in)
		default:
			began = true
			f, whole, err = in.form(c)
		}
		switch {
		case errors.Is(err, errUnfinished) && in.line > line+1: // the last line is another
			return d.bad(line, fmt.Errorf("the operation that begins here has no end: %w", ErrTruncated))
		case errors.Is(err, errUnfinished):
			return d.bad(line, ErrTruncated)
		case isInput(err):
			return d.ends(line, err)
		case err != nil:
			if err := d.bad(in.line, fmt.Errorf("%w, want one operation as {:type :invoke, :f ...}", err)); err != nil {
				return err
			}
			if err := in.skipLine(); err != nil {
				if isInput(err) {
					return d.ends(in.line, err)
				}
				return nil // the end of what was bad is the end of the file
			}
			continue
		case !whole:
			continue
		}
		e, err := ops.event(f)
		if err != nil {
			if err := d.bad(line, err); err != nil {
				return err
			}
			continue
		}
		d.stands(line)
		if err := each(e); err != nil {
			return err
		}
		d.sound++
	}
}

// closedBy is the bracket that closes a vector or a list.
func closedBy(c byte) byte {
	if c == '[' {
		return ']'
	}
	return ')'
}

// rest sees to it that nothing follows a vector.
func (d *lineDecoder) rest(in *formReader) error {
	_, err := in.next()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case isInput(err):
		return d.ends(in.line, err)
	}
	return d.bad(in.line, errors.New("something follows the vector, want one vector, or one map per line"))
}

// ednEvents makes events of forms, in order.
type ednEvents struct {
	count  int
	last   time.Duration
	faults map[F]bool     // those of a foreign nemesis that have begun
	op     *regexp.Regexp // of a log's lines; nil before the first
}

// ednOp is an Event of which anything may be missing.
type ednOp struct {
	Event
	seen                          []string
	known                         [16]string // under seen
	index, time, typed, f, worker bool
	process, ours                 bool // of :process, and of :lockbench/process
	theirs                        bool // what :process says is no number
	faultType                     bool
}

func (s *ednEvents) event(f form) (Event, error) {
	if f.kind == formTagged {
		f = f.items[0]
	}
	if f.kind != formMap {
		return Event{}, fmt.Errorf("found %v, want one operation as {:type :invoke, :f ...}", f.kind)
	}
	var o ednOp
	o.seen = o.known[:0]
	for i := 0; i < len(f.items); i += 2 {
		key := f.items[i]
		if key.kind != formKeyword && key.kind != formString {
			continue
		}
		if err := o.set(key.text, f.items[i+1]); err != nil {
			return Event{}, err
		}
	}
	switch {
	case !o.typed:
		return Event{}, missing("type")
	case !o.f:
		return Event{}, missing("f")
	case !o.process:
		return Event{}, missing("process")
	case o.Process == Nemesis && o.theirs && !o.faultType && !o.ours && !o.Single():
		o.Type = s.fault(o.Event)
	}
	if !o.index {
		o.Index = s.count
	}
	if !o.time || !o.worker && o.Time == -1 { // Jepsen writes -1 for no time
		o.Time = s.last
	}
	if !o.worker {
		o.Worker = max(o.Process, 0)
	}
	s.count, s.last = s.count+1, o.Time
	return o.Event, nil
}

// fault is the type of a foreign nemesis' event. Both its call and its completion are
// :info; of each two with the same :f the first begins.
func (s *ednEvents) fault(e Event) Type {
	if e.Type != Info {
		return e.Type
	}
	if s.faults == nil {
		s.faults = make(map[F]bool)
	}
	s.faults[e.F] = !s.faults[e.F]
	if s.faults[e.F] {
		return Invoke
	}
	return OK
}

// set sets the field of a key. Keys that are neither Jepsen's nor ours are left alone:
// Jepsen's tests put there what they like.
func (o *ednOp) set(key string, v form) error {
	ours := strings.HasPrefix(key, ourSpace)
	var err error
	switch key {
	case "index":
		o.index, err = intField(key, v, &o.Index)
	case "time":
		o.time, err = intField(key, v, &o.Time)
	case "type":
		o.typed = true
		if !o.faultType {
			err = typeField(key, v, &o.Type)
		}
	case "f":
		o.f, err = nameField(key, v, (*string)(&o.F))
	case "process":
		err = o.setProcess(v)
	case "value":
		o.Value = textOf(v)
	case "error":
		o.Err = textOf(v)
	case ourSpace + "worker":
		o.worker, err = intField(key, v, &o.Worker)
	case ourSpace + "process":
		o.ours, err = intField(key, v, &o.Process)
	case ourSpace + "type":
		o.faultType, err = true, typeField(key, v, &o.Type)
	case ourSpace + "key":
		err = textField(key, v, &o.Key)
	case ourSpace + "attempt":
		err = attemptField(key, v, &o.Attempt)
	case ourSpace + "token":
		_, err = intField(key, v, &o.Token)
	case ourSpace + "ttl":
		_, err = intField(key, v, &o.TTL)
	case ourSpace + "deadline":
		_, err = intField(key, v, &o.Deadline)
	case ourSpace + "version":
		_, err = intField(key, v, &o.Version)
	case ourSpace + "node":
		err = textField(key, v, &o.Node)
	default:
		if ours {
			return fmt.Errorf("unknown field %q, want %s", key, ourFields)
		}
		return nil
	}
	if err == nil && slices.Contains(o.seen, key) {
		err = fmt.Errorf("%q stands there twice", key)
	}
	o.seen = append(o.seen, key)
	return err
}

// setProcess takes a number, or a keyword: what has one is no client, but the nemesis.
func (o *ednOp) setProcess(v form) error {
	o.process = true
	switch {
	case v.kind == formKeyword, v.kind == formString && (v.text == nemesisProcess || v.text == ourProcess):
		o.theirs = true
		if !o.ours {
			o.Process = Nemesis
		}
		return nil
	case o.ours || v.kind != formInt:
		return fmt.Errorf(`"process" is %s, want an integer or :nemesis`, told(v))
	}
	_, err := intField("process", v, &o.Process)
	return err
}

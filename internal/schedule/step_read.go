package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// reader reads the words after a verb.
type reader struct {
	step  *Step
	form  form
	words []string
}

func (r *reader) next() (word string) {
	word, r.words = r.words[0], r.words[1:]
	return word
}

// names reads the names of clients, or one with the number of its operation.
func (r *reader) names() {
	for len(r.words) > 0 && isName(r.words[0]) {
		r.step.Who = append(r.step.Who, r.next())
	}
	if len(r.words) == 0 || len(r.step.Who) > 0 || r.step.Verb != At && r.step.What != Done {
		return
	}
	if ref, err := parseRef(r.words[0]); err == nil {
		r.step.Who, r.step.Op = []string{ref.Who}, ref.Op
		r.next()
	}
}

// nth reads the number after the effect or the command that a rule is about.
func (r *reader) nth() error {
	if r.step.Verb != At || len(r.words) == 0 {
		return nil
	}
	word, n, ok := strings.Cut(r.words[0], "#")
	if !ok {
		return nil
	}
	r.words = append([]string{word}, r.words[1:]...)
	if err := number(n, &r.step.Nth); err != nil || r.step.Nth == 0 {
		return fmt.Errorf("want a number from 1 on after #, found %q", n)
	}
	return nil
}

func (r *reader) read() error {
	if r.step.Verb == At {
		r.names()
	}
	if err := r.nth(); err != nil {
		return err
	}
	if err := r.what(); err != nil {
		return err
	}
	if r.form.about != 0 && r.step.Verb != At {
		r.names()
	}
	if r.form.number {
		if len(r.words) == 0 {
			return fmt.Errorf("want a number after it")
		}
		if err := number(r.next(), &r.step.N); err != nil {
			return err
		}
	}
	if r.form.span {
		if len(r.words) == 0 {
			return fmt.Errorf("want a length of time after it, such as 0.4T")
		}
		if err := span(r.next(), &r.step.For); err != nil {
			return err
		}
	}
	for len(r.words) > 0 {
		if err := r.modifier(r.next()); err != nil {
			return err
		}
	}
	return nil
}

// what reads the mode, fault or condition.
func (r *reader) what() error {
	if r.form.what == nil {
		return nil
	}
	known := r.form.what()
	switch {
	case len(r.words) > 0 && slices.Contains(known, r.words[0]):
	case len(r.words) > 0 && r.form.command && isCommand(r.words[0]):
	case r.form.any && (len(r.words) == 0 || r.takes(r.words[0])):
		return nil
	case len(r.words) == 0:
		return fmt.Errorf("want one of these after it: %s", strings.Join(known, ", "))
	default:
		kind := map[Verb]string{Start: "fault", Stop: "fault", Wait: "condition", At: "effect", Set: "setting"}[r.step.Verb]
		if kind == "" {
			kind = "mode or modifier"
		}
		return unknown(kind, r.words[0], append(slices.Clone(known), r.form.takes...))
	}
	r.step.What = r.next()
	return nil
}

func (r *reader) takes(word string) bool { return slices.Contains(r.form.takes, word) }

// isCommand reports whether a word is the name of a command of Redis.
func isCommand(word string) bool {
	return len(word) > 2 && strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// modifier reads one modifier and its value.
func (r *reader) modifier(name string) error {
	if !r.takes(name) {
		return unknown("modifier", name, r.form.takes)
	}
	switch name {
	case free:
		r.step.Free = true
		return nil
	case "request":
		return nil
	case "on":
		return r.servers()
	case "after":
		if len(r.words) == 0 {
			return fmt.Errorf("after: want an operation after it, such as B.2")
		}
		ref, err := parseRef(r.next())
		r.step.After = &ref
		return err
	}
	all := modifiers()
	m := all[slices.IndexFunc(all, func(m modifier) bool { return m.name == name })]
	if m.flag != nil {
		*m.flag(r.step) = true
		return nil
	}
	if len(r.words) == 0 {
		return fmt.Errorf("%s: want a value after it", name)
	}
	var err error
	switch {
	case m.n != nil:
		err = number(r.next(), m.n(r.step))
		if err == nil && *m.n(r.step) == 0 {
			err = fmt.Errorf("want a number from 1 on, found 0")
		}
	case m.rate != nil:
		err = rate(r.next(), m.rate(r.step))
	default:
		err = span(r.next(), m.span(r.step))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// servers reads the servers that something is done on.
func (r *reader) servers() error {
	if len(r.words) == 0 {
		return fmt.Errorf("on: want servers after it: numbers from 1 on, %s or %s", All, Register)
	}
	for len(r.words) > 0 && !r.takes(r.words[0]) {
		word := r.next()
		n := 0
		if word != All && word != Register && (number(word, &n) != nil || n == 0 || strconv.Itoa(n) != word) {
			return fmt.Errorf("on: want a server, a number from 1 on, %s or %s, found %q", All, Register, word)
		}
		r.step.On = append(r.step.On, word)
	}
	return nil
}

// action reads what a rule does.
func (r *reader) action(word string, ruled bool) error {
	switch {
	case r.step.Verb != At && ruled:
		return fmt.Errorf("%s does nothing to a command: %q belongs to a line that begins with at", r.step.Verb, word)
	case r.step.Verb != At:
		return nil
	}
	known := []string{string(Hold), string(Lose), string(Twice)}
	if !slices.Contains(known, word) {
		return unknown("action", word, known)
	}
	r.step.Action = Action(word)
	return nil
}

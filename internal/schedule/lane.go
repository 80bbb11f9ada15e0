package schedule

import (
	"fmt"
	"strconv"
	"strings"
)

// lane returns a lane as it is written: A: acquire, sleep 0.4T, release.
func (p Step) lane() string {
	name := strings.Join(p.Who, " ")
	calls := make([]string, len(p.Lane))
	for i, call := range p.Lane {
		calls[i] = strings.TrimPrefix(call.String(), name+" ")
	}
	return name + ": " + strings.Join(calls, ", ")
}

// parseLane reads what lane writes.
func parseLane(name, calls string, clients []string) (Step, error) {
	p := Step{Verb: Lane, Who: []string{name}}
	for text := range strings.SplitSeq(calls, ",") {
		text = strings.TrimSpace(text)
		word, _, _ := strings.Cut(text, " ")
		f, known := formOf(Verb(word))
		switch {
		case isName(word):
			return Step{}, fmt.Errorf("%q names a client: a lane is of one, whose name stands before the colon", text)
		case known && f.acts != 1 && Verb(word) != Sleep:
			return Step{}, fmt.Errorf("%s is nothing that one client does by itself: want calls of %s and sleeps", word, name)
		case Verb(word) != Sleep:
			text = name + " " + text
		}
		call, err := parseStep(text, clients)
		if err != nil {
			return Step{}, err
		}
		if call.Free {
			return Step{}, fmt.Errorf("%q: each call of a lane begins when the one before it has ended, without %s", text, free)
		}
		p.Lane = append(p.Lane, call)
	}
	return p, nil
}

// about are the clients that a step is about, with the number of the operation.
func (p Step) about() []string {
	if p.Op == 0 || len(p.Who) != 1 {
		return p.Who
	}
	return []string{Ref{p.Who[0], p.Op}.String()}
}

// parseRef reads an operation: B.2.
func parseRef(word string) (Ref, error) {
	name, number, ok := strings.Cut(word, ".")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 1 || !isName(name) || strconv.Itoa(n) != number {
		return Ref{}, fmt.Errorf("want an operation of a client, such as B.2, found %q", word)
	}
	return Ref{name, n}, nil
}

// Operations returns how many calls each client makes by its steps.
func (s Schedule) Operations() map[string]int {
	n := map[string]int{}
	for _, p := range s.Steps {
		for _, call := range append([]Step{p}, p.Lane...) {
			if call.Calls() {
				n[call.Who[0]]++
			}
		}
	}
	return n
}

// Calls reports whether the step is one call of a client.
func (p Step) Calls() bool {
	f, _ := formOf(p.Verb)
	return p.Verb != Lane && f.acts == 1
}

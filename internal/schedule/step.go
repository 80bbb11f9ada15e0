package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// modifier is a word that may follow a verb, and its value.
type modifier struct {
	name string
	span func(*Step) **Span
	n    func(*Step) *int
	flag func(*Step) *bool
	rate func(*Step) *float64
}

// modifiers are all of them, in the order in which they are written.
func modifiers() []modifier {
	return []modifier{
		{name: "key", n: func(p *Step) *int { return &p.Key }},
		{name: "for", span: func(p *Step) **Span { return &p.For }},
		{name: "by", span: func(p *Step) **Span { return &p.By }},
		{name: "times", rate: func(p *Step) *float64 { return &p.Times }},
		{name: "tries", n: func(p *Step) *int { return &p.Tries }},
		{name: "retries", n: func(p *Step) *int { return &p.Retries }},
		{name: "within", span: func(p *Step) **Span { return &p.Within }},
		{name: "eventually", flag: func(p *Step) *bool { return &p.Eventually }},
		{name: "giving-up", span: func(p *Step) **Span { return &p.GivingUp }},
		{name: "again", flag: func(p *Step) *bool { return &p.Again }},
		{name: "refused", flag: func(p *Step) *bool { return &p.Refused }},
		{name: "or-leave", flag: func(p *Step) *bool { return &p.OrLeave }},
		{name: "reply", flag: func(p *Step) *bool { return &p.Reply }},
		{name: "replica", n: func(p *Step) *int { return &p.Replica }},
	}
}

// String returns the step as it is written, in one line.
func (p Step) String() string {
	if p.Verb == Lane {
		return p.lane()
	}
	f, _ := formOf(p.Verb)
	var words []string
	if f.acts != 0 {
		words = append(words, p.Who...)
	}
	words = append(words, string(p.Verb))
	if f.about != 0 && p.Verb == At {
		words = append(words, p.about()...)
	}
	if p.What != "" {
		words = append(words, p.What)
	}
	if p.Nth > 0 {
		words[len(words)-1] += "#" + strconv.Itoa(p.Nth)
	}
	if f.about != 0 && p.Verb != At {
		words = append(words, p.about()...)
	}
	if f.number {
		words = append(words, strconv.Itoa(p.N))
	}
	for _, m := range modifiers() {
		switch {
		case m.n != nil && *m.n(&p) != 0:
			words = append(words, m.name, strconv.Itoa(*m.n(&p)))
		case m.flag != nil && *m.flag(&p):
			words = append(words, m.name)
		case m.rate != nil && *m.rate(&p) != 0:
			words = append(words, m.name, strconv.FormatFloat(*m.rate(&p), 'f', -1, 64))
		case m.span != nil && *m.span(&p) != nil:
			if !f.span || m.name != "for" {
				words = append(words, m.name)
			}
			words = append(words, (*m.span(&p)).String())
		}
	}
	if p.Verb == At && !p.Reply {
		words = append(words, "request")
	}
	if len(p.On) > 0 {
		words = append(append(words, "on"), p.On...)
	}
	if p.After != nil {
		words = append(words, "after", p.After.String())
	}
	if p.Free {
		words = append(words, free)
	}
	line := strings.Join(words, " ")
	if p.Action != "" {
		line += ": " + string(p.Action)
	}
	return line
}

// parseStep reads what String writes. The clients that it may name are given.
func parseStep(line string, clients []string) (Step, error) {
	if name, calls, ok := strings.Cut(line, ":"); ok && isName(strings.TrimSpace(name)) {
		return parseLane(strings.TrimSpace(name), calls, clients)
	}
	head, action, ruled := strings.Cut(line, ": ")
	words := strings.Fields(head)
	var p Step
	for len(words) > 0 && isName(words[0]) {
		p.Who, words = append(p.Who, words[0]), words[1:]
	}
	if len(words) == 0 {
		return Step{}, fmt.Errorf("%q says nothing of what is done: want a verb, such as %q", line, "A acquire")
	}
	f, ok := formOf(Verb(words[0]))
	if !ok || Verb(words[0]) == Lane {
		return Step{}, unknown("verb", words[0], verbNames())
	}
	p.Verb, words = Verb(words[0]), words[1:]
	r := reader{step: &p, form: f, words: words}
	if err := r.read(); err != nil {
		return Step{}, fmt.Errorf("%s: %w", p.Verb, err)
	}
	if err := r.action(action, ruled); err != nil {
		return Step{}, err
	}
	for _, name := range p.Who {
		if !slices.Contains(clients, name) {
			return Step{}, fmt.Errorf("there is no client %s; the clients are %s (clients %d)", name, strings.Join(clients, ", "), len(clients))
		}
	}
	return p, p.check(f)
}

// isName reports whether a word is the name of a client: capitals and no more than two.
func isName(word string) bool {
	return len(word) > 0 && len(word) <= 2 && strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// check looks for what no word alone has wrong.
func (p Step) check(f form) error {
	want := max(f.acts, 0) + max(f.about, 0)
	switch {
	case f.acts == many && len(p.Who) == 0:
		return fmt.Errorf("%s: want the names of clients before it", p.Verb)
	case f.acts != many && f.about != some && len(p.Who) != want:
		return fmt.Errorf("%s: want the name of %d client(s), found %d", p.Verb, want, len(p.Who))
	case p.Verb == At && p.Action == Lose && !p.Reply:
		return fmt.Errorf("at: what gets lost is the reply: want %q", "reply: lose")
	case p.Verb == Wait:
		return p.checkWait()
	case p.Verb == Start || p.Verb == Stop:
		return p.checkFault()
	}
	return nil
}

func (p Step) checkWait() error {
	n := len(p.Who)
	one := map[string]bool{LeaseAges: true, Held: true, Asked: true, Sent: true, Together: true}[p.What]
	switch {
	case one && n != 1:
		return fmt.Errorf("wait %s: want the name of one client, found %d", p.What, n)
	case p.What == Done && n == 0:
		return fmt.Errorf("wait %s: want the names of clients", p.What)
	case (p.What == InSync || p.What == RefusesWrites) && n != 0:
		return fmt.Errorf("wait %s: it is about no client", p.What)
	case p.What == LeaseEnds && n > 1:
		return fmt.Errorf("wait %s: want the name of one client at most, found %d", p.What, n)
	case p.What == LeaseAges && p.For == nil:
		return fmt.Errorf("wait %s: want how old, such as for 0.6T", p.What)
	case p.What == Together && p.Key == 0:
		return fmt.Errorf("wait %s: want the last key, such as key 11", p.What)
	}
	return nil
}

// most is how large a number may be that says how many, how often or which: what does something more often would never end.
const most = 100_000

func number(word string, to *int) error {
	n, err := strconv.Atoi(word)
	if err != nil || n < 0 || n > most {
		return fmt.Errorf("want a number up to %d, found %q", most, word)
	}
	*to = n
	return nil
}

// fastest is how many times as fast as it should a clock runs at most, and one part in so many at least.
const fastest = 1000

func rate(word string, to *float64) error {
	times, err := strconv.ParseFloat(word, 64)
	if err != nil || !(times >= 1.0/fastest && times <= fastest) { // NaN too
		return fmt.Errorf("want a number from %v to %d, such as 1.5, found %q", 1.0/fastest, fastest, word)
	}
	*to = times
	return nil
}

func span(word string, to **Span) error {
	p, err := parseSpan(word)
	if err == nil {
		*to = &p
	}
	return err
}

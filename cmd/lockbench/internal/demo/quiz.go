package demo

import (
	"slices"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/story"
)

// Question is what the reader is asked before a step.
type Question struct {
	Step string // as the schedule has it
	Nth  int    // which of the steps that are Step is meant, from 1 on; 0: the first
	// Until is the step that shows the answer. Empty: that is Step itself.
	Until string
	About topic
}

// topic is what a question is about. It decides what there is to choose from, and how the recorded
// steps answer.
type topic string

const (
	theLock  topic = "lock"  // what the client gets that asks for the lock
	theWait  topic = "wait"  // what it gets that asks again and again
	theWrite topic = "write" // what becomes of the client's write
	theDraw  topic = "draw"  // what becomes of the round that the client comes to draw
)

// choices are the answers to choose from, each a key of a text. Only one of them can be true.
func (a topic) choices() []string {
	switch a {
	case theLock:
		return []string{"denied", "alone", "both"}
	case theWait:
		return []string{"later", "never", "at-once"}
	case theWrite:
		return []string{"lost", "refused", "kept"}
	case theDraw:
		return []string{"no-lock", "again", "done"}
	}
	return nil
}

// answer returns which choice the recorded scenes make true of a client. It is empty if they make none
// of them true: the outcome is unknown, or the client did something else.
func (a topic) answer(client string, scenes []scene) string {
	granted, denied, with := calls(client, scenes)
	switch a {
	case theLock:
		switch {
		case granted && with:
			return "both"
		case granted:
			return "alone"
		case denied > 0 || isDenied(client, scenes):
			return "denied"
		}
	case theWait:
		switch {
		case granted && denied == 0:
			return "at-once"
		case granted:
			return "later"
		case denied > 0:
			return "never"
		}
	case theWrite:
		if w, ok := written(client, scenes); ok {
			switch {
			case w.refused != "":
				return "refused"
			case w.version != w.seen:
				return "lost"
			}
			return "kept"
		}
	case theDraw:
		w, ok := written(client, scenes)
		switch {
		case ok && w.done:
			return "done"
		case ok && w.drawn != "" && w.refused == "":
			return "again"
		case !ok && !granted && denied > 0:
			return "no-lock"
		}
	}
	return ""
}

// calls is what came of a client's acquires: whether the last one was granted, how many were refused,
// and whether the grant came while somebody else believed to hold the lock.
func calls(client string, scenes []scene) (granted bool, denied int, with bool) {
	for _, s := range scenes {
		for _, e := range s.events {
			if e.F != histories.Acquire || e.Process == histories.Nemesis || histories.WorkerName(e.Worker) != client {
				continue
			}
			switch e.Type {
			case histories.OK:
				granted = true
			case histories.Fail:
				granted = false
				denied++
			case histories.Info:
				granted, denied = false, 0 // nobody knows
			}
		}
		with = with || slices.ContainsFunc(s.meetings, func(m story.Meeting) bool { return m.Granted.Client() == client })
	}
	return granted, denied, with
}

// isDenied returns whether a client has no lock at the end of the scenes, because it was refused or got an error. It
// may have been before them.
func isDenied(client string, scenes []scene) bool {
	return slices.ContainsFunc(scenes[len(scenes)-1].beliefs, func(b belief) bool {
		return b.client == client && (b.opinion == refused || b.opinion == unsure)
	})
}

// written is a client's last write among the scenes.
func written(client string, scenes []scene) (access, bool) {
	for _, s := range slices.Backward(scenes) {
		for _, a := range slices.Backward(s.accesses) {
			if a.client == client && a.write {
				return a, true
			}
		}
	}
	return access{}, false
}

// asked are the scenes that a question is about: before the first of them it is asked, and the last one
// shows the answer. There are none if the run has no such step.
func (q Question) asked(all []scene) (from, to int, ok bool) {
	n := max(q.Nth, 1)
	from = slices.IndexFunc(all, func(s scene) bool {
		if s.step.Verb != "" && s.step.String() == q.Step {
			n--
		}
		return n == 0
	})
	if from < 0 || q.Until == "" {
		return from, from, from >= 0
	}
	to = slices.IndexFunc(all[from:], func(s scene) bool { return s.step.Verb != "" && s.step.String() == q.Until })
	return from, from + to, to >= 0
}

// quiz is the question about a run, with its choices in an order that turn decides. text is the question.
func (t *teller) quiz(q Question, scenes []scene, text string, turn int) *quiz {
	client := scenes[0].step.Who[0]
	keys := q.About.choices()
	turn %= len(keys)
	keys = slices.Concat(keys[turn:], keys[:turn])
	z := &quiz{text: text, right: slices.Index(keys, q.About.answer(client, scenes))}
	for _, key := range keys {
		z.choices = append(z.choices, t.lang.text("choice."+string(q.About)+"."+key, "client", client))
	}
	return z
}

// told is what is said of a choice when the answer is known; of -1 if nothing was picked.
func (q *quiz) told(lang Language, picked int) string {
	if q.right < 0 {
		return lang.text("answer.none")
	}
	key := "answer.wrong"
	switch picked {
	case -1:
		key = "answer.is"
	case q.right:
		key = "answer.right"
	}
	return lang.text(key, "picked", letter(max(picked, 0)), "letter", letter(q.right), "choice", q.choices[q.right])
}

// letter names a choice: a, b or c.
func letter(choice int) string { return string(rune('a' + choice)) }

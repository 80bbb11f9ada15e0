// Package stacks tells where goroutines stand, for people and so that the same place always
// reads the same.
package stacks

import (
	"path"
	"runtime"
	"slices"
	"strings"
)

// mostStack bounds what is read of the stacks of all goroutines, in bytes.
const mostStack = 16 << 20

// mostFrames is how many frames of a goroutine are told, from where it stands.
const mostFrames = 40

// all are the stacks of all goroutines, each as the runtime writes it.
func all() []string {
	b := make([]byte, 64<<10)
	for {
		n := runtime.Stack(b, true)
		if n < len(b) || len(b) >= mostStack {
			return strings.Split(strings.TrimSpace(string(b[:n])), "\n\n")
		}
		b = make([]byte, 4*len(b))
	}
}

// Goroutine names the goroutine that calls it.
func Goroutine() string {
	var b [64]byte
	head, _, _ := strings.Cut(string(b[:runtime.Stack(b[:], false)]), " [")
	return head
}

// Of is where the goroutine of that name stands: what it does, and from the next line on its
// Frames. Empty: there is none.
func Of(name string) string {
	for _, s := range all() {
		if strings.HasPrefix(s, name+" [") {
			return State(s) + ":\n" + Frames(s)
		}
	}
	return ""
}

// Polling is the State of a goroutine that waits for a socket or a file of the machine.
const Polling = "IO wait"

// State is what a goroutine does, in the words of the runtime without what is of bubbles.
func State(stack string) string {
	_, rest, _ := strings.Cut(stack, "[")
	rest, _, _ = strings.Cut(rest, "]")
	rest, _, _ = strings.Cut(rest, ",")
	return strings.TrimSuffix(rest, " (durable)")
}

// Computes reports whether the goroutine of a stack runs, or would if a processor were free.
func Computes(stack string) bool { return State(stack) == "running" || State(stack) == "runnable" }

// In are the stacks of the goroutines of a bubble, as the runtime writes them.
func In(bubble string) []string {
	return slices.DeleteFunc(all(), func(s string) bool {
		head, _, _ := strings.Cut(s, "\n")
		return !strings.Contains(head, bubble+"]") && !strings.Contains(head, bubble+",")
	})
}

// Bubble names the bubble of testing/synctest in which it is called.
func Bubble() string {
	b := make([]byte, 256)
	head, _, _ := strings.Cut(string(b[:runtime.Stack(b, false)]), "\n")
	_, states, _ := strings.Cut(head, "[")
	states, _, _ = strings.Cut(states, "]")
	all := strings.Split(states, ", ")
	return all[len(all)-1]
}

// Frames tells a stack by its functions and their lines, the innermost first, in a form that
// is the same in each run: without addresses, numbers of goroutines, and directories. What is
// of the runtime is left out.
func Frames(stack string) string {
	var frames []string
	lines := strings.Split(strings.TrimSpace(stack), "\n")
	for i := 1; i+1 < len(lines); i += 2 { // the first line names the goroutine
		fn, created := strings.CutPrefix(lines[i], "created by ")
		if created {
			break
		}
		if at := strings.LastIndex(fn, "("); at > 0 { // arguments
			fn = fn[:at]
		}
		if boring(fn) {
			continue
		}
		file, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " +")
		frames = append(frames, "  "+path.Base(fn)+" ("+path.Base(file)+")")
		if len(frames) == mostFrames {
			break
		}
	}
	return strings.Join(frames, "\n")
}

func boring(fn string) bool {
	return strings.HasPrefix(fn, "runtime") || strings.HasPrefix(fn, "panic") || strings.HasPrefix(fn, "internal/") ||
		strings.HasPrefix(fn, "testing") || strings.HasPrefix(fn, "sync.") || strings.HasPrefix(fn, "github.com/lockbench/lockbench/workloads.(*Client).limited")
}

// InBubble reports whether it is called in a bubble of testing/synctest.
func InBubble() bool { return strings.HasPrefix(Bubble(), "synctest bubble ") }

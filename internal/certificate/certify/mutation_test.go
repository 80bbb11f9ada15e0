package certify_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/certificate"
	"github.com/lockbench/lockbench/internal/certificate/certify"
	"github.com/lockbench/lockbench/internal/testkit/effort"
)

// A sample is a history with its certificate as it is written.
type sample struct {
	name          string
	history, text []byte
	commands      []byte // nil: none are known
	certificate   certificate.Certificate
}

// samples are the histories of the checker's corpus, and those of the vectors.
func samples(t testing.TB) (all []sample) {
	t.Helper()
	corpus, err := filepath.Glob("../../../checker/testdata/*.jsonl")
	if err != nil || len(corpus) < 20 {
		t.Fatalf("%d files, %v", len(corpus), err)
	}
	vectors, err := filepath.Glob("../testdata/*/history.jsonl")
	if err != nil || len(vectors) < 10 {
		t.Fatalf("%d files, %v", len(vectors), err)
	}
	for _, file := range slices.Concat(corpus, vectors) {
		history, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		opt := options(t, filepath.Join(filepath.Dir(file), "options.json"))
		commands := wired(t, filepath.Join(filepath.Dir(file), "commands.jsonl"), &opt)
		all = append(all, newSample(t, file, history, commands, opt))
	}
	return all
}

func newSample(t testing.TB, name string, history, commands []byte, opt checker.Options) sample {
	t.Helper()
	events, err := histories.ReadJSONL(bytes.NewReader(history), name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := certify.Certify(bytes.NewReader(history), seeker(commands), checker.Check(t.Context(), events, opt), terms(opt, commands))
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := certificate.Write(&text, c); err != nil {
		t.Fatal(err)
	}
	return sample{name, history, text.Bytes(), commands, c}
}

// verify is what a stranger does: it reads the certificate and verifies it.
func verify(history, commands, text []byte) error {
	c, err := certificate.Read(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return certificate.Verify(bytes.NewReader(history), seeker(commands), c)
}

// TestMutations: whatever is changed of a certificate, or of its history, it is rejected, unless the
// change is without meaning: space between tokens, letters of field names, the order of verdicts, what
// is told and not verified, and which of several explanations proves a claim. To claim less, or to claim it
// on other terms, is another certificate.
func TestMutations(t *testing.T) {
	const seed = 20251122
	r := rand.New(rand.NewPCG(seed, 0))
	every := 40 // mutant of that many
	if effort.Nightly() {
		every = 1
	}
	rejected, of := make(map[string]int), make(map[string]bool)
	for _, s := range samples(t) {
		for _, v := range s.certificate.Proven {
			of[v.Rule+" "+v.Verdict] = true
		}
		if err := verify(s.history, s.commands, s.text); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		for kind, text := range mutants(t, r, s) {
			if r.IntN(every) > 0 {
				continue
			}
			if verify(s.history, s.commands, text) == nil {
				t.Errorf("%s: accepted although %s:\n%s", s.name, kind, text)
			}
			rejected[kind]++
		}
		for kind, history := range otherHistories(r, s.history) {
			if verify(history, s.commands, s.text) == nil {
				t.Errorf("%s: accepted although %s", s.name, kind)
			}
			rejected[kind]++
		}
		if s.certificate.Commands == nil {
			continue
		}
		for kind, commands := range otherCommands(r, s.commands) {
			if verify(s.history, commands, s.text) == nil {
				t.Errorf("%s: accepted although %s", s.name, kind)
			}
			rejected[kind]++
		}
	}
	sum := 0
	for _, kind := range slices.Sorted(maps.Keys(rejected)) {
		t.Logf("%6d rejected: %s", rejected[kind], kind)
		sum += rejected[kind]
	}
	if least := effort.Count(500, 10_000); sum < least || len(rejected) < 15 || len(of) < 2*len(rules()) {
		t.Errorf("%d mutations of %d kinds, of %d verdicts, want %d of 15, of %d", sum, len(rejected), len(of), least, 2*len(rules()))
	}
	t.Logf("%d mutations of %d kinds, of certificates of %d verdicts of rules, seed %d", sum, len(rejected), len(of), seed)
}

// mutants yields changed certificates, each with what was changed.
func mutants(t testing.TB, r *rand.Rand, s sample) func(func(string, []byte) bool) {
	return func(yield func(string, []byte) bool) {
		var tree any
		in := json.NewDecoder(bytes.NewReader(s.text))
		in.UseNumber()
		if err := in.Decode(&tree); err != nil {
			t.Fatal(err)
		}
		emit := func(kind string) bool {
			text, err := json.Marshal(tree)
			if err != nil {
				t.Fatal(err)
			}
			return yield(kind, text)
		}
		if !walk(tree, "", func(any) {}, emit) {
			return
		}
		for range effort.Count(40, 400) {
			cut := s.text[:r.IntN(len(s.text)-2)]
			if !yield("cut", cut) {
				return
			}
			flipped := slices.Clone(s.text)
			flipped[r.IntN(len(flipped))] ^= 1 << r.IntN(8)
			if c, err := certificate.Read(bytes.NewReader(flipped)); err == nil && sameClaims(c, s.certificate) {
				continue
			}
			if !yield("a bit was flipped", flipped) {
				return
			}
		}
		yield("something follows", append(slices.Clone(s.text), "{}"...))
	}
}

// sameClaims reports whether two certificates claim the same. Of one claim there are many explanations,
// as a call may take effect at any time that contradicts no answer: package certificate tests which
// are accepted.
func sameClaims(a, b certificate.Certificate) bool {
	a.Unproven, b.Unproven = nil, nil
	b.Terms = a.Terms // on others it is another claim, and verified as one
	a.Explanations, b.Explanations = withoutEffects(a.Explanations), withoutEffects(b.Explanations)
	return reflect.DeepEqual(a, b)
}

func withoutEffects(all []certificate.Explanation) []certificate.Explanation {
	all = slices.Clone(all)
	for i := range all {
		all[i].Effects = nil
	}
	return all
}

// walk changes one place of a tree at a time, emits it, and changes it back. set replaces node in the tree.
func walk(node any, path string, set func(any), emit func(kind string) bool) bool {
	try := func(kind string, value any) bool {
		set(value)
		ok := emit(kind)
		set(node)
		return ok
	}
	switch x := node.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(x)) {
			if path == "" && (name == "unproven" || name == "terms") {
				continue
			}
			value := x[name]
			if !walk(value, path+"/"+name, func(v any) { x[name] = v }, emit) {
				return false
			}
			if empty(value) {
				continue
			}
			delete(x, name)
			ok := emit("a field is dropped: " + name)
			x[name] = value
			if !ok {
				return false
			}
		}
		x["more"] = json.Number("1")
		ok := emit("an unknown field")
		delete(x, "more")
		return ok
	case []any:
		return walkList(x, path, emit, try)
	case json.Number:
		for kind, n := range map[string]string{"one more": plus(x, 1), "one less": plus(x, -1), "zero": "0", "negative": fmt.Sprint(-value(x)), "a fraction": string(x) + ".5", "huge": "9223372036854775807"} {
			if n != string(x) && !try("a number is "+kind, json.Number(n)) {
				return false
			}
		}
	case string:
		for kind, s := range map[string]string{"longer": x + "a", "empty": "", "cut": x[:len(x)/2], "upper case": strings.ToUpper(x), "reversed": reversed(x)} {
			if s != x && !try("a text is "+kind, s) {
				return false
			}
		}
	}
	return true
}

func walkList(x []any, path string, emit func(string) bool, try func(string, any) bool) bool {
	for i, value := range x {
		if !walk(value, path+"/", func(v any) { x[i] = v }, emit) {
			return false
		}
		claim := path == "/proven" || path == "/explanations" // fewer of them, or in another order
		if !claim && !try("an element is dropped: "+path, slices.Delete(slices.Clone(x), i, i+1)) {
			return false
		}
		if !try("an element is there twice: "+path, slices.Insert(slices.Clone(x), i, value)) {
			return false
		}
		if i > 0 && !claim && !reflect.DeepEqual(x[i-1], value) {
			swapped := slices.Clone(x)
			swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
			if !try("two elements are swapped: "+path, swapped) {
				return false
			}
		}
	}
	return true
}

// empty reports whether a field may as well be absent.
func empty(value any) bool {
	switch x := value.(type) {
	case json.Number:
		return x == "0"
	case string:
		return x == ""
	case []any:
		return true // dropped is what fewer elements are, and fewer claims
	}
	return false
}

func plus(n json.Number, d int64) string {
	i, err := n.Int64()
	if err != nil {
		return "0"
	}
	return fmt.Sprint(i + d)
}

func value(n json.Number) int64 {
	i, _ := n.Int64() // 0 of what is none
	return i
}

func reversed(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// otherCommands yields changed commands, each with what was changed.
func otherCommands(r *rand.Rand, commands []byte) func(func(string, []byte) bool) {
	return func(yield func(string, []byte) bool) {
		lines := bytes.SplitAfter(commands, []byte{'\n'})
		flipped := slices.Clone(commands)
		flipped[r.IntN(len(flipped))] ^= 1
		_ = yield("the commands have another bit", flipped) &&
			yield("the commands are longer by a newline", append(slices.Clone(commands), '\n')) &&
			yield("the commands are cut", commands[:len(commands)/2]) &&
			yield("the commands lack the last", bytes.Join(lines[:len(lines)-2], nil)) &&
			yield("the commands are edited", bytes.Replace(commands, []byte(`"reply":"1"`), []byte(`"reply":"0"`), 1)) &&
			yield("the commands are empty", []byte{}) &&
			yield("the commands are text", []byte("hello\n")) &&
			yield("there are no commands", nil)
	}
}

// otherHistories yields changed histories, each with what was changed.
func otherHistories(r *rand.Rand, history []byte) func(func(string, []byte) bool) {
	return func(yield func(string, []byte) bool) {
		lines := bytes.SplitAfter(history, []byte{'\n'})
		flipped := slices.Clone(history)
		flipped[r.IntN(len(flipped))] ^= 1
		_ = yield("the history has another bit", flipped) &&
			yield("the history is longer by a newline", append(slices.Clone(history), '\n')) &&
			yield("the history is cut", history[:len(history)/2]) &&
			yield("the history lacks its last event", bytes.Join(lines[:len(lines)-2], nil)) &&
			yield("the history is empty", nil) &&
			yield("the history is text", []byte("hello\n"))
	}
}

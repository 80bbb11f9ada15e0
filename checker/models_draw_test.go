package checker

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestVisualiseModel checks that the violation of every model in the corpus is drawn, with what
// proves it and the state that it met, and the same way each time.
func TestVisualiseModel(t *testing.T) {
	for _, s := range modelScenarios {
		if !strings.Contains(s.file, "-bad-") {
			continue
		}
		t.Run(s.file, func(t *testing.T) {
			model, _, _ := promise(t, s.file)
			events := logged(t, s.history)
			res := CheckModel(t.Context(), events, model, Options{}).Result(Linearizability)
			var one, two strings.Builder
			if err := errors.Join(VisualiseModel(&one, events, model, res), VisualiseModel(&two, events, model, res)); err != nil {
				t.Fatal(err)
			}
			if one.String() != two.String() {
				t.Error("drawn twice, the same violation gives two pages")
			}
			for i := 0; i < len(res.Witness); i += 2 {
				want := fmt.Sprintf("events %d to %d.", res.Witness[i], res.Witness[i+1])
				if !strings.Contains(one.String(), want) {
					t.Errorf("the drawing has no %s", want)
				}
			}
		})
	}
}

// TestVisualiseModelBounded checks that of a long history what proves the violation is drawn,
// that names from it stay text, and that what is no violation is not drawn.
func TestVisualiseModelBounded(t *testing.T) {
	var log strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&log, "0 :invoke :write [1 %d]\n0 :ok :write [1 %[1]d]\n", i)
	}
	log.WriteString("0 :invoke :write [2 \"</script><b>\"]\n0 :ok :write [2 \"</script><b>\"]\n")
	log.WriteString("1 :invoke :read [2 nil]\n1 :ok :read [2 nil]\n")
	log.WriteString("1 :invoke :read [1 nil]\n1 :ok :read [1 nil]\n")
	for i := range 3000 {
		fmt.Fprintf(&log, "1 :invoke :read [1 nil]\n1 :ok :read [1 %d]\n", i)
	}
	events := logged(t, log.String())
	res := CheckModel(t.Context(), events, Register, unhurried()).Result(Linearizability)
	var b strings.Builder
	if err := VisualiseModel(&b, events, Register, res); err != nil {
		t.Fatal(err)
	}
	if b.Len() > mostDrawnBytes || !strings.Contains(b.String(), "read nil") {
		t.Errorf("%d bytes", b.Len())
	}
	keyTwo := res
	keyTwo.Witness = []int{6000, 6001, 6002, 6003}
	b.Reset()
	if err := VisualiseModel(&b, events, Register, keyTwo); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "<b>") {
		t.Error("a value became markup")
	}
	for name, spoil := range map[string]func(*Result){
		"holds": func(r *Result) { r.Verdict = Pass }, "no witness": func(r *Result) { r.Witness = nil },
		"another property": func(r *Result) { r.Property = Ownership }, "no call": func(r *Result) { r.Witness = []int{99_999} },
		"no proof": func(r *Result) { r.Witness = []int{0, 1} },
	} {
		wrong := res
		spoil(&wrong)
		if err := VisualiseModel(&b, events, Register, wrong); !errors.Is(err, ErrNothingToDraw) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

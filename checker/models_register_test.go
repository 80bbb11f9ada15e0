package checker

import "testing"

// TestInitially checks what a register holds at first: of independent keys each of them.
func TestInitially(t *testing.T) {
	const one = `
		0 :invoke :read nil
		0 :ok :read 5
		0 :invoke :cas [5 6]
		0 :ok :cas [5 6]`
	const keys = `
		0 :invoke :read [1 nil]
		0 :ok :read [1 5]
		0 :invoke :read [2 nil]
		0 :ok :read [2 5]`
	for _, test := range []struct {
		history, initial string
		want             Verdict
	}{
		{one, "5", Pass}, {one, "6", Fail}, {one, "", Fail}, {one, "nil", Fail}, {keys, "5", Pass}, {keys, "nil", Fail},
		{`
			0 :invoke :read nil
			0 :ok :read nil`, "nil", Pass},
		{`
			0 :invoke :read nil
			0 :ok :read :a:b`, ":a:b", Pass},
	} {
		model, err := Register.Initially(test.initial)
		if err != nil || model.Valid() != nil || model.Family() != Register {
			t.Fatalf("model %q, %v", model, err)
		}
		if got := CheckModel(t.Context(), logged(t, test.history), model, Options{}); got.Verdict != test.want {
			t.Errorf("initially %q: %v, want %v: %v", test.initial, got.Verdict, test.want, got)
		}
	}
	for _, model := range Models() {
		if _, err := model.Initially("5"); (err == nil) != (model == Register) {
			t.Errorf("%s: %v", model, err)
		}
	}
}

package histories

import "testing"

func TestTypeText(t *testing.T) {
	for typ, name := range map[Type]string{Info: "info", Invoke: "invoke", OK: "ok", Fail: "fail"} {
		text, err := typ.MarshalText()
		if err != nil || string(text) != name || typ.String() != name {
			t.Errorf("%d: MarshalText %q, %v; String %q; want %q", typ, text, err, typ, name)
		}
		got := Type(77)
		if err := got.UnmarshalText([]byte(name)); err != nil || got != typ {
			t.Errorf("UnmarshalText(%q) = %v, %v, want %v", name, got, err, typ)
		}
	}
}

func TestTypeTextUnknown(t *testing.T) {
	for _, text := range []string{"okay", "", "OK", "Type(4)", "ok\n"} {
		got := Fail
		if err := got.UnmarshalText([]byte(text)); err == nil || got != Fail {
			t.Errorf("UnmarshalText(%q) = %v, %v, want an error and no change", text, got, err)
		}
	}
	var typ Type
	wantErr(t, typ.UnmarshalText([]byte("okay")), `"type" is "okay", want invoke, ok, fail or info`)
	_, err := (Fail + 1).MarshalText()
	wantErr(t, err, `"type" is "Type(4)", want invoke, ok, fail or info`)
}

func TestWorkerName(t *testing.T) {
	for worker, want := range map[int]string{Nemesis: "nemesis", 0: "A", 25: "Z", 26: "client 27"} {
		if got := WorkerName(worker); got != want {
			t.Errorf("worker %d is %q, want %q", worker, got, want)
		}
	}
}

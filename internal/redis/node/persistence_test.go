package node

import "testing"

func TestGrowing(t *testing.T) {
	const base = "file appendonly.aof.2.base.rdb seq 2 type b\n"
	for manifest, want := range map[string]string{
		base + "file appendonly.aof.2.incr.aof seq 2 type i\n":                                                     "appendonlydir/appendonly.aof.2.incr.aof",
		base + "file appendonly.aof.2.incr.aof seq 2 type i\nfile appendonly.aof.3.incr.aof seq 3 type i\n":        "appendonlydir/appendonly.aof.3.incr.aof",
		"file appendonly.aof.1.incr.aof seq 1 type h\nfile appendonly.aof.2.incr.aof seq 2 type i startoffset 0\n": "appendonlydir/appendonly.aof.2.incr.aof",
		base: "",
		"":   "",
	} {
		got, err := growing(manifest)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", manifest, got, err, want)
		}
	}
}

func TestDifference(t *testing.T) {
	for now, want := range map[int64]string{10: "0 bytes of its AOF", 11: "1 byte of its AOF", 30: "20 bytes of its AOF", 9: ""} {
		got, err := difference(now, 10)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%d from 10: got %q, %v, want %q", now, got, err, want)
		}
	}
}

package locks

import (
	"crypto/sha1"
	"encoding/hex"
	"testing"
)

func TestScriptDigests(t *testing.T) {
	for _, s := range scripts() {
		sum := sha1.Sum([]byte(s.lua))
		if got := hex.EncodeToString(sum[:]); got != s.sha1 {
			t.Errorf("%s: sha1 is %q, want %q: the digest of its Lua text", s.name, s.sha1, got)
		}
	}
}

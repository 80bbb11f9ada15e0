package words_test

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/words"
)

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		words.Count(1, "update"):               "1 update",
		words.Count(0, "update"):               "0 updates",
		words.Times(1):                         "once",
		words.Times(2):                         "2 times",
		words.Seconds(14 * time.Millisecond):   "0.014 s",
		words.Seconds(-14 * time.Millisecond):  "-0.014 s",
		words.Instant(14 * time.Millisecond):   "0.014",
		words.Instant(83*time.Second + 1):      "83.000",
		words.Rounded(9760 * time.Millisecond): "9.8 s",
		words.Rounded(98 * time.Second):        "98 s",
		words.Rounded(200_400_000_000):         "3m20s",
		words.Capital("a read"):                "A read",
		words.Capital("écrit"):                 "Écrit",
		words.Capital("锁 a"):                   "锁 a",
		words.Capital(""):                      "",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

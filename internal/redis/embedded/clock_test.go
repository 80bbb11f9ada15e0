package embedded_test

import (
	"strconv"
	"testing"
	"time"
)

func TestSetClock(t *testing.T) {
	in(t, single, func(w *world) {
		w.want("OK", "master", "SET", "k", "v", "PX", "10000")
		w.must(w.SetClock(ctx, "master", -time.Hour, 1))
		w.sleep(time.Minute)
		w.want("v", "master", "GET", "k")
		w.must(w.SetClock(ctx, "master", -time.Hour, 100))
		w.sleep(35 * time.Second)
		w.want("v", "master", "GET", "k") // 58 minutes by its clock
		w.sleep(2 * time.Second)
		w.want("", "master", "GET", "k")
	})
}

func TestAClockThatIsSetRight(t *testing.T) {
	in(t, single, func(w *world) {
		w.want("OK", "master", "SET", "early", "v", "PX", "10000")
		w.want("OK", "master", "SET", "late", "v", "PX", "100000")
		w.must(w.SetClock(ctx, "master", time.Minute, 1))
		w.must(w.SetClock(ctx, "master", 0, 1))
		w.want("", "master", "GET", "early") // what has expired stays gone
		w.sleep(90 * time.Second)
		w.want("v", "master", "GET", "late") // and the others have lost nothing
		w.sleep(11 * time.Second)
		w.want("", "master", "GET", "late")
	})
}

func TestARestartedNodeHasTheRightClock(t *testing.T) {
	in(t, single, func(w *world) {
		w.must(w.SetClock(ctx, "master", time.Hour, 2))
		w.must(w.Kill(ctx, "master"))
		if err := w.SetClock(ctx, "master", 0, 1); err == nil {
			t.Error("the clock of a dead node was set")
		}
		w.must(w.Restart(ctx, "master"))
		reply, err := w.Do(ctx, "master", "TIME")
		w.must(err)
		if got, want := reply.Elems[0].Text(), time.Now().Unix(); got != strconv.FormatInt(want, 10) {
			t.Errorf("TIME is %s, want %d", got, want)
		}
		if err := w.SetClock(ctx, "master", 0, 0); err == nil {
			t.Error("a clock was made to stand still")
		}
	})
}

// Package locktest tests a distributed lock over Redis in the go test of its own library, in seconds
// and with no Redis.
//
//	func TestMyLock(t *testing.T) {
//		locktest.Run(t, locktest.Lock{New: func(w locktest.World) (locks.Locker, error) {
//			return mylock.New(redis.NewClient(w.Options())), nil
//		}})
//	}
//
// [Run] holds the lock to the contract of locks, and plays every pitfall of the catalogue that
// concerns it, each as a subtest: several clients use the lock, something goes wrong at an exact point
// (a pause, a crash, a lost reply, a failover), every call is recorded, and judges look at the record.
// The servers are in the test's own process and time is virtual, so that a lease of 30 s costs
// milliseconds and the same code gives the same result. [On] plays on real servers.
//
// A test fails for what is the lock's own fault: what another lock of its class keeps under the same
// steps. What no lock of its class survives, such as the loss of the only master, is logged once.
// [Accept] accepts a finding with a reason, and fails when it is no longer found.
//
// [Explore] looks for schedules that break the lock and that nobody wrote, [Fuzz] lets go test -fuzz
// choose them, and both write what they find to testdata/lockbench, where [Replay] plays it again.
//
// # What a lock must be like
//
// Time is virtual by testing/synctest. The package makes a bubble for each run, so that none of its
// funcs may be called inside another bubble. A lock under test may use goroutines, timers, channels and
// mutexes as it likes, with these limits:
//
//   - It reaches its servers by [World.Dial] or [World.Options] alone. A socket of its own is outside of
//     virtual time.
//   - It holds no sync.Mutex across a call to a server, if another goroutine waits for that mutex:
//     virtual time cannot move then. The test says so. On real servers there is no such limit.
//   - Its goroutines end when its Close is called, or when their connections are closed. The test tells
//     of those that do not.
//
// A call that does not return within ten seconds after the deadline of its context is abandoned, and
// is told as a violation of availability with the stack of its goroutine.
package locktest

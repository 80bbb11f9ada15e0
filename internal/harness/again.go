package harness

// mostLonger is how many times as long as they were meant to be leases are at most in a run that is played again.
const mostLonger = 8

// Again returns the run to play when a busy machine has spoilt run after run of c, n of them, from 1 on. The second run is c itself. From
// the third on leases are twice as long each time, up to eight times as long as they were meant to be: a standstill is a smaller part of
// them. In virtual time, where nothing is busy, and with a lock of several masters, whose clients have time-outs of their own, it is c.
func (c Config) Again(n int) Config {
	if c.Backend.orDefault().Virtual() || c.Lock.Masters > 1 {
		return c
	}
	for longer := 2; n > 1 && longer <= mostLonger; n, longer = n-1, 2*longer {
		c.TTL *= 2
	}
	return c
}

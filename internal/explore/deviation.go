package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/schedule"
	"github.com/lockbench/lockbench/locks"
)

// Point is a command that a client sends: where a program can be made to go another way.
type Point struct {
	Client string
	Call   int    // of the client, from 1 on; 0: its clients share connections, and it is not known whose it is
	Server string // as schedules write it
	What   string // the command's name as schedules write it; empty: whatever it was, it and its reply are over
	Nth    int    // of those of that name, in the call and to the server
}

// Deviation is something that happens when a command is sent, or when its reply is under way.
type Deviation struct {
	Point
	Reply bool
	Since int // how many commands of that name its client had sent in the call when the deviation before it began
	Act   Act
}

// String tells the deviation.
func (d Deviation) String() string {
	if d.What == "" {
		return fmt.Sprintf("%s when %s's call %d has ended", d.Act.Name, d.Client, d.Call)
	}
	edge := "the request of"
	if d.Reply {
		edge = "the reply to"
	}
	text := fmt.Sprintf("%s at %s %s's %s", d.Act.Name, edge, d.Client, d.What)
	switch d.Server {
	case schedule.Register:
		text += " on the register"
	case another:
		text += " on another master"
	}
	if d.Call > 0 {
		text += fmt.Sprintf(" in call %d", d.Call)
	}
	return text
}

// Act is what a deviation does.
type Act struct {
	Name string
	// kind is what is the same about acts of different lengths: what one of them can do to a lock the other may do by chance. Empty: Name.
	kind string
	// request and reply say at which side of a command it can be done.
	request, reply bool
	register       bool   // it can be done at commands to the register
	replicas       int    // that it needs
	lasts          bool   // it happens to servers, or goes on after the call, so that it does not matter in the midst of which call it begins
	masters        int    // of independent ones, to how many it happens; 0: to one
	halts          bool   // the client, until the end of the call is waited for
	breaks         bool   // the connection, and what is held on it does not go on
	restarts       bool   // the server, which then has the right clock
	jumps          string // the clock that it moves, for good; empty: none
	clocks         bool   // the clocks of servers must be such that they can be set
	expiry         bool   // it does nothing to keys that never expire
	thread         bool   // it happens to one of several threads of a process
	// action takes the place of a hold; empty: the command is held until the act has begun.
	action schedule.Action
	// steps are done while the command is held. Nil: none.
	steps func(d Deviation) (before, after []schedule.Step)
}

// span is a number of leases.
func span(ttls float64) *schedule.Span { return &schedule.Span{TTLs: ttls} }

func sleep(ttls float64) schedule.Step {
	return schedule.Step{Verb: schedule.Sleep, For: span(ttls)}
}

// short, long and hang are for how long something lasts: less than a lease, longer than one, and longer than anybody waits.
const (
	short = 0.3
	long  = 1.3
	hang  = 8
)

// fast and slow are how many times as fast as it should the clock of a server runs.
const (
	fast = 2
	slow = 0.5
)

// The faults of clocks.
const (
	serverClockFault = "clock"
	clientClockFault = "client-clock"
)

// Acts lists what can be done at a command.
func Acts() []Act {
	delay := func(ttls float64) Act {
		return Act{
			Name: fmt.Sprintf("delay %gT", ttls), kind: "delay", request: true, reply: true, register: true,
			steps: func(Deviation) (before, after []schedule.Step) { return []schedule.Step{sleep(ttls)}, nil },
		}
	}
	return []Act{
		delay(short),
		delay(long),
		{Name: "lose", reply: true, action: schedule.Lose},
		{Name: "twice", reply: true, action: schedule.Twice},
		onClient("pause", long),
		{Name: "crash", request: true, reply: true, breaks: true, steps: func(d Deviation) (before, after []schedule.Step) {
			return []schedule.Step{{Verb: schedule.Start, What: schedule.KillClient, Who: []string{d.Client}}}, nil
		}},
		onClient("partition", long),
		onServer("restart", 0),
		onServer("restart-aof", 0),
		onServer("stall", long),
		named("hang", onServer("stall", hang)),
		onMasters(minority, "stall", long),
		onMasters(majority, "restart", 0),
		named("down, a majority", onMasters(majority, "restart-aof", short)), // what was written is there again after it
		onMasters(majority, "stall", long),
		clock(long),
		clock(-long),
		clientClock(long),
		clientClock(-long),
		{Name: "failover", lasts: true, request: true, reply: true, replicas: 1, steps: func(Deviation) (before, after []schedule.Step) {
			return nil, []schedule.Step{{Verb: schedule.Start, What: "failover"}} // which waits until all connections are gone
		}},
		{Name: "script-flush", lasts: true, reply: true, steps: func(Deviation) (before, after []schedule.Step) {
			return []schedule.Step{{Verb: schedule.Start, What: "script-flush"}}, nil
		}},
		{Name: "evict", lasts: true, reply: true, steps: func(d Deviation) (before, after []schedule.Step) {
			return []schedule.Step{{Verb: schedule.Start, What: "evict", On: []string{d.Server}}}, nil
		}},
		onServer("squatter", short),
		onMasters(majority, "squatter", short),
		clockRate(fast),
		clockRate(slow),
		onThread("pause-thread", "A"),
		onThread("pause-thread of another thread", "B"),
	}
}

// onClient is a fault of the client, which begins before the command goes on and lasts for so long.
func onClient(fault string, ttls float64) Act {
	return Act{Name: fault, request: true, reply: true, register: true, halts: fault == "pause", breaks: fault == "partition", steps: func(d Deviation) (before, after []schedule.Step) {
		who := []string{d.Client}
		return []schedule.Step{{Verb: schedule.Start, What: fault, Who: who}},
			[]schedule.Step{sleep(ttls), {Verb: schedule.Stop, What: fault, Who: who}}
	}}
}

// onServer is a fault of the server to which the command is sent.
func onServer(fault string, ttls float64) Act {
	restarts := strings.HasPrefix(fault, "restart")
	return Act{Name: fault, lasts: true, request: fault != "squatter", reply: fault != "stall", breaks: restarts, restarts: restarts, steps: func(d Deviation) (before, after []schedule.Step) {
		return lasting(fault, []string{d.Server}, ttls)
	}}
}

// The sets of five independent masters to which something happens: as many as a lock may lose, and one more.
const (
	minority = 2
	majority = 3
)

// onMasters is a fault of so many of five independent masters, of which the first is one.
func onMasters(n int, fault string, ttls float64) Act {
	act := onServer(fault, ttls)
	act.Name, act.masters = fault+" of a minority", n
	if n == majority {
		act.Name = fault + " of a majority"
	}
	on := []string{"1", another, "3"}[:n]
	act.steps = func(Deviation) (before, after []schedule.Step) { return lasting(fault, on, ttls) }
	return act
}

// named is an act that has another name than its fault.
func named(name string, act Act) Act {
	act.Name = name
	return act
}

// lasting are the steps of a fault of servers that lasts for so long, or that is over at once.
func lasting(fault string, on []string, ttls float64) (before, after []schedule.Step) {
	start, stop := schedule.Step{Verb: schedule.Start, What: fault, On: on}, schedule.Step{Verb: schedule.Stop, What: fault, On: on}
	if ttls == 0 {
		return []schedule.Step{start, stop}, nil
	}
	return []schedule.Step{start}, []schedule.Step{sleep(ttls), stop}
}

// clock lets the clock of the server jump, for good.
func clock(ttls float64) Act {
	return Act{Name: fmt.Sprintf("clock %gT", ttls), lasts: true, jumps: serverClockFault, reply: true, steps: func(d Deviation) (before, after []schedule.Step) {
		return []schedule.Step{{Verb: schedule.Start, What: serverClockFault, On: []string{d.Server}, By: span(ttls)}}, nil
	}}
}

// clockRate lets the clock of the server run too fast or too slow, for good.
func clockRate(times float64) Act {
	return Act{Name: fmt.Sprintf("clock-rate %g", times), kind: "clock-rate", lasts: true, jumps: serverClockFault, clocks: true, expiry: true, reply: true, steps: func(d Deviation) (before, after []schedule.Step) {
		return []schedule.Step{{Verb: schedule.Start, What: "clock-rate", On: []string{d.Server}, Times: times}}, nil
	}}
}

// onThread stops a thread of the process that sends the command, whichever of its threads does.
func onThread(name, thread string) Act {
	return Act{Name: name, kind: "pause-thread", request: true, reply: true, register: true, halts: true, thread: true, steps: func(Deviation) (before, after []schedule.Step) {
		who := []string{thread}
		return []schedule.Step{{Verb: schedule.Start, What: "pause-thread", Who: who}},
			[]schedule.Step{sleep(long), {Verb: schedule.Stop, What: "pause-thread", Who: who}}
	}}
}

// clientClock lets the clock of the client jump, for good.
func clientClock(ttls float64) Act {
	return Act{Name: fmt.Sprintf("client-clock %gT", ttls), lasts: true, jumps: clientClockFault, reply: true, steps: func(d Deviation) (before, after []schedule.Step) {
		return []schedule.Step{{Verb: schedule.Start, What: clientClockFault, Who: []string{d.Client}, By: span(ttls)}}, nil
	}}
}

// rule is the step that meets the command.
func (d Deviation) rule() schedule.Step {
	action := d.Act.action
	if action == "" {
		action = schedule.Hold
	}
	step := schedule.Step{Verb: schedule.At, Who: []string{d.Client}, Op: d.Call, What: d.What, Nth: d.Nth, Reply: d.Reply, Action: action}
	if d.Server != "1" {
		step.On = []string{d.Server}
	}
	return step
}

// steps are what is done when the command has been met, until it is let go, and after that.
func (d Deviation) steps() (met, rest []schedule.Step) {
	if d.Act.steps == nil {
		return nil, nil
	}
	who := []string{d.Client}
	before, after := d.Act.steps(d)
	met = append([]schedule.Step{{Verb: schedule.Wait, What: schedule.Held, Who: who}}, before...)
	if !d.Act.breaks || d.Server == schedule.Register { // which is reached whatever happens to the lock's servers
		met = append(met, schedule.Step{Verb: schedule.LetGo, Who: who, Free: true})
	}
	return met, after
}

// another is the master to which a second thing happens if it does not happen to that of the first.
const another = "2"

// allowed reports whether the deviation can be done at the point of a program of a lock, at the first master or at some other one.
// Independent masters are alike: what happens to one of them happens to the first, and what happens then to another one to the second.
func (d Deviation) allowed(p Program, lock locks.Spec, server string) bool {
	switch {
	case d.Server == schedule.Register && !d.Act.register, d.Act.masters > 0 && (lock.Masters <= minority || d.Server != "1"), d.Server != server && d.Server != schedule.Register:
		return false
	case d.Act.expiry && lock.Promises.NoLease, d.Act.thread && (p.Threads < 2 || d.Client != p.Names()[0]):
		return false
	case d.Act.jumps != "" && slices.ContainsFunc(p.Steps, func(s schedule.Step) bool { return s.Verb == schedule.Start && s.What == d.Act.jumps }):
		return false // it does what has been done from the beginning
	case d.Reply:
		return d.Act.reply
	}
	return d.Act.request
}

// at are all deviations that begin at a point of the program of a lock, if it goes to this server or to the register.
func (p Program) at(at Point, lock locks.Spec, server string) (all []Deviation) {
	for _, act := range Acts() {
		for _, reply := range []bool{false, true} {
			if d := (Deviation{Point: at, Reply: reply, Act: act}); d.allowed(p, lock, server) {
				all = append(all, d)
			}
		}
	}
	return all
}

package picture

import (
	"fmt"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/internal/story"
)

// register draws what the protected register saw.
func (b *builder) register() {
	for _, o := range b.ops {
		if o.Fault() || !story.Section(o.Invoke.F) || !o.Done || o.Complete.Type == histories.Fail && o.Invoke.F == histories.Read {
			continue
		}
		l := b.lane(registerLane, story.Register)
		l.sub = b.in.Say("protected")
		e := o.Complete
		m := &mark{row: callRow, class: "seen " + outcomeClass(e.Type), from: b.clip(e.Time), to: b.clip(e.Time), event: e.Index, last: -1,
			who: histories.WorkerName(e.Worker), key: keyName(e.Key), f: string(e.F), title: b.telling(o.Invoke, e, false)}
		who := m.who
		switch {
		case e.Type == histories.Fail:
			m.label, m.class = b.in.Sayf("%s's %s is refused", who, b.in.Say(brief(string(e.F), 12))), m.class+" write"
		case e.Type == histories.Info:
			m.label, m.class = b.in.Sayf("%s's %s: unknown", who, b.in.Say(brief(string(e.F), 12))), m.class+" write"
		case e.F == histories.Read:
			m.label, m.class = b.in.Sayf("%s sees v%d", who, e.Version), m.class+" read"
		default:
			m.label, m.class = fmt.Sprintf("%s: v%d = %s", who, e.Version+1, brief(e.Value, 12)), m.class+" write"
		}
		if b.many {
			m.label += " · " + brief(e.Key, 20)
		}
		l.marks = append(l.marks, m)
	}
}

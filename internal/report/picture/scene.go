package picture

import (
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/language"
	"github.com/lockbench/lockbench/internal/report"
)

// A scene is what a picture shows, before it has places.
type scene struct {
	in       language.Language
	part     bool   // not all events of the run are drawn
	shown    string // which events are drawn, in a sentence
	from, to time.Duration
	end      time.Duration // of the run, if the picture goes on behind it; else 0
	lanes    []*lane
	wrongs   []wrong
	arrows   []arrow
	axis     axis
	height   float64
	labels   float64 // width of the lanes' names
}

// A kind of lane.
type kind uint8

const (
	faultLane kind = iota
	clientLane
	nodeLane
	registerLane
)

// A lane is a row of the picture: a client, a server, the register or the faults.
type lane struct {
	kind  kind
	name  string
	sub   string // what it is
	marks []*mark
	bands []*mark // over the whole lane
	rows  [rowKinds]int
	said  string // the last label
	y, h  float64
}

// A row of a lane. Each has as many levels as it needs.
type row uint8

const (
	labelRow row = iota // labels of the calls
	callRow
	holdRow
	tickRow
	underRow // labels of the ticks
	rowKinds
)

// A mark is one thing that is drawn in a lane.
type mark struct {
	row      row
	level    int
	class    string // how it looks
	from, to time.Duration
	label    string // beside it, or within a bar
	short    string // if there is no room for the label
	title    string // all that is known
	event    int    // -1: none
	last     int    // the event that completes it; -1: none
	who      string
	key      string
	f        string
	hidden   bool // the label found no room
	at       int  // level of the label
}

// newScene lays out a run.
func newScene(r report.Run, most int) *scene {
	s := &scene{in: r.Language}
	events, shown := window(r, most)
	s.shown, s.part = shown, len(events) < len(r.Events) && !r.InPart()
	if len(events) == 0 {
		if s.shown = r.Language.Say("The run recorded no events."); r.InPart() {
			s.shown = r.Language.Say("There is no violation to draw.")
		}
		return s
	}
	b := newBuilder(r, events)
	b.faults()
	b.clients()
	b.nodes()
	b.register()
	s.lanes = b.lanes()
	s.from, s.to, s.end = b.from, b.to, b.end
	s.wrongs, s.arrows = b.wrongs(), b.arrows()
	if len(b.left) > 0 {
		s.shown += " " + sentence(strings.Join(b.left, s.in.Say("; ")), s.in)
	}
	s.place(len(events))
	return s
}

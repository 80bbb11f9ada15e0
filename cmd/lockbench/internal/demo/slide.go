package demo

// slide is what is told at a time, in one language: as much as a reader takes in before the next. It
// does not know how wide a terminal is, nor whether there is one.
type slide struct {
	part   part
	blocks []block
	asks   *quiz // the question that the slide is; nil: it is none
	tells  *quiz // the question that the slide answers; nil: none
}

// part is what of a lesson a slide belongs to.
type part uint8

const (
	opening part = iota
	broken
	fixed
	beside
)

// block is a paragraph, a row of a step, or a line of a table.
type block struct {
	kind  kind
	label string // what stands before text: of a paragraph, a row or a step, or the property of a proof
	mark  string // proof: the steps that prove it. step: the second at which it was done
	text  string
	tone  tone
	wire  bool // row: text is a command

	left, right []cell // pair: what came of a step with the one lock and with the other
}

// kind is what a block looks like.
type kind uint8

const (
	gap     kind = iota // nothing, to part what stands before and after
	para                // text, behind label
	command             // text is a command that is there to be copied
	rule                // the heading of a part
	step                // the heading of a step
	row                 // a row of a step
	proof               // a property that was violated
	pair                // a step in two columns
	heads               // the headings of the two columns
)

// cell is a line of one of two columns.
type cell struct {
	text string
	tone tone
}

// tone is how something is told. It says nothing that its text does not.
type tone uint8

const (
	plain tone = iota
	strong
	quiet
	good
	bad
	asking
)

// quiz is a question with its choices.
type quiz struct {
	text    string
	choices []string
	right   int  // index of the choice that came true in the run; -1: none of them
	again   bool // it was asked before, of the other lock
}

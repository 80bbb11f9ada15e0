package report

// A Plot is one picture and what it says in words.
type Plot struct {
	Name  string // such as latency, unique among the plots of a run
	Title string // plain text
	// SVG is one <svg> element to be put into HTML as it is: it fills the width that it is
	// given, and its text keeps its size. Colours are the page's own, or its CSS variables
	// --plot-1 to --plot-6, --plot-bad and --plot-fault where it sets them. Empty, if the run
	// has not enough to draw.
	SVG string
	// Summary is one sentence of figures, for those who do not see the picture, in plain text.
	// Without a picture it says why there is none.
	Summary string
}

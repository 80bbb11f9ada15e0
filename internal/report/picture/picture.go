// Package picture draws a run: time from left to right, and under each other the faults, what
// each client called and believed, what the servers held, and what the protected register saw.
// It draws what is recorded; it judges nothing, and what is not known it draws as not known.
package picture

import (
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/lockbench/lockbench/internal/report"
)

//go:embed picture.css
var style string

//go:embed picture.js
var script string

// Style is the CSS of pictures, for a page to have once.
func Style() string { return style }

// Script is the JavaScript that makes pictures answer to pointer and keys, for a page to have
// once. Pictures can be read without it.
func Script() string { return script }

// Events and bytes that a picture may have.
const (
	mostEvents = 400
	mostBytes  = 600_000
)

// fit draws a run with as many events as the limit of bytes allows.
func fit(r report.Run, draw func(*scene) string) string {
	r = r.Told()
	for most := mostEvents; ; most /= 2 {
		text := draw(newScene(r, most))
		if len(text) <= mostBytes || most < 2 {
			return text
		}
	}
}

// Figure writes the picture of a run as an HTML figure: what is shown, the controls, an
// overview of the whole run, the picture, and a line that tells the event under the pointer.
// The page needs Style and Script. The error is that of w.
func Figure(w io.Writer, r report.Run) error {
	_, err := io.WriteString(w, fit(r, func(s *scene) string { return figure(s, r) }))
	return err
}

// SVG writes the picture of a run alone, with its style inside. The error is that of w.
func SVG(w io.Writer, r report.Run) error {
	_, err := io.WriteString(w, fit(r, func(s *scene) string { return alone(s, r) }))
	return err
}

func figure(s *scene, r report.Run) string {
	c := &canvas{}
	c.put("<figure class=\"picture\" aria-label=\"%s\">\n<figcaption>%s</figcaption>\n", esc(s.in.Say("Picture of the run")), esc(s.shown))
	s.controls(c)
	if s.part {
		s.strip(c, r)
	}
	if len(s.lanes) == 0 {
		c.put("</figure>\n")
		return c.String()
	}
	c.put("<div class=\"picture-scroll\" style=\"--all:%s\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n", px(s.labels+s.axis.width), esc(s.in.Say("Timeline")))
	c.put(`<svg class="picture-names" preserveAspectRatio="xMinYMin slice" style="--w:%s" width="%s" height="%s" viewBox="0 0 %s %s" aria-hidden="true">`+"\n", px(s.labels), px(s.labels), px(s.height), px(s.labels), px(s.height))
	s.names(c)
	c.put("</svg>\n")
	c.put(`<svg class="picture-plot" style="--w:%s" width="%s" height="%s" viewBox="0 0 %s %s" role="group" aria-label="%s"%s>`+"\n",
		px(s.axis.width), px(s.axis.width), px(s.height), px(s.axis.width), px(s.height), esc(s.in.Sayf("Timeline of %s", brief(r.Scenario, 60))), s.data())
	s.defs(c)
	s.plot(c)
	c.put("</svg>\n</div>\n<ul class=\"picture-legend\">\n")
	for _, w := range s.legend() {
		c.put(`<li><svg width="28" height="16" aria-hidden="true">%s</svg> %s</li>`+"\n", w.draw, esc(w.text))
	}
	c.put("</ul>\n<p class=\"picture-detail\" aria-live=\"polite\"></p>\n</figure>\n")
	return c.String()
}

func alone(s *scene, r report.Run) string {
	c := &canvas{}
	wide, height := s.labels+s.axis.width, s.height
	keys := &canvas{}
	x, y := 14.0, height+8
	for _, w := range s.legend() {
		if x > 14 && x+40+width(w.text) > wide {
			x, y = 14, y+22
		}
		keys.put(`<g transform="translate(%s,%s)">%s<text x="34" y="12">%s</text></g>`+"\n", px(x), px(y), w.draw, w.text)
		x += width(w.text) + 60
	}
	keys.put(`<text class="sub" x="14" y="%s">%s</text>`+"\n", px(y+36), esc(s.shown))
	height = y + 48
	c.put(`<svg xmlns="http://www.w3.org/2000/svg" class="picture picture-alone" width="%s" height="%s" viewBox="0 0 %s %s" role="img">`+"\n",
		px(wide), px(height), px(wide), px(height))
	c.put("<title>%s</title>\n<style>%s</style>\n", esc(s.in.Sayf("Run of %s", brief(r.Scenario, 60))), strings.NewReplacer("<", "", "&", "").Replace(style))
	c.put(`<rect class="paper" width="%s" height="%s"/>`+"\n", px(wide), px(height))
	c.put(`<svg x="%s" width="%s" height="%s" class="picture-plot">`+"\n", px(s.labels), px(s.axis.width), px(s.height))
	s.defs(c)
	s.plot(c)
	c.put("</svg>\n<g class=\"picture-names\">")
	s.names(c)
	c.put("</g>\n%s</svg>\n", keys.String())
	return c.String()
}

// data is the axis for the script.
func (s *scene) data() string {
	var times, places strings.Builder
	for i, t := range s.axis.times {
		fmt.Fprintf(&times, "%s%d", comma(i), t.Nanoseconds())
		fmt.Fprintf(&places, "%s%s", comma(i), px(s.axis.x[i]))
	}
	return fmt.Sprintf(` data-times="%s" data-x="%s"`, times.String(), places.String())
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

func (s *scene) defs(c *canvas) {
	c.put(`<defs><pattern id="picture-hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch-line" width="2" height="7"/></pattern>` +
		`<pattern id="picture-still" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><rect class="still-line" width="2" height="6"/></pattern>` +
		`<pattern id="picture-dead" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><rect class="dead-line" width="1.2" height="6"/></pattern></defs>` + "\n")
}

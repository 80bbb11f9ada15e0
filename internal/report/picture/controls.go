package picture

import (
	"maps"
	"slices"
)

// controls are the switches. They are hidden until the script brings them to life.
func (s *scene) controls(c *canvas) {
	c.put("<div class=\"picture-controls\" hidden=\"hidden\">\n")
	s.choice(c)
	say := func(text string) string { return esc(s.in.Say(text)) }
	c.put(`<span class="picture-zoom" role="group" aria-label="%s"><button type="button" data-do="out" title="%s (-)" aria-label="%[2]s">−</button>`+
		`<button type="button" data-do="in" title="%s (+)" aria-label="%[3]s">+</button>`+
		`<button type="button" data-do="fit" title="%s (0)">%s</button></span>`+
		`<label><input type="checkbox" data-do="scale"/> %s</label>`+"\n",
		say("Zoom"), say("Zoom out"), say("Zoom in"), say("Fit to the page"), say("Fit"), say("to scale"))
	s.filters(c)
	c.put("</div>\n")
}

// choice chooses the violation that is highlighted.
func (s *scene) choice(c *canvas) {
	n := 0
	for _, w := range s.wrongs {
		if w.drawn {
			n++
		}
	}
	if n == 0 {
		return
	}
	c.put("<label class=\"picture-choice\">%s <select data-do=\"violation\">", esc(s.in.Say("Violation")))
	for i, w := range s.wrongs {
		if w.drawn {
			c.put(`<option value="%d">%s</option>`, i, esc(w.name))
		}
	}
	c.put("</select></label><button type=\"button\" data-do=\"show\">%s</button>\n", esc(s.in.Say("Show")))
}

// filters choose whom and what to show.
func (s *scene) filters(c *canvas) {
	var clients []string
	keys, kinds := map[string]bool{}, map[string]bool{}
	for _, l := range s.lanes {
		if l.kind == clientLane {
			clients = append(clients, brief(l.name, 60))
		}
		for _, m := range l.marks {
			if m.key != "" {
				keys[m.key] = true
			}
			kinds[brief(m.f, 40)] = true
		}
	}
	if len(clients) == 0 {
		return
	}
	c.put("<details class=\"picture-filter\"><summary>%s</summary>\n", esc(s.in.Say("Filter")))
	s.boxes(c, s.in.Say("Clients"), "client", clients)
	s.boxes(c, s.in.Say("Keys"), "key", slices.Sorted(maps.Keys(keys)))
	s.boxes(c, s.in.Say("Events"), "f", slices.Sorted(maps.Keys(kinds)))
	c.put("</details>\n")
}

func (s *scene) boxes(c *canvas, legend, field string, values []string) {
	if len(values) == 0 {
		return
	}
	c.put("<fieldset><legend>%s</legend>", esc(legend))
	for _, v := range values {
		c.put(`<label><input type="checkbox" checked="checked" data-filter="%s" value="%s"/> %s</label> `, field, esc(v), esc(s.in.Say(brief(v, 40))))
	}
	c.put("</fieldset>\n")
}

// A swatch explains a shape.
type swatch struct {
	draw, text string
}

// legend explains the shapes that need it.
func (s *scene) legend() []swatch {
	return []swatch{
		{`<g class="belief c0"><rect x="1" y="2" width="26" height="12" rx="3"/></g>`, s.in.Say("a client believes it holds the lock")},
		{`<g class="lease c0"><line x1="1" x2="14" y1="8" y2="8"/></g><g class="lease over c0"><line x1="14" x2="26" y1="8" y2="8"/><path class="end" d="M26 3V13"/></g>`, s.in.Say("its lease, dashed after it let go")},
		{`<g class="held c0"><rect x="1" y="2" width="26" height="12" rx="3"/></g>`, s.in.Say("a server holds the key for that client")},
		{`<g class="held unsure c0"><rect x="1" y="2" width="26" height="12" rx="3"/></g>`, s.in.Say("it may, or nobody knows for how long")},
		{`<g class="call ok c0"><rect x="3" y="4" width="14" height="8" rx="4"/><circle class="glyph" cx="17" cy="8" r="4"/></g>`, s.in.Say("call that worked")},
		{`<g class="call refused c0"><rect x="3" y="4" width="14" height="8" rx="4"/><path class="glyph" d="M13 4L21 12M21 4L13 12"/></g>`, s.in.Say("refused")},
		{`<g class="call unknown c0"><rect x="3" y="4" width="14" height="8" rx="4"/><text class="glyph" x="18" y="12">?</text></g>`, s.in.Say("nobody knows")},
		{`<g class="tick c0"><path d="M14 3L19 12L9 12Z"/></g>`, s.in.Say("command at a server")},
		{`<g class="fault"><rect x="1" y="2" width="26" height="12" rx="3"/></g>`, s.in.Say("fault")},
	}
}

package browsertest

import (
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

//go:embed audit.js
var auditScript string

// Audit returns what keeps people from reading or using the page as it stands on the screen:
// a page wider than the window, text smaller than 11 px, stretched, on top of other text or
// with a contrast of less than 4.5 to 1 to what is behind it, ids that occur twice or are
// referred to and missing, and buttons, links, fields and pictures without a name.
//
// Contrast is measured on what is drawn, not computed from style sheets.
func (p *Page) Audit() []string {
	p.t.Helper()
	faults := Eval[[]string](p, auditScript+".layout()")
	Eval[bool](p, auditScript+".hideText()")
	p.settle()
	background := p.capture(page.CaptureScreenshotParams{CaptureBeyondViewport: new(true), Clip: p.whole()})
	Eval[bool](p, auditScript+".showText()")
	faults = append(faults, Eval[[]string](p, auditScript+".contrast("+quote(base64.StdEncoding.EncodeToString(background))+")")...)
	return append(faults, p.nameless()...)
}

// nameless returns what a screen reader could only call a button or a link.
func (p *Page) nameless() []string {
	p.t.Helper()
	var nodes []*accessibility.Node
	p.do("read the accessibility tree", chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		tree, err := cdp.Call(ctx, t, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		nodes = tree.Nodes
		return err
	}))
	var faults []string
	for _, n := range nodes {
		switch role := text(n.Role); role {
		case "button", "checkbox", "combobox", "Iframe", "image", "img", "graphics-symbol", "link", "listbox", "radio", "region",
			"searchbox", "slider", "spinbutton", "switch", "table", "textbox", "toolbar", "DisclosureTriangle":
			if !n.Ignored && text(n.Name) == "" {
				faults = append(faults, fmt.Sprintf("a %s without a name: %s", role, p.markup(n.BackendDOMNodeID)))
			}
		}
	}
	return faults
}

// markup is the beginning of an element's source.
func (p *Page) markup(id cdp.BackendNodeID) string {
	p.t.Helper()
	var source string
	p.do("read an element", chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		element, err := cdp.Call(ctx, t, dom.GetOuterHTML, dom.GetOuterHTMLParams{BackendNodeID: id})
		source = element.OuterHTML
		return err
	}))
	return source[:min(len(source), 120)]
}

func text(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	var s string
	if json.Unmarshal(v.Value, &s) != nil {
		return string(v.Value)
	}
	return s
}

package browsertest

import (
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// complaints is what a tab has said that no sound page says.
type complaints struct {
	dismiss func() // answers a dialog, for which the page waits

	mu    sync.Mutex
	home  string // scheme and host that the page may ask; empty for a file, which needs nothing
	heard []string
}

// Complaints returns, and forgets, what the page has complained of so far: errors and warnings
// on the console, exceptions that nothing caught, dialogs, requests that failed, and all
// requests for anything but the page, what is in it and, of a page from a server, that server.
func (p *Page) Complaints() []string {
	p.t.Helper()
	Eval[bool](p, "true") // events come before the answer to what is asked after them
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	heard := p.log.heard
	p.log.heard = nil
	return heard
}

// expect is called before a page is loaded.
func (c *complaints) expect(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.home = origin(address)
}

// hear is called with every event of the tab.
func (c *complaints) hear(event any) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		switch e.Type {
		case runtime.ConsoleAPICalledTypeError, runtime.ConsoleAPICalledTypeWarning, runtime.ConsoleAPICalledTypeAssert:
			c.add("console.%s: %s", e.Type, arguments(e.Args))
		}
	case *runtime.EventExceptionThrown:
		d := e.ExceptionDetails
		c.add("exception: line %d: %s %s", d.LineNumber+1, d.Text, arguments([]*runtime.RemoteObject{d.Exception}))
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			c.add("%s %s: %s %s", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if !c.allowed(e.Request.URL, e.Type) {
			c.add("request: %s %s", e.Type, e.Request.URL)
		}
	case *network.EventWebSocketCreated:
		c.add("request: WebSocket %s", e.URL)
	case *network.EventLoadingFailed:
		if !e.Canceled {
			c.add("request failed: %s %s", e.Type, e.ErrorText)
		}
	case *network.EventResponseReceived:
		if e.Response.Status >= 400 {
			c.add("request failed: %s %d %s", e.Type, e.Response.Status, e.Response.URL)
		}
	case *page.EventJavascriptDialogOpening:
		c.add("dialog: %s", e.Message)
		go c.dismiss() // no command may be given in here
	case *inspector.EventTargetCrashed:
		c.add("the page crashed")
	}
}

// allowed reports whether a sound page may ask for address. Pages link to files beside them.
func (c *complaints) allowed(address string, kind network.ResourceType) bool {
	switch scheme, _, _ := strings.Cut(address, ":"); scheme {
	case "data", "blob", "about":
		return true
	case "file":
		return kind == network.ResourceTypeDocument
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.home != "" && origin(address) == c.home
}

func (c *complaints) add(format string, a ...any) {
	const most = 1000 // characters of each
	text := fmt.Sprintf(format, a...)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = append(c.heard, text[:min(len(text), most)])
}

// origin returns scheme and host of an address; nothing for one that has no host.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

func arguments(args []*runtime.RemoteObject) string {
	var texts []string
	for _, a := range args {
		if a == nil {
			continue
		}
		if a.Description != "" {
			texts = append(texts, a.Description)
		} else {
			texts = append(texts, string(a.Value))
		}
	}
	return strings.Join(texts, " ")
}

package demo

import (
	"embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/internal/catalogue"
	"github.com/lockbench/lockbench/internal/schedule"
)

// Language is one that demos can be told in.
type Language struct {
	Name string // en
	// texts are by key. A {name} stands for what is put there.
	texts map[string]string
}

// The texts of a language, one a line: its key, " = ", and the text, which is quoted as in Go if it
// begins or ends with a space. Of what the catalogue says in English there is a text in the other
// languages: of a step under "step." and its line in the schedule, of a lock's title under "lock."
// and its name, and of a demo's reason and note under its own name.
//
//go:embed texts/*.txt
var texts embed.FS

// Languages returns all, English first.
func Languages() []Language {
	all := []Language{{Name: "en"}, {Name: "zh"}}
	for i, l := range all {
		src, err := texts.ReadFile("texts/" + l.Name + ".txt")
		if err != nil {
			panic(err) // the files are part of the program
		}
		all[i].texts = parseTexts(string(src))
	}
	return all
}

func parseTexts(src string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(src) {
		key, text, ok := strings.Cut(strings.TrimSpace(line), " = ")
		if !ok {
			continue
		}
		if unquoted, err := strconv.Unquote(text); err == nil && text[0] == '"' {
			text = unquoted
		}
		all[key] = text
	}
	return all
}

// FindLanguage returns the language with that name, or a *catalogue.UnknownError.
func FindLanguage(name string) (Language, error) {
	return catalogue.Find("language", name, Languages(), func(l Language) string { return l.Name })
}

// text is the text of key, with values in the places of their names, which take turns.
func (l Language) text(key string, namesAndValues ...any) string {
	return fill(l.texts[key], namesAndValues...)
}

func fill(text string, namesAndValues ...any) string {
	var pairs []string
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		pairs = append(pairs, "{"+fmt.Sprint(namesAndValues[i])+"}", fmt.Sprint(namesAndValues[i+1]))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// said returns the text of key, or what the catalogue says in English if the language has none.
func (l Language) said(key, english string) string {
	if text, ok := l.texts[key]; ok {
		return text
	}
	return english
}

// step returns the text of a step.
func (l Language) step(p schedule.Step) string {
	key, names := stepKey(p)
	return fill(l.said("step."+key, p.Sentence()), names...)
}

// stepKey returns the line of a step with {client} for the name of its client, {client2} for that of a
// second one, and so on; and what they stand for.
func stepKey(p schedule.Step) (key string, names []any) {
	who := make([]string, len(p.Who))
	for i, name := range p.Who {
		place := "client"
		if i > 0 {
			place += strconv.Itoa(i + 1)
		}
		who[i] = "{" + place + "}"
		names = append(names, place, name)
	}
	p.Who = who
	return p.String(), names
}

package demo

import (
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/histories"
	"github.com/lockbench/lockbench/locks"
)

// Language is one that demos can be told in.
type Language struct {
	Name string // en
	// texts are ours, by key. A {name} stands for what is put there.
	texts map[string]string
	// others are what other rooms say in English, by that English: the texts of steps, with
	// {client} for its name, and of scenarios. nil: it is English.
	others map[string]string
}

// Languages returns all, English first.
func Languages() []Language {
	return []Language{
		{Name: "en", texts: english()},
		{Name: "zh", texts: chinese(), others: chineseOfOthers()},
	}
}

// FindLanguage returns the language with that name, or a *locks.UnknownError.
func FindLanguage(name string) (Language, error) {
	var known []string
	for _, l := range Languages() {
		if l.Name == name {
			return l, nil
		}
		known = append(known, l.Name)
	}
	return Language{}, &locks.UnknownError{Kind: "language", Name: name, Nearest: locks.Nearest(name, known), Known: known}
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

// of translates what another room says in English, and says whether it could.
func (l Language) of(said string) (string, bool) {
	if l.others == nil {
		return said, true
	}
	text, ok := l.others[said]
	return text, ok
}

// step translates the text of a step in which some of so many clients act, and says whether
// it could.
func (l Language) step(said string, clients int) (string, bool) {
	if text, ok := l.of(said); ok {
		return text, true
	}
	for i := range clients {
		name := histories.WorkerName(i)
		for english, text := range l.others {
			if fill(english, "client", name) == said {
				return fill(text, "client", name), true
			}
		}
	}
	return said, false
}

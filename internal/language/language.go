// Package language says in other languages what the code says in English. A text is known by its English one, which stands where it
// is said; so English needs no file, and the zero Language is English.
package language

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"strconv"
	"strings"
	"sync"

	"github.com/lockbench/lockbench/internal/catalogue"
	"github.com/lockbench/lockbench/internal/words"
)

// Language is one that pages are told in. The zero value is English.
type Language struct {
	name, tag string
	texts     func() map[string]string // by their English; nil of English
}

// The texts of a language, in files of a directory of its own, one a line: the English, " = ", and its translation. What begins or ends with a space is quoted as in Go.
// A format has the verbs of the English one, with their places if they stand in another order: %[2]s.
//
//go:embed texts/*/*.txt
var texts embed.FS

// All returns the languages that there are, English first.
func All() []Language {
	return []Language{{name: "en", tag: "en"}, {name: "zh", tag: "zh-CN", texts: chinese}}
}

var chinese = sync.OnceValue(func() map[string]string { return load("zh") }) //nolint:gochecknoglobals // the texts are part of the program, and not each command says one

func load(name string) map[string]string {
	files, err := fs.Glob(texts, "texts/"+name+"/*.txt")
	if err != nil {
		panic(err) // the pattern is part of the program
	}
	all := map[string]string{}
	for _, file := range files {
		src, err := texts.ReadFile(file)
		if err != nil {
			panic(err) // the files are part of the program
		}
		maps.Copy(all, Parse(string(src)))
	}
	return all
}

// Parse reads the texts of a file.
func Parse(src string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(src) {
		if english, text, ok := strings.Cut(strings.TrimSpace(line), " = "); ok {
			all[bare(english)] = bare(text)
		}
	}
	return all
}

// bare is a text without its quotes.
func bare(text string) string {
	if unquoted, err := strconv.Unquote(text); err == nil {
		return unquoted
	}
	return text
}

// Find returns the language of that name, or a *catalogue.UnknownError.
func Find(name string) (Language, error) {
	return catalogue.Find("language", name, All(), Language.Name)
}

// Name is how the language is asked for: en, zh.
func (l Language) Name() string {
	if l.name == "" {
		return "en"
	}
	return l.name
}

// Tag is how HTML calls the language: en, zh-CN.
func (l Language) Tag() string {
	if l.tag == "" {
		return "en"
	}
	return l.tag
}

// Texts returns the English of all that is translated; nil of English.
func (l Language) Texts() map[string]string {
	if l.texts == nil {
		return nil
	}
	return l.texts()
}

// Has reports whether the language has a text: English has all.
func (l Language) Has(english string) bool {
	_, ok := l.Texts()[english]
	return ok || l.texts == nil || english == ""
}

// Say returns a text, which is the English one if the language has none.
func (l Language) Say(english string) string {
	if text, ok := l.Texts()[english]; ok {
		return text
	}
	return english
}

// Sayf formats a text as fmt.Sprintf does.
func (l Language) Sayf(english string, args ...any) string {
	return fmt.Sprintf(l.Say(english), args...)
}

// Count returns a number with its noun: "1 event", "2 events". The text of a noun is that of "%d events".
func (l Language) Count(n int, noun string) string {
	if format, ok := l.Texts()["%d "+noun+"s"]; ok {
		return fmt.Sprintf(format, n)
	}
	return words.Count(n, noun)
}

// And joins words as a sentence does.
func (l Language) And(all []string) string {
	last := len(all) - 1
	if last < 1 {
		return strings.Join(all, "")
	}
	return l.List(all[:last]) + l.Say(" and ") + all[last]
}

// List joins words as a list does.
func (l Language) List(all []string) string { return strings.Join(all, l.Say(", ")) }

// Each says each of several texts.
func (l Language) Each(english []string) []string {
	var all []string
	for _, e := range english {
		all = append(all, l.Say(e))
	}
	return all
}

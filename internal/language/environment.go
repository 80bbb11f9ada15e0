package language

import "strings"

// Of returns the language that an environment asks for, as POSIX reads it: the first of LC_ALL, LC_MESSAGES and LANG that is not empty,
// such as zh_CN.UTF-8. It is English if there is none of that language.
func Of(getenv func(string) string) Language {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if value := getenv(name); value != "" {
			return called(value)
		}
	}
	return Language{}
}

// called is the language of a locale, or English. Of Chinese there are simplified characters, which is zh_CN.
func called(locale string) Language {
	name, _, _ := strings.Cut(locale, ".")
	name, _, _ = strings.Cut(name, "@")
	for _, l := range All() {
		if name == l.Name() || name == strings.ReplaceAll(l.Tag(), "-", "_") {
			return l
		}
	}
	return Language{}
}

package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/internal/language"
)

const langFlag = "lang"

// spoken is the value of a flag that chooses the language of a page.
type spoken struct{ language.Language }

func (s *spoken) String() string { return s.Name() }

func (s *spoken) Type() string { return "string" }

func (s *spoken) Set(name string) error {
	found, err := language.Find(name)
	if err == nil {
		s.Language = found
	}
	return err
}

// flag adds --lang to a command that draws pages.
func (s *spoken) flag(cmd *cobra.Command) {
	cmd.Flags().Var(s, langFlag, "language of the page: "+strings.Join(spokenNames(), " or "))
	// It fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc(langFlag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return spokenNames(), cobra.ShellCompDirectiveNoFileComp
	})
}

func spokenNames() []string {
	var names []string
	for _, l := range language.All() {
		names = append(names, l.Name())
	}
	return names
}

// speak makes a language the one that commands with --lang speak unless they are told otherwise.
func speak(root *cobra.Command, in language.Language) {
	for _, cmd := range root.Commands() {
		if flag := cmd.Flags().Lookup(langFlag); flag != nil && flag.Value.Set(in.Name()) == nil {
			flag.DefValue = in.Name()
		}
	}
}

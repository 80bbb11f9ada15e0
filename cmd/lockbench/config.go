package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/lockbench/lockbench/internal/report"
)

// everyday is the file that says with which flags commands are called every day, in the directory in which they are called.
const everyday = "lockbench.yaml"

// configFlag adds --config to all commands. What it returns sets the flags of a command that were not given, as its section of the file
// says. See docs/everyday.md.
func configFlag(root *cobra.Command) func(*cobra.Command) (config, error) {
	var file string
	root.PersistentFlags().StringVar(&file, "config", "", "take flags that are not given from this `FILE` (default "+everyday+", if it is here)")
	return func(cmd *cobra.Command) (config, error) {
		c := config{name: file}
		if cmd.Hidden { // what shells ask for
			return c, nil
		}
		if file == "" {
			c.name = everyday
		}
		data, err := os.ReadFile(c.name)
		if errors.Is(err, fs.ErrNotExist) && file == "" {
			return c, nil
		}
		if err == nil {
			err = c.read(data, root)
		}
		if err == nil {
			err = c.apply(cmd)
		}
		if err != nil {
			return c, usage(err)
		}
		return c, nil
	}
}

// config is what a file says: the flags of each command.
type config struct {
	name     string
	sections map[string][]setting
}

// setting is one flag and the values that it is to have, one after the other.
type setting struct {
	flag   string
	values []string
	line   int
}

func (c *config) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", c.name, line, fmt.Errorf(format, args...))
}

// read checks all of a file, also what the present command does not need: a misspelt name is told at once.
func (c *config) read(data []byte, root *cobra.Command) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	c.sections = map[string][]setting{}
	if len(doc.Content) == 0 { // nothing but comments
		return nil
	}
	commands, err := c.pairs(doc.Content[0], "commands and their flags, such as\ngate:\n  backend: process")
	if err != nil {
		return err
	}
	for _, section := range commands {
		name := section[0].Value
		if err := oneOf("command", name, subcommands(root)); err != nil {
			return c.errorf(section[0].Line, "%w", err)
		}
		cmd, _, err := root.Find([]string{name})
		if err != nil {
			return err
		}
		flags, err := c.pairs(section[1], "flags and their values, such as backend: process")
		if err != nil {
			return err
		}
		for _, pair := range flags {
			s, err := c.setting(cmd, pair)
			if err != nil {
				return err
			}
			c.sections[name] = append(c.sections[name], s)
		}
	}
	return nil
}

func (c *config) setting(cmd *cobra.Command, pair [2]*yaml.Node) (setting, error) {
	name, line := pair[0].Value, pair[0].Line
	var known []string
	add := func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "config" && f.Name != "help" {
			known = append(known, f.Name)
		}
	}
	cmd.Flags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	if err := oneOf("flag", name, known); err != nil {
		return setting{}, c.errorf(line, "of lockbench %s: %w", cmd.Name(), err)
	}
	s := setting{flag: name, line: line}
	values := []*yaml.Node{pair[1]}
	if pair[1].Kind == yaml.SequenceNode {
		values = pair[1].Content
	}
	for _, v := range values {
		if v.Kind != yaml.ScalarNode || v.Tag == "!!null" {
			return setting{}, c.errorf(v.Line, "the value of %s is none, want text, a number, true, false, or a list of these", name)
		}
		s.values = append(s.values, v.Value)
	}
	return s, nil
}

// pairs are the names and values of a mapping.
func (c *config) pairs(n *yaml.Node, want string) (all [][2]*yaml.Node, err error) {
	if n.Kind != yaml.MappingNode {
		return nil, c.errorf(n.Line, "want %s", want)
	}
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		if seen[n.Content[i].Value] {
			return nil, c.errorf(n.Content[i].Line, "%s is here twice", n.Content[i].Value)
		}
		seen[n.Content[i].Value] = true
		all = append(all, [2]*yaml.Node{n.Content[i], n.Content[i+1]})
	}
	return all, nil
}

// apply sets the flags of a command. One that was given on the command line stays.
func (c *config) apply(cmd *cobra.Command) error {
	for _, s := range c.sections[section(cmd)] {
		if f := cmd.Flags().Lookup(s.flag); f == nil || f.Changed {
			continue
		}
		for _, value := range s.values {
			if err := cmd.Flags().Set(s.flag, value); err != nil {
				return c.errorf(s.line, "%w", badFlag(cmd, err))
			}
		}
	}
	return nil
}

// section is the name that a command has in a file; a subcommand has that of its parent.
func section(cmd *cobra.Command) string {
	for cmd.HasParent() && cmd.Parent().HasParent() {
		cmd = cmd.Parent()
	}
	return cmd.Name()
}

// told says what a file says of a command.
func (c *config) told(w io.Writer, cmd *cobra.Command) {
	for _, s := range c.sections[section(cmd)] {
		for _, value := range s.values {
			fmt.Fprintln(w, report.Clean(fmt.Sprintf("%s says: lockbench %s --%s %s", c.name, section(cmd), s.flag, value)))
		}
	}
}

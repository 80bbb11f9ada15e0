package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockbench/lockbench/internal/harness"
	"github.com/lockbench/lockbench/internal/libraries"
	"github.com/lockbench/lockbench/internal/worker"
)

const (
	workerSelf = "self" // this very program
	workerNone = "none" // clients live in the harness
)

func newWorker() *cobra.Command {
	var opt worker.Options
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Be a client of a run: locks in a process of their own",
		Long: `Worker is what run starts for each client that is to be a process of its own (run --worker self). It takes requests on
standard input and answers on standard output, one line of JSON each, and ends with its input. The protocol is written down in
docs/worker-protocol.md, for workers in other languages.`,
		Example: `  echo '{"id":1,"op":"hello","protocol":1,"newest":2}' | lockbench worker
  lockbench gate --lock redlock --worker 'lockbench worker --key-prefix lock: --hash-tag'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if opt.Database < 0 {
				return usage(fmt.Errorf("--database is %d, want 0 or more", opt.Database))
			}
			if err := worker.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), libraries.Catalogue(), opt); err != nil {
				return failure(err)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opt.Prefix, "key-prefix", "", "what the names of the lock's keys begin with")
	flags.BoolVar(&opt.HashTag, "hash-tag", false, "put the name of the lock in braces, as on Redis Cluster")
	flags.IntVar(&opt.Database, "database", 0, "database of the lock's keys")
	flags.BoolVar(&opt.Silent, "silent", false, "do not tell of keys and database in hello")
	flags.StringVar(&opt.First, "first-command", "", "command on the lock's key that is sent before each acquire, such as PTTL")
	return cmd
}

// workerCommand is what --worker says. Without it, clients are processes where a fault is
// to stop or kill them and where that can be.
func (f *runFlags) workerCommand(backend harness.Backend) ([]string, error) {
	command := f.worker
	if command == "" {
		command = workerNone
		if harness.WantsProcesses(f.nemesis, backend) {
			command = workerSelf
		}
	}
	switch command {
	case workerNone:
		return nil, nil
	case workerSelf:
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("--worker %s: %w", workerSelf, err)
		}
		return []string{self, "worker"}, nil
	}
	return split(command)
}

// split splits a command line into words as a shell does: quotes of both kinds and
// backslashes keep what is special. Nothing is expanded.
func split(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	inWord, escaped := false, false
	for _, c := range line {
		switch {
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			inWord, escaped = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			inWord, quote = true, c
		case c == ' ' || c == '\t' || c == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			inWord = true
			word.WriteRune(c)
		}
	}
	if quote != 0 || escaped {
		return nil, fmt.Errorf("--worker %s: a quote is not closed", line)
	}
	if inWord {
		words = append(words, word.String())
	}
	if len(words) == 0 {
		return nil, errors.New("--worker is empty, want a command, self or none")
	}
	return words, nil
}

// quoted is a command line as one word of a shell.
func quoted(line string) string {
	if !strings.ContainsAny(line, " \t\n'\"\\$`&|;<>()*?[]#~!{}") {
		return line
	}
	return "'" + strings.ReplaceAll(line, "'", `'\''`) + "'"
}

// Package schema holds the JSON Schemas of everything that lockbench writes for machines.
// docs/formats.md tells what they promise.
package schema

import (
	"embed"
	"strings"
)

//go:embed *.schema.json
var files embed.FS

const suffix = ".schema.json"

// Names are those of the schemas, in order.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil // cannot be: the directory is part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), suffix))
	}
	return names
}

// Text is the schema of that name, or nil if there is none.
func Text(name string) []byte {
	data, err := files.ReadFile(name + suffix)
	if err != nil {
		return nil
	}
	return data
}

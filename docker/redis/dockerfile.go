// Package redis holds what the image of a node is made from.
package redis

import (
	"embed"
	"io/fs"
)

//go:embed build.sh base.sh Dockerfile
var files embed.FS

// Files returns the files that the image is made from: the Dockerfile, and build.sh, which makes it with or without a registry.
func Files() fs.FS { return files }

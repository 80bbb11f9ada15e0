// Package redis holds what the image of a node is made from.
package redis

import _ "embed"

//go:embed Dockerfile
var dockerfile string

// Dockerfile returns the Dockerfile of the image, as docker/build.sh reads it.
func Dockerfile() string { return dockerfile }

//go:build !unix

package serve_test

import "errors"

func mkfifo(string) error { return errors.ErrUnsupported }

//go:build !linux || !amd64

package tracer

import "errors"

var errUnsupported = errors.New("processes are traced on Linux on amd64 only")

// Supported returns nil where processes can be traced, else why they cannot.
func Supported() error { return errUnsupported }

func run(Plan, []string) (*Report, error) { return nil, errUnsupported }

func execFiltered([]string) error { return errUnsupported }

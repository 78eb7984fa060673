//go:build tools

// Package tools names the programs that this module builds, so that `go mod tidy` keeps their locks.
package tools

import (
	_ "github.com/coder/coder/v2/cmd/coder"
)

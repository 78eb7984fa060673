//go:build tools

// Package tools names the programs that this module builds, so that `go mod tidy` keeps their locks.
package tools

import (
	_ "sigs.k8s.io/kwok/cmd/kwok"
)

//go:build !linux

// Command services needs Linux.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "services: the servers for tests are started from packages of Debian or Ubuntu; use one of them")
	os.Exit(1)
}

// Command rehome moves coding-agent sessions between the stores they live in. Its
// commands are in package cli.
package main

import (
	"os"

	"rehome/cmd/internal/cli"
)

func main() {
	os.Exit(cli.Run(cli.Setup(), cli.Rehome(), os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}

package main

import (
	"fmt"

	"github.com/alecthomas/kong"
)

// printHelp is kong's help with the exit codes under it, for every command.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	fmt.Fprintln(ctx.Stdout, "\nExit codes:")
	for _, o := range outcomes() {
		fmt.Fprintf(ctx.Stdout, "  %3d  %s\n", o.code, o.what)
	}
	return nil
}

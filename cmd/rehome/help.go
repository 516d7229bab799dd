package main

import (
	"fmt"
	"slices"

	"github.com/alecthomas/kong"
)

const helpFlag = "Show this help"

// printHelp prints kong's help, followed by the exit codes of the command.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	command := ""
	if n := ctx.Selected(); n != nil {
		command = n.Name
	}
	fmt.Fprintln(ctx.Stdout, "\nExit codes:")
	for _, o := range exitStatuses() {
		if exitsWith(command, o.code) {
			fmt.Fprintf(ctx.Stdout, "  %3d  %s\n", o.code, o.meaning)
		}
	}
	return nil
}

// exitsWith reports whether a command can exit with a code. The empty command
// stands for all commands.
func exitsWith(command string, code int) bool {
	only := map[int][]string{
		3:   {"convert", "watch"},
		4:   {"check"},
		5:   {"convert", "migrate", "watch", "search", "show", "check"},
		130: {"convert", "migrate", "watch", "ls", "search", "show", "check", "detect", "demo"},
	}[code]
	return command == "" || only == nil || slices.Contains(only, command)
}

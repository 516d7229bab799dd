package main

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"rehome/formats"
	"rehome/formats/all"
)

// house is what every command is given.
type house struct {
	ctx context.Context
	reg *formats.Registry
	out *output
	now func() time.Time
}

// run is the whole program but for the process around it; tests call it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string) int {
	var g grammar
	helped := false
	parser, err := kong.New(&g,
		kong.Name("rehome"),
		kong.Description(about),
		kong.Writers(stdout, stderr),
		kong.KindMapper(reflect.String, kong.MapperFunc(asTyped)),
		kong.Help(printHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 80}),
		// Help asks to exit before the arguments are judged; it has been
		// printed by then, and what parsing says afterwards does not matter.
		kong.Exit(func(int) { helped = true }),
	)
	if err != nil {
		panic(err) // the grammar itself is wrong
	}
	parser.Model.HelpFlag.Help = "Show this help"
	parsed, err := parser.Parse(args)
	if helped {
		return 0
	}
	out := newOutput(stdout, stderr, getenv, g)
	if err != nil {
		out.json = out.json || wantsJSON(args)
		return out.fail(newUsageError(err))
	}
	command := parsed.Selected().Name
	// These report what they did. All others print what was asked for.
	out.silent = g.Quiet && slices.Contains([]string{"convert", "migrate", "check", "demo"}, command)
	g.Ls.Long = g.Ls.Long || g.Verbose
	g.Check.Notes = g.Check.Notes || g.Verbose
	if err := parsed.Run(&house{ctx: ctx, reg: all.Registry(), out: out, now: time.Now}); err != nil {
		return out.fail(err)
	}
	return 0
}

// asTyped takes a word of the command line byte for byte: a path need not be
// UTF-8, and kong's own mapper would name another file.
func asTyped(ctx *kong.DecodeContext, target reflect.Value) error {
	t, err := ctx.Scan.PopValue("string")
	if err != nil {
		return err
	}
	word, ok := t.Value.(string)
	if !ok {
		word = fmt.Sprint(t.Value)
	}
	target.SetString(word)
	return nil
}

// wantsJSON looks for --json by eye, for a command line that did not parse.
func wantsJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json")
}

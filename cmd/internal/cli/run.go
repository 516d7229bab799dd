package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"rehome/cmd/internal/console"
	"rehome/formats/all"
)

// Run is the whole program except for Setup. It returns the exit code.
func Run(ctx context.Context, p Program, args []string, stdout, stderr io.Writer, getenv func(string) string) int {
	return p.runAt(ctx, args, stdout, stderr, getenv, time.Now)
}

// run is Run of rehome, for tests.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string) int {
	return runAt(ctx, args, stdout, stderr, getenv, time.Now)
}

// runAt is run with another clock.
func runAt(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string, now func() time.Time) int {
	return Rehome().runAt(ctx, args, stdout, stderr, getenv, now)
}

// runAt is Run with another clock.
func (p Program) runAt(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string, now func() time.Time) int {
	if p.Name != Rehome().Name {
		p.commands = p.commandPattern()
	}
	g := grammar{Plugins: p.plugins()}
	helped, print := false, newHelpPrinter(ctx, console.NewOutput(stdout, stderr, getenv, console.OutputFlags{Color: "auto"}))
	parser, err := kong.New(&g, words(),
		kong.Name(p.Name),
		kong.Description(p.About),
		kong.Writers(stdout, stderr),
		kong.KindMapper(reflect.String, kong.MapperFunc(rawString)),
		kong.Help(func(_ kong.HelpOptions, ctx *kong.Context) error { return print(ctx, false) }),
		kong.Bind(print),
		// Help asks to exit before the arguments are validated. It has been
		// printed by then, so the result of parsing does not matter.
		kong.Exit(func(int) { helped = true }),
	)
	if err != nil {
		panic(err) // the grammar itself is wrong
	}
	parser.Model.HelpFlag.Help = helpFlag
	p.nameModel(parser.Model)
	parsed, err := parser.Parse(joinPaths(joinTurns(expandArgs(args))))
	if helped {
		return 0
	}
	out := console.NewOutput(stdout, stderr, getenv, g.OutputFlags)
	p.identify(out)
	a := &console.App{Ctx: ctx, Reg: all.Registry(), Out: out, Now: now}
	if parse := (*kong.ParseError)(nil); errors.As(err, &parse) {
		if strings.HasPrefix(err.Error(), "expected one of ") { // there is no command
			return out.Fail(welcome(a))
		}
		out.JSON = out.JSON || wantsJSON(args)
		return out.Fail(plainError(parse))
	}
	if err := p.refuseAddress(parsed); err != nil {
		return out.Fail(err)
	}
	command := parsed.Selected().Name
	// The results of these are reports; those of all others are requested output.
	out.NoReport = g.Quiet && slices.Contains(append([]string{"backup", "restore", "convert", "redact", "merge", "migrate", "mv", "watch",
		"check", "demo", "git", "repair"}, p.Quiet...), command)
	g.Ls.Long = g.Ls.Long || g.Verbose
	g.Check.Notes = g.Check.Notes || g.Verbose
	return out.Fail(parsed.Run(a, p, Model(p.cliModel), &Call{Context: ctx, Registry: a.Reg, Getenv: getenv, Verbose: g.Verbose, app: a}))
}

// expandArgs turns the forms that other programs have for help and version into
// those of this one.
func expandArgs(args []string) []string {
	switch {
	case len(args) == 0:
	case args[0] == "help" && len(args) == 2 && args[1] == "all":
		return []string{"--help-all"}
	case args[0] == "help" && len(args) == 2 && args[1] == "help":
		return []string{"--help"}
	case args[0] == "help":
		return append(args[1:len(args):len(args)], "--help")
	case args[0] == "--version" || args[0] == "-V":
		return append([]string{"version"}, args[1:]...)
	}
	return args
}

// rawString maps an argument to a string byte by byte. A path need not be
// UTF-8, and kong's own mapper would change it.
func rawString(ctx *kong.DecodeContext, target reflect.Value) error {
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

// wantsJSON reports whether args contain --json. It is used when the command
// line does not parse.
func wantsJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json")
}

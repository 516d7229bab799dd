package cli

import (
	"context"
	"io"

	"github.com/alecthomas/kong"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert"
	"rehome/formats"
	"rehome/formats/loss"
)

// Program is a program that has rehome's commands, and perhaps more.
type Program struct {
	Name     string   // of the program
	About    string   // what it is for
	Commands any      // a pointer to a struct whose fields are more commands, as kong reads them; nil = none
	Quiet    []string // those of them whose results --quiet omits

	// Schemes are those of the addresses that the program takes in place of paths.
	Schemes []string
	// Read are the losses of the sources that the program has read before Run.
	Read []loss.Group
	// Place moves what convert has written to the place that it is for, and returns where it
	// kept what was there; nil = it is in its place. It calls accept with the losses of that
	// place before anything of it is visible there, and ends with accept's error.
	Place func(ctx context.Context, accept func([]loss.Group) error) (backup string, err error)

	commands string // see commandPattern; "" = not made yet
}

// Rehome is the program without more commands.
func Rehome() Program { return Program{Name: "rehome", About: about} }

// Call is one run of a command that a Program adds. Its struct has a method
// Run(*Call) error.
type Call struct {
	Context  context.Context
	Registry *formats.Registry
	Getenv   func(string) string
	Verbose  bool

	app *console.App
}

// Page is where a result is printed as text.
type Page = screen.Page

// Result is what a command prints: its struct as JSON with --json, else its text.
type Result = console.Result

// Print prints the result of the command.
func (c *Call) Print(r Result) error { return c.app.Out.Print(c.Context, r) }

// PrintFindings prints the result, and returns the error for what it found: exit
// code 4. findings is a phrase such as "3 stores are missing".
func (c *Call) PrintFindings(r Result, findings string) error {
	if err := c.Print(r); err != nil {
		return err
	}
	return console.Printed(console.Summarize(findings, console.ErrFindings))
}

// Remark prints a message while the command runs, unless --quiet.
func (c *Call) Remark(text string) { c.app.Out.Remark(text) }

// Progress returns what draws progress on a terminal, nil if it is not shown.
// EndProgress removes it.
func (c *Call) Progress() func(convert.Progress) { return c.app.Out.Progress() }

// EndProgress removes the progress from the terminal.
func (c *Call) EndProgress() { c.app.Out.EndProgress() }

// Usage returns err as an invalid command line: exit code 2.
func Usage(err error) error { return console.Usage(err) }

// Fail prints an error as the commands do, and returns its exit code. args decides
// between text and JSON.
func (p Program) Fail(err error, args []string, stdout, stderr io.Writer, getenv func(string) string) int {
	o := console.NewOutput(stdout, stderr, getenv, console.OutputFlags{Color: "auto", JSON: wantsJSON(args)})
	p.identify(o)
	return o.Fail(err)
}

// Progress returns what draws progress on a terminal, nil if it is not shown, and what
// removes it.
func Progress(quiet bool, stderr io.Writer, getenv func(string) string) (draw func(convert.Progress), end func()) {
	o := console.NewOutput(io.Discard, stderr, getenv, console.OutputFlags{Color: "auto", Quiet: quiet})
	return o.Progress(), o.EndProgress
}

// identify makes what o prints name the program.
func (p Program) identify(o *console.Output) {
	if o.Name = p.Name; p.Name != Rehome().Name {
		o.Rename = p.own
	}
}

// plugins returns the commands of a program for the grammar.
func (p Program) plugins() kong.Plugins {
	if p.Commands == nil {
		return nil
	}
	return kong.Plugins{p.Commands}
}

// Setup prepares the process for Run, and returns its context, which ends when the
// user interrupts.
func Setup() context.Context { return console.Setup() }

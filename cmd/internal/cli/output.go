package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"rehome/cmd/internal/screen"
	"rehome/formats"
)

// output prints results and messages. A command prints at most one result to
// stdout, as text or as JSON; everything else goes to stderr. Messages are
// lower case without a period, and begin with the name of the program.
type output struct {
	json       bool
	quiet      bool
	noReport   bool // --quiet, if the result is a report
	verbose    bool
	stdout     io.Writer
	stderr     io.Writer
	palette    screen.Palette // for stdout
	errPalette screen.Palette // for stderr
	links      bool           // stdout shows links
	getenv     func(string) string
	name       string              // of the program
	rename     func(string) string // puts it into text that names commands of rehome; nil = it is rehome

	mu  sync.Mutex // remark is called from several goroutines
	bar *bar

	remarks map[string]bool // already printed; a store can be read several times
}

func newOutput(stdout, stderr io.Writer, getenv func(string) string, g OutputFlags) *output {
	palette := choosePalette(g.Color, getenv, stdout)
	return &output{
		json: g.JSON, quiet: g.Quiet, verbose: g.Verbose, stdout: stdout, stderr: stderr, getenv: getenv, name: "rehome",
		palette:    palette,
		links:      bool(palette) && isTerminal(stdout) && getenv("TERM") != "linux",
		errPalette: choosePalette(g.Color, getenv, stderr),
		remarks:    map[string]bool{},
	}
}

// terminal returns the stream to draw on, and its palette: stdout or, if the output
// of the program is captured, stderr. It is nil if no user is there to see it and to
// press keys, or the terminal cannot draw.
func (o *output) terminal() (w io.Writer, paint screen.Palette, captured bool) {
	switch {
	case !isTerminal(os.Stdin) || o.getenv("TERM") == "dumb":
		return nil, false, false
	case isTerminal(o.stdout):
		return o.stdout, o.palette, false
	case isTerminal(o.stderr):
		return o.stderr, o.errPalette, true
	}
	return nil, false, false
}

// result is the outcome of a command. The struct is also its JSON form, which
// has a published schema; most text methods are in render_text.go.
type result interface {
	Text(*screen.Page)
}

// printResult prints the result of a command. Text that is longer than the screen is
// shown with the pager.
func (o *output) printResult(ctx context.Context, r result) error {
	switch {
	case o.json:
		return o.writeJSON(r)
	case o.noReport:
		return nil
	}
	_, w, done := o.pagedOutput(ctx, true)
	p := o.page(w, o.palette)
	p.Links = o.links
	if width, _, ok := o.terminalSize(); ok {
		p.Width = min(width, p.Width)
	}
	r.Text(p)
	return done(p.Err())
}

// remark prints a message while a command is running, and each message only once.
func (o *output) remark(text string) {
	if o.quiet {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.remarks[text] {
		return
	}
	o.remarks[text] = true
	o.bar.clear()
	o.printLine(screen.Visible(o.name) + ": " + screen.Visible(text))
}

// own returns text with the commands in it under the name of the program that runs.
func (o *output) own(text string) string {
	if o.rename == nil {
		return text
	}
	return o.rename(text)
}

// page returns a page for one of the streams.
func (o *output) page(w io.Writer, paint screen.Palette) *screen.Page {
	p := screen.NewPage(w, paint)
	p.Rename = o.rename
	return p
}

// printLine prints a line to stderr.
func (o *output) printLine(s screen.Safe) { screen.NewPage(o.stderr, o.errPalette).Line(s) }

// reported is an error that the result on stdout already shows, so that --json
// prints a single object.
type reported struct{ error }

func (e reported) Unwrap() error { return e.error }

// fail prints an error, if there is one, and returns its exit code.
func (o *output) fail(err error) int {
	if err == nil {
		return 0
	}
	code := exitCode(err)
	if errors.As(err, new(silent)) {
		return code
	}
	if errors.Is(err, context.Canceled) && !errors.As(err, new(summary)) {
		err = summary{"interrupted", err}
	}
	if o.json && !errors.As(err, new(reported)) {
		if werr := o.writeJSON(newErrorResult(err, code)); werr == nil {
			return code
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bar.clear()
	for _, e := range flatten(err) {
		o.printLine(o.errPalette.Red(screen.Visible(o.name)+":") + " " + screen.Visible(e.Error()))
		if _, sum := e.(summary); sum {
			continue // the report includes the hints
		}
		if a, ok := errors.AsType[*ambiguousError](e); ok {
			width, _, tty := terminalSize(o.stderr)
			for _, l := range a.lines(machine(o.getenv).Home) {
				if tty {
					l = screen.Cut(l, width)
				}
				o.printLine(l)
			}
		}
		o.page(o.stderr, o.errPalette).Hint("  ", formats.Hint(e))
	}
	return code
}

// flatten splits joined errors, so that each gets its own line and hint.
func flatten(err error) []error {
	if err == nil {
		return nil
	}
	if s, ok := err.(reported); ok {
		return flatten(s.error)
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, e := range many.Unwrap() {
			out = append(out, flatten(e)...)
		}
		return out
	}
	if list, ok := err.(interface{ Each() []error }); ok {
		return list.Each()
	}
	return []error{err}
}

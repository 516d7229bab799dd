package console

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"rehome/cmd/internal/screen"
	"rehome/formats"
)

// Output prints results and messages. A command prints at most one result to
// stdout, as text or as JSON; everything else goes to stderr. Messages are
// lower case without a period, and begin with the name of the program.
type Output struct {
	JSON       bool
	Quiet      bool
	NoReport   bool // --quiet, if the result is a report
	Verbose    bool
	Stdout     io.Writer
	stderr     io.Writer
	Palette    screen.Palette // for stdout
	ErrPalette screen.Palette // for stderr
	links      bool           // stdout shows links
	Getenv     func(string) string
	Name       string              // of the program
	Rename     func(string) string // puts it into text that names commands of rehome; nil = it is rehome

	mu  sync.Mutex // remark is called from several goroutines
	bar *bar

	remarks map[string]bool // already printed; a store can be read several times
}

func NewOutput(stdout, stderr io.Writer, getenv func(string) string, g OutputFlags) *Output {
	palette := choosePalette(g.Color, getenv, stdout)
	return &Output{
		JSON: g.JSON, Quiet: g.Quiet, Verbose: g.Verbose, Stdout: stdout, stderr: stderr, Getenv: getenv, Name: "rehome",
		Palette:    palette,
		links:      bool(palette) && IsTerminal(stdout) && getenv("TERM") != "linux",
		ErrPalette: choosePalette(g.Color, getenv, stderr),
		remarks:    map[string]bool{},
	}
}

// Terminal returns the stream to draw on, and its palette: stdout or, if the output
// of the program is captured, stderr. It is nil if no user is there to see it and to
// press keys, or the terminal cannot draw.
func (o *Output) Terminal() (w io.Writer, paint screen.Palette, captured bool) {
	switch {
	case !IsTerminal(os.Stdin) || o.Getenv("TERM") == "dumb":
		return nil, false, false
	case IsTerminal(o.Stdout):
		return o.Stdout, o.Palette, false
	case IsTerminal(o.stderr):
		return o.stderr, o.ErrPalette, true
	}
	return nil, false, false
}

// Result is the outcome of a command. The struct is also its JSON form, which
// has a published schema; most text methods are in render_text.go.
type Result interface {
	Text(*screen.Page)
}

// Print prints the result of a command. Text that is longer than the screen is
// shown with the pager.
func (o *Output) Print(ctx context.Context, r Result) error {
	switch {
	case o.JSON:
		return o.writeJSON(r)
	case o.NoReport:
		return nil
	}
	_, w, done := o.Paged(ctx, true)
	p := o.page(w, o.Palette)
	p.Links = o.links
	if width, _, ok := o.TerminalSize(); ok {
		p.Width = min(width, p.Width)
	}
	r.Text(p)
	return done(p.Err())
}

// Remark prints a message while a command is running, and each message only once.
func (o *Output) Remark(text string) {
	if o.Quiet {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.remarks[text] {
		return
	}
	o.remarks[text] = true
	o.bar.clear()
	o.PrintLine(screen.Visible(o.Name) + ": " + screen.Visible(text))
}

// PrintEvent prints a result while a command is running: to stderr if it is a problem.
func (o *Output) PrintEvent(r Result, problem bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var p *screen.Page
	switch {
	case o.JSON:
		return writeJSONLine(o.Stdout, r)
	case problem:
		p = o.page(o.stderr, o.ErrPalette)
	case o.NoReport:
		return nil
	default:
		p = o.page(o.Stdout, o.Palette)
	}
	r.Text(p)
	return p.Err()
}

// Own returns text with the commands in it under the name of the program that runs.
func (o *Output) Own(text string) string {
	if o.Rename == nil {
		return text
	}
	return o.Rename(text)
}

// page returns a page for one of the streams.
func (o *Output) page(w io.Writer, paint screen.Palette) *screen.Page {
	p := screen.NewPage(w, paint)
	p.Rename = o.Rename
	return p
}

// PrintLine prints a line to stderr.
func (o *Output) PrintLine(s screen.Safe) { screen.NewPage(o.stderr, o.ErrPalette).Line(s) }

// Fail prints an error, if there is one, and returns its exit code.
func (o *Output) Fail(err error) int {
	if err == nil {
		return 0
	}
	code := ExitCode(err)
	if errors.As(err, new(Silent)) {
		return code
	}
	if errors.Is(err, context.Canceled) && !errors.As(err, new(Summary)) {
		err = Summarize("interrupted", err)
	}
	if o.JSON && !errors.As(err, new(Reported)) {
		if werr := o.writeJSON(newErrorResult(err, code)); werr == nil {
			return code
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bar.clear()
	for _, e := range flatten(err) {
		o.PrintLine(o.ErrPalette.Red(screen.Visible(o.Name)+":") + " " + screen.Visible(e.Error()))
		if _, sum := e.(Summary); sum {
			continue // the report includes the hints
		}
		if a, ok := errors.AsType[*AmbiguousError](e); ok {
			width, _, tty := terminalSize(o.stderr)
			for _, l := range a.lines(Machine(o.Getenv).Home) {
				if tty {
					l = screen.Cut(l, width)
				}
				o.PrintLine(l)
			}
		}
		o.page(o.stderr, o.ErrPalette).Hint("  ", formats.Hint(e))
	}
	return code
}

// flatten splits joined errors, so that each gets its own line and hint.
func flatten(err error) []error {
	if err == nil {
		return nil
	}
	if s, ok := err.(Reported); ok {
		return flatten(s.Err)
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

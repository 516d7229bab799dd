package main

import (
	"context"
	"errors"
	"io"
	"sync"

	"rehome/cmd/rehome/internal/screen"
	"rehome/formats"
)

// output is where a command speaks. Results go to stdout, once a command, as
// text or as one JSON object; everything else is talk and goes to stderr. Talk
// is lower case, without a full stop, and begins with "rehome: ".
type output struct {
	json    bool
	quiet   bool
	silent  bool // no report either
	verbose bool
	stdout  io.Writer
	stderr  io.Writer
	paint   screen.Palette // of stdout
	talk    screen.Palette // of stderr
	getenv  func(string) string

	mu  sync.Mutex // remarks come from several goroutines
	bar *bar
}

func newOutput(stdout, stderr io.Writer, getenv func(string) string, g grammar) *output {
	return &output{
		json: g.JSON, quiet: g.Quiet, verbose: g.Verbose, stdout: stdout, stderr: stderr, getenv: getenv,
		paint: choosePalette(g.Color, getenv, stdout),
		talk:  choosePalette(g.Color, getenv, stderr),
	}
}

// result is what a command found out. Its JSON is the struct itself, published
// as a schema; its text is in render_text.go.
type result interface {
	text(*page)
}

// show prints a command's one result.
func (o *output) show(r result) error {
	switch {
	case o.json:
		return writeJSON(o.stdout, r)
	case o.silent:
		return nil
	}
	p := &page{screen.NewPage(o.stdout, o.paint)}
	r.text(p)
	return p.Err()
}

// say makes a remark while a command works.
func (o *output) say(remark string) {
	if o.quiet {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bar.clear()
	o.tell("rehome: " + visible(remark))
}

// tell prints a line of talk.
func (o *output) tell(s screen.Safe) { screen.NewPage(o.stderr, o.talk).Line(s) }

// shown is an error that the result on stdout already tells, so that --json
// stays one object.
type shown struct{ error }

func (e shown) Unwrap() error { return e.error }

// fail prints an error and returns the exit code it stands for.
func (o *output) fail(err error) int {
	code := exitCode(err)
	if errors.Is(err, context.Canceled) && !errors.As(err, new(summary)) {
		err = summary{"interrupted", err}
	}
	if o.json && !errors.As(err, new(shown)) {
		if werr := writeJSON(o.stdout, newErrorResult(err, code)); werr == nil {
			return code
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bar.clear()
	for _, e := range leaves(err) {
		o.tell(o.talk.Red("rehome:") + " " + visible(e.Error()))
		if _, sum := e.(summary); sum {
			continue // the report has given the hints
		}
		if hint := formats.Hint(e); hint != "" {
			o.tell(o.talk.Faint("  hint: " + visible(hint)))
		}
	}
	return code
}

// leaves takes joined errors apart: each deserves its own line and hint.
func leaves(err error) []error {
	if err == nil {
		return nil
	}
	if s, ok := err.(shown); ok {
		return leaves(s.error)
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, e := range many.Unwrap() {
			out = append(out, leaves(e)...)
		}
		return out
	}
	if list, ok := err.(interface{ Each() []error }); ok {
		return list.Each()
	}
	return []error{err}
}

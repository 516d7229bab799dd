package linecheck

import (
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"iter"
	"os"

	"rehome/formats"
	"rehome/formats/internal/lines"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// Options is what a format's lines are like.
type Options struct {
	Format string // its name: it decides which rules are asked
	Most   int    // bytes of a line; 0: 64 MiB
	Packed bool   // gzip and zstd are read
	Arrays bool   // a line may be an array
	// Trim takes off what is no part of a line; nil: nothing.
	Trim func(line []byte) []byte
	// Odd is told of each line that is not handed on, blank ones left out; 0 is
	// a file of which none is, whatever it says.
	Odd func(number int)
}

const mostLine = 64 << 20

// Line is one sound line. It is valid until the next step.
type Line struct {
	Number int
	Offset int64  // where it begins, in the text as it is unpacked
	Bytes  []byte // one JSON object, without blanks around it
	// Wild says that it holds what no validator should be given, which has
	// been reported.
	Wild    bool
	members []member
}

// Member is the value of the object's member of that name, the last one where
// there are several; nil if there is none.
func (l *Line) Member(name string) []byte {
	for i := len(l.members) - 1; i >= 0; i-- {
		if string(l.members[i].name) == name {
			return l.members[i].value
		}
	}
	return nil
}

// Members yields the object's members in their order.
func (l *Line) Members() iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for _, m := range l.members {
			if !yield(m.name, m.value) {
				return
			}
		}
	}
}

// Causes returns why the line does not match a schema. There are none without a
// schema, and for a line that is too much for one.
func (l *Line) Causes(v rule.Validator) []rule.Cause {
	if v == nil || l.Wild {
		return nil
	}
	return v(l.Bytes)
}

// Matches reports why the line at a place does not match a schema (RH203).
func (l *Line) Matches(q *rule.Pass, v rule.Validator, at store.Addr) {
	if !l.Wild {
		q.Matches(v, l.Bytes, at, "")
	}
}

// Lines examines a file and yields its sound lines. file is its name in the
// store, for the findings. An error is one of reading: it ends the walk.
func Lines(ctx context.Context, path, file string, v formats.View, q *rule.Pass, o Options) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		c := newChecker(file, q, o)
		info, err := os.Stat(path)
		if err != nil {
			yield(Line{}, err)
			return
		}
		if !info.Mode().IsRegular() {
			c.breach(irregular, 0, "", "it is "+sort(info.Mode()))
			c.odd(0)
			return
		}
		f, err := os.Open(path)
		if err != nil {
			yield(Line{}, err)
			return
		}
		defer f.Close()
		if err := c.file(ctx, f, v, yield); err != nil && !c.over {
			yield(Line{}, err)
		}
	}
}

// Text is Lines for a text that is in memory or on its way: nobody writes to
// it meanwhile.
func Text(ctx context.Context, r io.Reader, file string, q *rule.Pass, o Options) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		c := newChecker(file, q, o)
		err := c.lines(ctx, r, yield)
		if err == nil {
			c.end(false)
		} else if !c.over {
			yield(Line{}, err)
		}
	}
}

// sort is what a thing is that is no file.
func sort(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// checker examines one text.
type checker struct {
	name string // of the file in its store
	q    *rule.Pass
	o    Options
	scan scanner

	last    lines.Line // without its bytes
	tail    bool       // the last line is no whole value
	blanks  int
	blankAt int
	crs     int
	crAt    int
	over    bool // nobody wants more
	packed  bool
}

func newChecker(file string, q *rule.Pass, o Options) *checker {
	if o.Most == 0 {
		o.Most = mostLine
	}
	return &checker{name: file, q: q, o: o, scan: scanner{seed: maphash.MakeSeed()}}
}

func (c *checker) at(line int) store.Addr { return store.Addr{File: c.name, Line: line} }

// breach reports by the first of the rules that is asked of the format.
func (c *checker) breach(ids []string, line int, pointer, says string, args ...any) {
	if !c.q.Enabled(rule.Container) {
		return
	}
	if id := pick(ids, c.o.Format); id != "" {
		c.q.Report(rule.Finding{Rule: id, At: c.at(line), Pointer: pointer, Message: says, Args: args})
	}
}

func pick(ids []string, format string) string {
	for _, id := range ids {
		if r := rule.Lookup(id); r != nil && (format == "" || r.AppliesTo(format)) {
			return id
		}
	}
	return ""
}

func (c *checker) lines(ctx context.Context, r io.Reader, yield func(Line, error) bool) error {
	for l, err := range lines.Each(ctx, r, c.o.Most) {
		if err != nil {
			return err
		}
		if line, ok := c.line(&l); ok && !yield(line, nil) {
			c.over = true
			return nil
		}
	}
	return ctx.Err()
}

// end is what only the whole text tells. growing: somebody goes on writing it.
func (c *checker) end(growing bool) {
	if c.last.Number == 0 {
		c.breach(empty, 0, "", "")
		return
	}
	switch {
	case growing || c.last.Ended:
	case c.tail:
		c.breach(torn, c.last.Number, "", "")
	default:
		c.breach(unended, c.last.Number, "", "")
	}
	if c.crs > 0 {
		c.breach(carriage, c.crAt, "", count(c.crs))
	}
	if c.blanks > 0 {
		c.breach(blank, c.blankAt, "", count(c.blanks))
	}
}

func count(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

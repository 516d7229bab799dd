package rewrite

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strings"

	"rehome/formats"
	"rehome/formats/store"
)

const (
	// maxFile is the size of the largest plain file that is one value. A larger one is
	// read line by line.
	maxFile = 64 << 20
	// maxLine is the length of the longest line of a plain file.
	maxLine = 256 << 20
)

// visitor receives the values of a store.
type visitor struct {
	row  func(n int64, b *store.Batch, i int) error // of a table, or a line of documents; n counts those of its set
	text func(set, line int, v []byte) error        // a line of a plain file with its end, or all of the file
	end  func(set int) error                        // of a plain file; may be nil
	done func(b *store.Batch) error                 // of a batch of rows; may be nil
}

// each visits every value in the store's order.
func (r *Reader) each(ctx context.Context, v visitor) error {
	sets := r.src.Schema().Sets
	var p plain
	last, n := -1, int64(0)
	finish := func(next int) error {
		if p.open && p.set != next {
			return p.finish(v)
		}
		return nil
	}
	for b, err := range r.src.Batches(ctx) {
		if err != nil {
			return err
		}
		err = finish(b.Set)
		if b.Set != last {
			last, n = b.Set, 0
		}
		set := &sets[b.Set]
		for i := 0; i < b.Rows() && err == nil; i++ {
			switch {
			case set.Kind != store.Plain:
				err = v.row(n, b, i)
				n++
			default:
				p.begin(b.Set, set.File, r.o.Name)
				err = p.add(v, b.Cell(i, 0).Bytes())
			}
		}
		if err == nil && set.Kind != store.Plain && v.done != nil {
			err = v.done(b)
		}
		b.Release()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
	return finish(-1)
}

// plain puts a plain file together from its pieces.
type plain struct {
	set   int
	open  bool
	lines bool // it consists of JSON lines, or is too large to be one value
	file  string
	line  int
	text  []byte
}

func (p *plain) begin(set int, file, name string) {
	if p.open && p.set == set {
		return
	}
	if file == "" {
		file = name
	}
	ext := strings.ToLower(path.Ext(file))
	*p = plain{set: set, open: true, file: file, lines: ext == ".jsonl" || ext == ".ndjson", text: p.text[:0]}
}

func (p *plain) add(v visitor, piece []byte) error {
	p.text = append(p.text, piece...)
	p.lines = p.lines || len(p.text) > maxFile
	if !p.lines {
		return nil
	}
	rest := p.text
	searched := len(p.text) - len(piece)
	for {
		n := bytes.IndexByte(rest[searched:], '\n')
		if n < 0 {
			break
		}
		n += searched + 1
		if err := p.say(v, rest[:n]); err != nil {
			return err
		}
		rest, searched = rest[n:], 0
	}
	if len(rest) > maxLine {
		return &formats.Error{At: p.file, Err: fmt.Errorf("line %d is longer than %d MB", p.line+1, maxLine>>20)}
	}
	if len(rest) < len(p.text) {
		p.text = p.text[:copy(p.text, rest)]
	}
	return nil
}

func (p *plain) say(v visitor, text []byte) error {
	p.line++
	line := p.line
	if !p.lines {
		line = 0
	}
	if err := v.text(p.set, line, text); err != nil {
		at := store.Addr{File: p.file, Line: line}
		return &formats.Error{At: at.String(), Err: err}
	}
	return nil
}

func (p *plain) finish(v visitor) error {
	p.open = false
	if len(p.text) > 0 {
		if err := p.say(v, p.text); err != nil {
			return err
		}
		p.text = p.text[:0]
	}
	if v.end != nil {
		return v.end(p.set)
	}
	return nil
}

package archive

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"rehome/formats/internal/packed"
	"rehome/formats/store"
)

const unitBytes = 1 << 20

// cut reads all files in order and cuts them into units at line ends. An error is a unit,
// too, so that it is reported in order.
func (r *reader) cut(ctx context.Context) iter.Seq[*unit] {
	return func(yield func(*unit) bool) {
		for set, files := range r.files {
			for _, name := range files {
				c := r.cutter(set, name, yield)
				if ctx.Err() != nil || !c.run(ctx) {
					return
				}
			}
		}
	}
}

// cutter cuts one file. Its methods return false to stop.
type cutter struct {
	r     *reader
	set   int
	file  string
	at    place
	yield func(*unit) bool

	trailers bool // rows end in a line with their count and digest,
	ended    bool // and it was read
}

func (r *reader) cutter(set int, file string, yield func(*unit) bool) cutter {
	return cutter{
		r: r, set: set, file: file, at: r.placeOf(set, file), yield: yield,
		trailers: r.version > 1 && !common(file), ended: stream(file),
	}
}

// wrong fails at the next line.
func (c *cutter) wrong(err error) bool {
	c.yield(&unit{set: c.set, file: c.file, err: err, wrong: 1})
	return false
}

func (c *cutter) fail(err error) bool {
	c.yield(&unit{set: c.set, file: c.file, err: err})
	return false
}

func (c *cutter) run(ctx context.Context) bool {
	f, err := c.r.root.Open(c.file)
	if err != nil {
		return c.fail(err)
	}
	defer f.Close()
	if c.r.schema.Sets[c.set].Kind == store.Plain {
		return c.pieces(ctx, f)
	}
	in, err := packed.NewReader(f, min(c.r.jobs, maxPackers))
	if err != nil {
		return c.fail(err)
	}
	defer in.Close()
	size := int64(unitBytes)
	if info, err := f.Stat(); err == nil {
		size = min(size, info.Size()+1) // with one byte more, one read finds the end
	}
	return c.lines(ctx, in, int(size))
}

func (c *cutter) pieces(ctx context.Context, in io.Reader) bool {
	for n := 0; ctx.Err() == nil; n++ {
		piece := make([]byte, store.PieceBytes)
		got, err := io.ReadFull(in, piece)
		if got > 0 && !c.yield(&unit{set: c.set, file: c.file, text: piece[:got], piece: n}) {
			return false
		}
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return true
		case err != nil:
			return c.fail(err)
		}
	}
	return false
}

// lines cuts at the last line end of every megabyte. A longer line makes the buffer grow.
func (c *cutter) lines(ctx context.Context, in io.Reader, first int) bool {
	buf, have := c.r.buffer(first), 0
	for ctx.Err() == nil {
		got, err := io.ReadFull(in, buf[have:])
		have += got
		last := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !last {
			return c.fail(err)
		}
		end := bytes.LastIndexByte(buf[:have], '\n') + 1
		if last {
			if end < have {
				return c.fail(errors.New("incomplete last line"))
			}
			return c.sections(buf[:end]) && c.end()
		}
		if end == 0 {
			if buf = c.grow(buf, have); buf == nil {
				return false
			}
			continue
		}
		next := c.r.buffer(max(unitBytes, 2*(have-end)))
		rest := copy(next, buf[end:have])
		if !c.sections(buf[:end]) {
			return false
		}
		buf, have = next, rest
	}
	return false
}

// grow makes room for a long line, up to the number of bytes that the manifest lists.
func (c *cutter) grow(buf []byte, have int) []byte {
	if claim := c.r.claims[c.set].bytes; c.r.version == 1 && c.file != "" && int64(have) > max(claim, unitBytes) {
		c.fail(fmt.Errorf("text is longer than the %d bytes that the manifest lists", claim))
		return nil
	}
	if have > maxLine {
		c.fail(fmt.Errorf("line longer than %d MB", maxLine>>20))
		return nil
	}
	return append(buf[:have], make([]byte, max(len(buf), unitBytes))...)
}

var (
	errNoTrailer = errors.New("the last line, with the number and digest of the rows, is missing")
	errTrailer   = errors.New("rows after the line with their number and digest")
)

// end checks that the rows have ended in a trailer.
func (c *cutter) end() bool {
	if c.trailers && !c.ended {
		return c.fail(errNoTrailer)
	}
	return true
}

// sections yields complete lines, table by table. A line that starts with a brace is not a
// row: it names the table of the rows that follow in a stream, or is a trailer.
func (c *cutter) sections(text []byte) bool {
	if !stream(c.file) && !c.trailers {
		return len(text) == 0 || c.yield(&unit{set: c.set, file: c.file, at: c.at, text: text, whole: true})
	}
	for whole := true; len(text) > 0; whole = false {
		if text[0] == '{' {
			n := bytes.IndexByte(text, '\n') + 1
			if !c.mark(text[:n]) {
				return false
			}
			text = text[n:]
			continue
		}
		if c.trailers && c.ended {
			return c.wrong(errTrailer)
		}
		n := bytes.Index(text, []byte("\n{")) + 1
		if n == 0 {
			n = len(text)
		}
		if !c.yield(&unit{set: c.set, file: c.file, at: c.at, text: text[:n], whole: whole && n == len(text)}) {
			return false
		}
		text = text[n:]
	}
	return true
}

// mark takes a line that is not a row.
func (c *cutter) mark(line []byte) bool {
	if said, ok := parseTrailer(line); ok && c.trailers && !c.ended {
		c.ended = true
		return c.yield(&unit{set: c.set, file: c.file, trailer: &said})
	}
	if !stream(c.file) {
		return c.wrong(errors.New("not a row of cells, and not the number and digest of the rows"))
	}
	set, ok := c.r.announced(c.r.schema.Sets[c.set].File, line)
	if !ok {
		return c.wrong(errors.New("not a row, and not a {\"table\":...} line that names a table of this database"))
	}
	if !c.end() {
		return false
	}
	c.set, c.ended = set, false
	return c.yield(&unit{set: -1, file: c.file})
}

// announced returns the table that a line of the stream of a database names.
func (r *reader) announced(db string, line []byte) (set int, ok bool) {
	var head struct {
		Table *string `json:"table"`
	}
	if len(line) >= 1<<20 || json.Unmarshal(line, &head) != nil || head.Table == nil {
		return 0, false
	}
	again, err := section(*head.Table)
	set, ok = r.tables[db][*head.Table]
	return set, ok && err == nil && bytes.Equal(again, line)
}

// placeOf returns the place of a file in the digests of its lines.
func (r *reader) placeOf(set int, file string) place {
	if r.version > 1 {
		return placeOf(file)
	}
	rel, _ := strings.CutPrefix(file, tablePath(r.schema.Sets[set].File, r.schema.Sets[set].Name)+"/")
	if rel == file {
		return 0
	}
	return placeOf(rel)
}

// buffer returns a buffer of at least n bytes, a used one if it is large enough.
func (r *reader) buffer(n int) []byte {
	if b, ok := r.buffers.Get().(*[]byte); ok && len(*b) >= n {
		return *b
	}
	return make([]byte, n)
}

// reuse keeps the buffer of a parsed unit for another.
func (r *reader) reuse(u *unit) {
	if b := u.text[:cap(u.text)]; u.whole && len(b) <= 2*unitBytes {
		r.buffers.Put(&b)
	}
	u.text = nil
}

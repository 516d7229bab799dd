package jsonl

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rehome/formats"
	"rehome/formats/internal/linecheck"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/packed"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// MaxLine is the maximum length of a line; longer ones are unreadable.
const MaxLine = 64 << 20

// Line is a line of a file.
type Line struct {
	lines.Line
	Object   []byte    // the JSON object that it is; nil if it is blank or unreadable
	Repaired bool      // invalid UTF-8 was replaced in Object
	Bad      loss.Code // why it is unreadable
}

// Text returns a line of plain text.
func Text(l lines.Line) Line {
	out := Line{Line: l}
	if l.Long {
		out.Bad = loss.LineTooLong
	}
	return out
}

// Parse parses a line. The result is valid as long as the line.
func Parse(l lines.Line) Line {
	out := Text(l)
	if l.Long || l.Blank() {
		return out
	}
	b, repaired, err := rawjson.Line(bytes.TrimSpace(l.Bytes))
	switch {
	case err != nil && !l.Ended:
		out.Bad = loss.LineTorn
	case err != nil || b[0] != '{':
		out.Bad = loss.LineNotObject
	default:
		out.Object, out.Repaired = b, repaired
	}
	return out
}

// Account counts the line as read. It returns false for a line that is unreadable,
// which is counted as such and reported.
func (l *Line) Account(a *session.Account, note loss.Sink, at store.Addr) bool {
	a.Read++
	if l.Repaired {
		note.Add(loss.Loss{Code: loss.LineInvalidUTF8, At: at})
	}
	if l.Bad == "" {
		return true
	}
	a.Unreadable++
	n := loss.Loss{Code: l.Bad, At: at}
	if l.Long {
		n.Args = []string{fmt.Sprintf("%d MB", MaxLine>>20)}
	}
	note.Add(n)
	return false
}

// Packed reports whether a file is compressed.
func (f *File) Packed() bool { return strings.HasSuffix(f.Path, ".zst") }

// Lines yields the lines in the first bytes of a file, which may be compressed. end is
// the number of bytes; negative: all.
func (s *Store) Lines(ctx context.Context, f *File, end int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		err := s.each(ctx, f, end, func(l lines.Line) bool { return yield(Parse(l), nil) })
		if err != nil {
			yield(Line{}, err)
		}
	}
}

func (s *Store) each(ctx context.Context, f *File, end int64, take func(lines.Line) bool) error {
	file, err := s.Root.Open(f.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	in := io.NopCloser(file)
	if f.Packed() {
		if in, err = packed.NewReader(file, 1); err != nil {
			return err
		}
		defer in.Close()
	}
	if end < 0 {
		end = math.MaxInt64
	}
	for l, err := range lines.Each(ctx, io.LimitReader(in, end), MaxLine) {
		if err != nil {
			return err
		}
		if !take(l) {
			break
		}
	}
	return nil
}

// Check applies the rules of lines to a file, and calls take with those that can be
// checked further.
func (s *Store) Check(ctx context.Context, f *File, v formats.View, q *rule.Pass, o linecheck.Options, take func(*linecheck.Line)) error {
	o.Format, o.Most, o.Packed = cmp.Or(s.layout.Family, s.layout.Format), MaxLine, f.Packed()
	for l, err := range linecheck.Lines(ctx, filepath.Join(s.Root.Name(), filepath.FromSlash(f.Path)), f.Name, v, q, o) {
		if err != nil {
			return Failure(ctx, s.layout.Format, f.Path, err)
		}
		take(&l)
	}
	return nil
}

// MaxEnd is how much of each end of a file is read to list it.
const MaxEnd = 64 << 10

// Ends is what a list reads of a file.
type Ends struct {
	Size       int64
	Head, Tail []byte // the first and the last MaxEnd bytes, which can overlap; valid until the next call
}

// Ends reads both ends of a file, and its size. A client that is appending a line may
// finish it first.
func (s *Store) Ends(f *File) (e Ends, err error) {
	file, err := s.Root.Open(f.Path)
	if err != nil {
		return e, err
	}
	defer file.Close()
	for n := 1; ; n++ {
		info, err := file.Stat()
		if err != nil {
			return e, err
		}
		if e, err = s.ends(file, info.Size()); err != nil {
			return e, err
		}
		if whole := len(e.Tail) == 0 || e.Tail[len(e.Tail)-1] == '\n' || f.Packed(); whole || n == MaxTries || !Grows(file, info) {
			return e, nil
		}
	}
}

// ends reads both ends of the first bytes of a file: what is appended meanwhile is not of its size.
func (s *Store) ends(file *os.File, size int64) (e Ends, err error) {
	e.Size = size
	if s.head == nil {
		s.head, s.tail = make([]byte, MaxEnd), make([]byte, MaxEnd)
	}
	n, err := file.ReadAt(s.head[:min(MaxEnd, size)], 0)
	if e.Head, e.Tail = s.head[:n], s.head[:n]; err == nil && size > MaxEnd {
		n, err = file.ReadAt(s.tail, size-MaxEnd)
		e.Tail = s.tail[:n]
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return e, err
}

// Time parses a JSON string with an RFC 3339 time; the result is unknown if it is not
// one.
func Time(raw []byte) session.Stamp {
	if t, err := time.Parse(time.RFC3339Nano, rawjson.Text(raw)); err == nil {
		return session.Stored(t.UnixMilli())
	}
	return session.Stamp{}
}

// FirstText returns the text of a message's content: a string, or a list of parts, the
// first of which with a text counts.
func FirstText(content []byte) string {
	text := rawjson.Text(content)
	for part := range rawjson.Elements(content) {
		if text = rawjson.TextAt(part, "text"); text != "" {
			break
		}
	}
	return text
}

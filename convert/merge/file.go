package merge

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"

	"rehome/convert/internal/notify"
	"rehome/formats"
)

// maxLine bounds the memory for a line.
const maxLine = 512 << 20

// digest identifies a line or a file.
type digest [sha256.Size]byte

func (d digest) String() string { return hex.EncodeToString(d[:]) }

func digestOf(b []byte) digest { return sha256.Sum256(b) }

// file is a file of one copy of a session.
type file struct {
	path    string // slash path inside of the store
	real    string
	info    fs.FileInfo // as it was when it was found
	rule    *formats.MergeFile
	changed time.Time // when a client changed it last, which some order their sessions by
	session string    // of which it is the file, if the format lists sessions
	own     bool      // that is not part of another one, but merged with it
	parent  string    // the session without which it is worth nothing
	of      string    // of a fork: the session
	place   string    // its path in the result; "" if that is path
	from    int64     // of a part of the real file
	size    int64     // of that part; 0 = all of it
	// forks are the forks that a copy became, one after the other.
	forks []forked

	sum     digest
	lines   []digest // of lines, or of their keys if the rule has keys; none of attachments
	values  []digest // of lines with keys
	updated int64

	progress func(stage string, n int) // nil: not shown
}

// fork says how the lines of a session become those of a fork.
type fork struct {
	rewrite func(dst, line []byte, path string, ids map[string]string, title string) ([]byte, bool)
	ids     map[string]string
	title   string
}

// forked is a fork, for one file of it: it gets a line before its nth line, or none.
type forked struct {
	*fork
	nth  int
	line []byte
}

// ruleFor returns what a file holds, nil if it is an attachment, and its place in the order.
func ruleFor(m *formats.Merge, p string) (*formats.MergeFile, int) {
	if m == nil {
		return nil, 0
	}
	for i := range m.Files {
		if ok, err := path.Match(m.Files[i].Name, path.Base(p)); ok && err == nil {
			return &m.Files[i], i
		}
	}
	return nil, len(m.Files)
}

// each calls f for each line, with its line break.
func (f *file) each(do func(line []byte) error) error {
	in, err := os.Open(f.real)
	if err != nil {
		return err
	}
	defer in.Close()
	if now, err := in.Stat(); err != nil || f.info != nil && (now.Size() != f.info.Size() || !now.ModTime().Equal(f.info.ModTime())) {
		return errors.Join(err, formats.Changed("", f.real))
	}
	if f.rule != nil {
		for i := len(f.forks) - 1; i >= 0; i-- {
			do = f.forks[i].lines(f.path, do)
		}
	}
	from := io.Reader(in)
	if f.size > 0 {
		from = io.NewSectionReader(in, f.from, f.size)
	}
	r, line := bufio.NewReaderSize(from, 64<<10), []byte(nil)
	for {
		piece, err := r.ReadSlice('\n')
		if line = append(line, piece...); len(line) > maxLine {
			return &formats.Error{At: f.real, Err: fmt.Errorf("a line is longer than %d MB", maxLine>>20)}
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(line) > 0 {
			if err := do(line); err != nil {
				return err
			}
		}
		if line = line[:0]; err != nil {
			return nil
		}
	}
}

// lines returns a function that hands on the lines of a fork.
func (fk *forked) lines(p string, do func([]byte) error) func([]byte) error {
	n, out := 0, []byte(nil)
	return func(line []byte) error {
		if n++; n-1 == fk.nth && fk.line != nil {
			if err := do(append(bytes.Clone(fk.line), '\n')); err != nil {
				return err
			}
		}
		text := bytes.TrimRight(line, "\r\n")
		out, _ = fk.rewrite(out[:0], text, p, fk.ids, fk.title)
		return do(append(out, line[len(text):]...))
	}
}

// at returns the path of the file in the result.
func (f *file) at() string { return cmp.Or(f.place, f.path) }

// virtual reports that the file is a set of records in a database.
func (f *file) virtual() bool { return f.real == "" }

// load digests the file. It is read as lines unless it is an attachment.
func (f *file) load() error {
	if f.virtual() {
		return nil
	}
	h := sha256.New()
	f.lines, f.values = nil, nil
	err := f.each(func(line []byte) error {
		if h.Write(line); f.progress != nil {
			f.progress(notify.Reading, len(line))
		}
		text := bytes.TrimRight(line, "\r\n")
		switch {
		case f.rule == nil || f.rule.State:
			return nil
		case f.rule.Key == nil:
			if len(text) == len(line) && !f.rule.Text && !json.Valid(text) {
				return nil // it is torn: no client reads it
			}
			if f.rule.Records == nil {
				f.lines = append(f.lines, digestOf(text))
				return nil
			}
			for _, record := range f.rule.Records(text) {
				f.lines = append(f.lines, digestOf([]byte(record)))
			}
			f.updated = max(f.updated, f.rule.Updated(text))
			return nil
		}
		key, _ := f.rule.Key(text)
		f.lines, f.values = append(f.lines, digestOf([]byte(key))), append(f.values, digestOf(text))
		if f.rule.Updated != nil {
			f.updated = max(f.updated, f.rule.Updated(text))
		}
		return nil
	})
	h.Sum(f.sum[:0])
	return err
}

// goesOn reports whether the file has the lines of another one and more, and lines are only
// appended to it.
func (f *file) goesOn(o *file) bool {
	appended := f.rule != nil && f.rule.Key == nil && !f.rule.State
	return appended && len(f.lines) > len(o.lines) && slices.Equal(f.lines[:len(o.lines)], o.lines)
}

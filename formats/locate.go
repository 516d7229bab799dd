package formats

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
)

// Location is a file or folder that may be a store. What it has once looked
// at it remembers, so that many probes cost one look. It belongs to one
// goroutine.
type Location struct {
	Path string // as given; symbolic links are followed

	within, rel string      // see Join
	info        fs.FileInfo // nil: nothing is there
	entries     map[string]fs.DirEntry
	head        []byte
	text        []byte
	whole       bool
}

// Match is the answer of a probe.
type Match struct {
	Score    int      // 0: not this format; 100: nothing else it could be
	Evidence []string // what was seen, in words
}

// Guess is the score of a format that is named by nothing but an ending. It is
// enough where somebody points at this very place, not where a walk passes by.
const Guess = 1

// Locate looks at a path. The path must exist.
func Locate(path string) (*Location, error) {
	info, err := os.Stat(path)
	if path == "" {
		err, path = errors.New("no path"), `""`
	}
	if err != nil {
		return nil, &Error{At: path, Err: cause(err)}
	}
	return &Location{Path: path, info: info}, nil
}

// cause strips the path that os errors repeat.
func cause(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// Join is a file or folder inside this folder, by its slash path. A link that
// leads out of the folder is not followed: like what is not there, it is
// neither a folder nor a regular file.
func (l *Location) Join(rel string) *Location {
	rel = filepath.FromSlash(rel)
	b := &Location{Path: filepath.Join(l.Path, rel), within: l.Path, rel: rel}
	if root, err := os.OpenRoot(l.Path); err == nil {
		defer root.Close()
		if info, err := root.Stat(rel); err == nil {
			b.info = info
		}
	}
	return b
}

// IsDir reports whether the location is a folder.
func (l *Location) IsDir() bool { return l.info != nil && l.info.IsDir() }

// IsRegular reports whether the location is an ordinary file.
func (l *Location) IsRegular() bool { return l.info != nil && l.info.Mode().IsRegular() }

// Name is the last element of the path.
func (l *Location) Name() string {
	if abs, err := filepath.Abs(l.Path); err == nil {
		return filepath.Base(abs)
	}
	return filepath.Base(l.Path)
}

// Has reports whether a folder has an entry of that name.
func (l *Location) Has(name string) bool {
	if l.entries == nil {
		l.entries = map[string]fs.DirEntry{}
		if l.IsDir() {
			list, _ := os.ReadDir(l.Path)
			for _, e := range list {
				l.entries[e.Name()] = e
			}
		}
	}
	_, ok := l.entries[name]
	return ok
}

// What a probe reads of a file, at most.
const (
	// maxHead holds every magic number, and tells text from binary.
	maxHead = 512
	// maxText holds the first lines of a session, even where one of them is a
	// long prompt.
	maxText = 64 << 10
	// maxLine is for a first line that is longer than that: clients put the
	// prompt in front of what the line is known by, and pictures into the
	// prompt. The largest request that a model's API takes is 32 MB; a quarter
	// of that has room for a screenshot of 5 MB in base64.
	maxLine = 8 << 20
)

// Head returns the first bytes of a file, at most 512.
func (l *Location) Head() []byte {
	if l.head == nil {
		l.head = l.read(nil, maxHead)
	}
	return l.head
}

// Text returns the beginning of a text file: 64 KB, or up to 8 MB where the
// first line is an object that goes on beyond that. It is empty for a binary
// file, one with a zero byte among its first and no brace in front of it. whole
// reports that the file has no more than that.
func (l *Location) Text() (text []byte, whole bool) {
	if l.text == nil && !l.binary() {
		size := maxText
		l.text = l.read(l.head, size)
		for ; len(l.text) == size && size < maxLine && object(l.text) && oneLine(l.text); l.text = l.read(l.text, size) {
			size *= 2
		}
		l.whole = len(l.text) < size
	}
	return l.text, l.whole
}

func (l *Location) binary() bool { return bytes.IndexByte(l.Head(), 0) >= 0 && !object(l.head) }

// object reports a text that begins with a brace.
func object(text []byte) bool { return bytes.HasPrefix(trim(text), []byte("{")) }

// oneLine reports that the end of the first line is not there.
func oneLine(text []byte) bool { return bytes.IndexByte(trim(text), '\n') < 0 }

// FirstLine returns the first line of a text file with anything on it, without the
// blanks around it. Of one longer than Text reads it is the beginning.
func (l *Location) FirstLine() []byte {
	text := l.Head()
	if oneLine(text) || l.binary() {
		text, _ = l.Text()
	}
	line, _, _ := bytes.Cut(trim(text), []byte("\n"))
	return bytes.TrimRight(line, " \t\r")
}

// Lines yields what Text reads line by line: those with anything on them,
// without the blanks around them. torn reports one that goes on beyond that.
func (l *Location) Lines() iter.Seq2[[]byte, bool] {
	return func(yield func(line []byte, torn bool) bool) {
		text, whole := l.Text()
		for line := range bytes.Lines(trim(text)) {
			torn := !whole && line[len(line)-1] != '\n'
			if line = bytes.TrimSpace(line); len(line) > 0 && !yield(line, torn) {
				return
			}
		}
	}
}

// trim takes away what may stand in front of a file's first line.
func trim(text []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\ufeff")), " \t\r\n")
}

// read reads on behind what was read of a file, up to a size.
func (l *Location) read(have []byte, size int) []byte {
	if !l.IsRegular() {
		return []byte{}
	}
	var f *os.File
	var err error
	if l.within != "" {
		f, err = os.OpenInRoot(l.within, l.rel)
	} else {
		f, err = os.Open(l.Path)
	}
	if err != nil {
		return []byte{}
	}
	defer f.Close()
	b := make([]byte, max(len(have), min(size, int(l.info.Size()+1)))) // one more, in case it grew
	n, _ := io.ReadFull(io.NewSectionReader(f, int64(len(have)), int64(len(b)-len(have))), b[copy(b, have):])
	return b[:len(have)+n]
}

// Detected is a format that recognized a location, and why.
type Detected struct {
	Format *Format
	Match
}

// Detect asks every format about the location. The best match is first; ties
// go to the registry's order. What was read for it is not kept: a walk meets
// many files.
func (r *Registry) Detect(ctx context.Context, l *Location) ([]Detected, error) {
	defer func() { l.text = nil }()
	var out []Detected
	for _, f := range r.list {
		if f.Probe == nil {
			continue
		}
		m, err := f.Probe(ctx, l)
		if err != nil {
			return nil, err
		}
		if m.Score <= 0 {
			continue
		}
		at := len(out)
		for at > 0 && out[at-1].Score < m.Score {
			at--
		}
		out = append(out, Detected{})
		copy(out[at+1:], out[at:])
		out[at] = Detected{f, m}
	}
	return out, nil
}

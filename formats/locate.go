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

// Location is a file or folder that may be a store. It caches what it has read,
// so that many probes read a file once. It is not safe for concurrent use.
type Location struct {
	Path string // as given; symbolic links are followed

	within, rel string      // see Join
	info        fs.FileInfo // nil: nothing exists there
	entries     map[string]fs.DirEntry
	head        []byte
	text        []byte
	whole       bool
}

// Match is the result of a probe.
type Match struct {
	Score    int      // 0: not this format; 100: cannot be another format
	Evidence []string // what the probe found, in words
}

// Guess is the score for a file that only its extension identifies. It is enough
// if the user names the file, but not if a search comes across it.
const Guess = 1

// Locate returns the location of a path, which must exist.
func Locate(path string) (*Location, error) {
	info, err := os.Stat(path)
	if path == "" {
		err, path = errors.New("no path"), `""`
	}
	if err != nil {
		return nil, &Error{At: path, Err: Cause(err)}
	}
	return &Location{Path: path, info: info}, nil
}

// Join returns the location of a file or folder inside this folder, by its slash
// path. A link that leads out of the folder is not followed: like a missing file,
// it is neither a folder nor a regular file.
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

// IsRegular reports whether the location is a regular file.
func (l *Location) IsRegular() bool { return l.info != nil && l.info.Mode().IsRegular() }

// Name returns the last element of the path.
func (l *Location) Name() string {
	if abs, err := filepath.Abs(l.Path); err == nil {
		return filepath.Base(abs)
	}
	return filepath.Base(l.Path)
}

// Has reports whether a folder has an entry with that name.
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

// How much of a file a probe reads.
const (
	// maxHead is enough for every magic number, and to distinguish text from
	// binary.
	maxHead = 512
	// maxText is enough for the first lines of a session, even if one of them is a
	// long prompt.
	maxText = 64 << 10
	// maxLine is for a longer first line: clients write the prompt before the
	// members that identify the line, and pictures into the prompt. The largest
	// request that a model's API accepts is 32 MB; a quarter of that holds a 5 MB
	// screenshot in base64.
	maxLine = 8 << 20
)

// Head returns the first bytes of a file, at most 512.
func (l *Location) Head() []byte {
	if l.head == nil {
		l.head = l.read(nil, maxHead)
	}
	return l.head
}

// Text returns the start of a text file: 64 KB, or up to 8 MB if its first line is
// a longer object. It is empty for a binary file: one with a zero byte in its
// head that does not start with a brace. whole reports that this is all of the
// file.
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

// object reports whether a text starts with a brace.
func object(text []byte) bool { return bytes.HasPrefix(trim(text), []byte("{")) }

// oneLine reports whether a text does not reach the end of its first line.
func oneLine(text []byte) bool { return bytes.IndexByte(trim(text), '\n') < 0 }

// FirstLine returns the first line of a text file that is not blank, without
// surrounding white space, or its start if it is longer than Text reads.
func (l *Location) FirstLine() []byte {
	text := l.Head()
	if oneLine(text) || l.binary() {
		text, _ = l.Text()
	}
	line, _, _ := bytes.Cut(trim(text), []byte("\n"))
	return bytes.TrimRight(line, " \t\r")
}

// Lines yields the lines of Text that are not blank, without surrounding white
// space. torn reports a line that Text has only the start of.
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

// trim removes a byte order mark and white space from the start of a text.
func trim(text []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\ufeff")), " \t\r\n")
}

// read extends what was read of a file up to a size.
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
	b := make([]byte, max(len(have), min(size, int(l.info.Size()+1)))) // one more, in case the file has grown
	n, _ := io.ReadFull(io.NewSectionReader(f, int64(len(have)), int64(len(b)-len(have))), b[copy(b, have):])
	return b[:len(have)+n]
}

// Detected is a format that recognizes a location, and why.
type Detected struct {
	Format *Format
	Match
}

// Detect probes a location with every format. It returns the best match first,
// equal ones in the order of the registry. It drops the text that probes read,
// because a walk visits many files.
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

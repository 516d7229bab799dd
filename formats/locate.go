package formats

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Location is a file or folder that may be a store. What it has once looked
// at it remembers, so that many probes cost one look. It belongs to one
// goroutine.
type Location struct {
	Path string // as given; symbolic links are followed

	info    fs.FileInfo
	entries map[string]fs.DirEntry
	head    []byte
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
	if err != nil {
		return nil, &Error{At: path, Err: cause(err), Hint: "check the path; ~ and wildcards are the shell's business"}
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

// Dir reports whether the location is a folder.
func (l *Location) Dir() bool { return l.info.IsDir() }

// Regular reports whether the location is an ordinary file.
func (l *Location) Regular() bool { return l.info.Mode().IsRegular() }

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
		if l.Dir() {
			list, _ := os.ReadDir(l.Path)
			for _, e := range list {
				l.entries[e.Name()] = e
			}
		}
	}
	_, ok := l.entries[name]
	return ok
}

// Head is the first bytes of a file, at most 512.
func (l *Location) Head() []byte {
	if l.head == nil {
		l.head = []byte{}
		if f, err := l.open(); err == nil {
			defer f.Close()
			b := make([]byte, 512)
			n, _ := io.ReadFull(f, b)
			l.head = b[:n]
		}
	}
	return l.head
}

func (l *Location) open() (*os.File, error) {
	if !l.Regular() {
		return nil, fs.ErrInvalid
	}
	return os.Open(l.Path)
}

// Detected is a format that recognised a location, and why.
type Detected struct {
	Format *Format
	Match
}

// Detect asks every format about the location. The best match is first; ties
// go to the registry's order.
func (r *Registry) Detect(ctx context.Context, l *Location) ([]Detected, error) {
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

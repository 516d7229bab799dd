package reach

import (
	"bytes"
	"io"
)

// renamer replaces paths of private copies by the names of their homes in what is written,
// also where a path is divided over writes.
type renamer struct {
	to    io.Writer
	names []rename
	held  []byte // may be the beginning of a path
}

type rename struct{ path, name []byte }

func (r *renamer) Write(p []byte) (int, error) {
	text := append(r.held, p...)
	for _, n := range r.names {
		text = bytes.ReplaceAll(text, n.path, n.name)
	}
	keep := 0
	for _, n := range r.names {
		for i := min(len(n.path)-1, len(text)); i > keep; i-- {
			if bytes.HasSuffix(text, n.path[:i]) {
				keep = i
			}
		}
	}
	cut := len(text) - keep
	if _, err := r.to.Write(text[:cut]); err != nil {
		return 0, err
	}
	r.held = bytes.Clone(text[cut:])
	return len(p), nil
}

// flush writes what was held.
func (r *renamer) flush() error {
	_, err := r.to.Write(r.held)
	r.held = nil
	return err
}

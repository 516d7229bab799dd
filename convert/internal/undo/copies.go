package undo

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"

	"rehome/internal/fsx"
)

// Copy says from which session a session was made. It is kept for good, unlike a Record: the
// copy can be deleted and made again, which makes the same one.
type Copy struct {
	Format  string `json:"format"`
	Session string `json:"session"` // its id in the client
	Of      string `json:"of"`      // the id of its source
}

const (
	copiesName    = "copies.ndjson"
	maxCopiesRead = 64 << 20 // bytes that are read
)

// Copies returns the copies that were recorded. What cannot be read is left out.
func (f Folder) Copies() (out []Copy) {
	file, err := os.Open(filepath.Join(f.Dir, copiesName))
	if f.Dir == "" || err != nil {
		return nil
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, maxCopiesRead))
	for lines.Scan() {
		var c Copy
		if json.Unmarshal(lines.Bytes(), &c) == nil && c.Session != "" && c.Of != "" {
			out = append(out, c)
		}
	}
	return out
}

// Copied records copies, as far as they were not recorded before.
func (l *Log) Copied(list []Copy) error {
	known := map[Copy]bool{}
	for _, c := range l.folder.Copies() {
		known[c] = true
	}
	var lines bytes.Buffer
	for _, c := range list {
		if known[c] {
			continue
		}
		line, err := json.Marshal(c)
		if err != nil {
			return err
		}
		lines.WriteString("\n")
		lines.Write(line)
		known[c] = true
	}
	if lines.Len() == 0 {
		return nil
	}
	lines.WriteString("\n")
	path := filepath.Join(l.folder.Dir, copiesName)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(lines.Bytes()) // begins with a line end: a killed run may have left half a line
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = fsx.SyncFile(path)
	}
	return err
}

// Moved says of which folder's sessions the files of a record are copies, or which of
// them it removed.
type Moved struct {
	Old     string   `json:"old"`
	New     string   `json:"new"`
	Removed bool     `json:"removed,omitempty"` // the originals were removed
	Placed  bool     `json:"placed,omitempty"`  // the copies are in their places: the run was not killed before
	Sources []Source `json:"sources"`
}

// Source is an original, as it was when it was copied.
type Source struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`       // see fsx.DigestTree
	To     string `json:"to"`           // the path of the copy
	Of     string `json:"of,omitempty"` // To of the session's own file, if that is another one
	ID     string `json:"id,omitempty"` // of the session
	Title  string `json:"title,omitempty"`
}

// Family returns the path of the copy of the session to which an original belongs.
func (s *Source) Family() string { return cmp.Or(s.Of, s.To) }

// Together reports whether two records are of one move.
func (r *Record) Together(o *Record) bool {
	return r.Moved != nil && o.Moved != nil && r.Made.Equal(o.Made) && r.Moved.Old == o.Moved.Old && r.Moved.New == o.Moved.New && r.Moved.Removed == o.Moved.Removed
}

// Families returns the originals of each session.
func (m *Moved) Families() [][]Source { return families(m.Sources, (*Source).Family) }

// Narrow takes all sessions out of a record of a move but those of these files.
func (r *Record) Narrow(paths []string) {
	wanted := map[string]bool{}
	for _, path := range paths {
		i := slices.IndexFunc(r.Files, func(f File) bool { return f.Path == path })
		if i < 0 {
			return // rather too much than too little
		}
		wanted[r.Files[i].Family()] = true
	}
	r.Files = slices.DeleteFunc(r.Files, func(f File) bool { return !wanted[f.Family()] })
	r.Moved.Sources = slices.DeleteFunc(r.Moved.Sources, func(s Source) bool {
		if r.Moved.Removed {
			return !slices.ContainsFunc(r.Files, func(f File) bool { return f.Path == s.Path })
		}
		return !wanted[s.Family()]
	})
}

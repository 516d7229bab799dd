package backup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"rehome/formats"
)

// IndexName is the name of the file that describes a snapshot: schema backup-1.
const IndexName = "backup.json"

const (
	indexVersion = 1
	maxIndex     = 256 << 20
)

// Index describes a snapshot.
type Index struct {
	Rehome  string  `json:"rehome"` // "backup"
	Version int     `json:"version"`
	Program string  `json:"program,omitempty"` // the version of rehome that made it
	Time    string  `json:"time,omitempty"`
	OS      string  `json:"os"`
	Home    string  `json:"home"`
	Secrets bool    `json:"secrets"` // false: withheld
	Stores  []Store `json:"stores"`
}

// Store is a store in a snapshot.
type Store struct {
	Client string `json:"client"`
	Format string `json:"format"`
	Path   string `json:"path"`           // where the client has it; "~/" is the home folder
	Text   string `json:"text,omitempty"` // slash path in the snapshot; "" if there is no copy
	Kind   string `json:"kind"`           // "archive" or "files"

	Modified int64  `json:"modified,omitempty"` // of the newest file of an archived store, in milliseconds of Unix time
	Files    int64  `json:"files,omitempty"`
	Bytes    int64  `json:"bytes,omitempty"`
	Digest   string `json:"digest,omitempty"` // of the files of an archive

	Gone  bool   `json:"gone,omitempty"`  // it no longer exists on the machine
	AsOf  string `json:"as_of,omitempty"` // the last snapshot for which it could be read
	Error string `json:"error,omitempty"` // why it could not be read for this one

	List     []File    `json:"list,omitempty"`     // of kind "files", sorted
	Count    int       `json:"count,omitempty"`    // of sessions that no format reads
	LeftOut  []string  `json:"left_out,omitempty"` // secrets, and what is not a file
	Sessions []Session `json:"sessions,omitempty"`
}

// The values of Store.Kind.
const (
	archiveKind = "archive"
	filesKind   = "files"
)

// File is a file of a store that is saved as files.
type File struct {
	Path     string `json:"path"` // slash path below the store
	Bytes    int64  `json:"bytes"`
	Modified int64  `json:"modified"` // in milliseconds of Unix time
	Digest   string `json:"digest"`
	Gone     bool   `json:"gone,omitempty"`
}

// Session is a session of a store.
type Session struct {
	Client  string `json:"client"`
	ID      string `json:"id"`
	Title   string `json:"title,omitempty"`
	Project string `json:"project,omitempty"`
	Updated int64  `json:"updated,omitempty"` // in milliseconds of Unix time
	Parent  string `json:"parent,omitempty"`
}

// readIndex reads the index of a snapshot. It is hostile input: nothing in it leads
// out of the snapshot or the home folder.
func readIndex(dir string) (*Index, error) {
	at := filepath.Join(dir, IndexName)
	refuse := func(err error) (*Index, error) {
		return nil, &formats.Error{At: at, Err: err, Hint: "name another snapshot, or the folder of backups"}
	}
	info, err := os.Lstat(at)
	if err != nil {
		return refuse(formats.Cause(err))
	}
	if !info.Mode().IsRegular() {
		return refuse(errors.New("not a regular file"))
	}
	f, err := os.Open(at)
	if err != nil {
		return refuse(formats.Cause(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxIndex+1))
	if err != nil {
		return refuse(err)
	}
	if len(text) > maxIndex {
		return refuse(fmt.Errorf("larger than %d MB", maxIndex>>20))
	}
	var ix Index
	if err := json.Unmarshal(text, &ix); err != nil {
		return refuse(err)
	}
	if ix.Rehome != "backup" || ix.Version < 1 {
		return refuse(errors.New("not an index of rehome backup"))
	}
	if ix.Version > indexVersion {
		return nil, &formats.Error{At: at, Err: fmt.Errorf("version %d, but this rehome reads up to %d", ix.Version, indexVersion), Hint: "install a newer rehome"}
	}
	if err := ix.validate(); err != nil {
		return refuse(err)
	}
	return &ix, nil
}

func (ix *Index) validate() error {
	texts := map[string]bool{}
	for i := range ix.Stores {
		s := &ix.Stores[i]
		inHome, below := strings.CutPrefix(s.Path, "~/")
		switch {
		case s.Kind != archiveKind && s.Kind != filesKind:
			return fmt.Errorf("store %d: invalid kind %q", i, s.Kind)
		case below && !isLocal(inHome), !below && s.Path == "":
			return fmt.Errorf("store %d: invalid path %q", i, s.Path)
		case s.Text == "" && s.Error == "", s.Text != "" && !isLocal(s.Text):
			return fmt.Errorf("%s: invalid text path %q", s.Path, s.Text)
		case s.Text != "" && texts[s.Text]:
			return fmt.Errorf("%s: duplicate text path %q", s.Path, s.Text)
		}
		texts[s.Text] = true
		files := map[string]bool{}
		for _, f := range s.List {
			if !isLocal(f.Path) || files[f.Path] {
				return fmt.Errorf("%s: invalid or duplicate file path %q", s.Path, f.Path)
			}
			files[f.Path] = true
		}
	}
	return nil
}

// isLocal reports whether a slash path stays in its folder, and names something in
// it.
func isLocal(p string) bool {
	return p != "." && p == path.Clean(p) && !path.IsAbs(p) && filepath.IsLocal(filepath.FromSlash(p))
}

func (ix *Index) write(dir string) error {
	var doc bytes.Buffer
	enc := json.NewEncoder(&doc)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(ix); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, IndexName), doc.Bytes(), 0o600)
}

// find returns the store of a client at a path, nil if there is none.
func (ix *Index) find(client, path string) *Store {
	if ix == nil {
		return nil
	}
	for i := range ix.Stores {
		if s := &ix.Stores[i]; s.Path == path && s.Client == client {
			return s
		}
	}
	return nil
}

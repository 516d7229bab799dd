package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"rehome/formats"
	"rehome/formats/internal/digest"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/packed"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

const (
	version      = 2 // that is written
	maxDocument  = 64 << 20
	maxDocuments = 256 << 20 // of all databases together
	maxTokens    = 1 << 20   // names, values and brackets in one
)

// manifest is manifest.json, in the order it is written. Nothing in it depends on the
// sessions, so that it is the same on both sides of a merge.
type manifest struct {
	Rehome   string `json:"rehome"`
	Version  int    `json:"version"`
	Digest   string `json:"digest,omitempty"` // of the manifest without it; early versions wrote none
	Origin   string `json:"origin"`
	Compress string `json:"compress"`
}

// database is database.json, in the folder of its database.
type database struct {
	Digest  string         `json:"digest,omitempty"` // of the file without it
	Pragmas store.Pragmas  `json:"pragmas"`
	Objects []store.Object `json:"objects"`
	Tables  []table        `json:"tables"`
}

type table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	RowIDs  bool     `json:"rowids"`
}

// manifest1 is manifest.json of version 1, which had everything in it.
type manifest1 struct {
	manifest
	Databases []database1 `json:"databases"`
	Files     []file1     `json:"files"`
}

type database1 struct {
	Path    string         `json:"path"`
	Pragmas store.Pragmas  `json:"pragmas"`
	Objects []store.Object `json:"objects"`
	Tables  []table1       `json:"tables"`
}

type table1 struct {
	table
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	Digest string `json:"digest"`
}

type file1 struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	Digest string `json:"digest"`
}

// document is a JSON file that rehome spells in one way, with a digest of its own. The
// digest protects from accidents: who can edit one can edit the other.
type document interface{ sum() *string }

func (m *manifest) sum() *string { return &m.Digest }
func (d *database) sum() *string { return &d.Digest }

// signed returns the text of a document, with its digest.
func signed(doc document) ([]byte, error) {
	*doc.sum() = ""
	b, err := spelled(doc)
	if err != nil {
		return nil, err
	}
	*doc.sum() = digest.Bytes(b).String()
	return spelled(doc)
}

func spelled(doc document) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(doc)
	return b.Bytes(), err
}

// errEdited is the error of a document that does not match its digest.
var errEdited = errors.New("does not match its own digest")

// decode reads a document.
func decode(b []byte, doc document) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(doc); err != nil {
		return plain(err)
	}
	// The decoder ignores case, blanks, order, and what is missing or follows. Such
	// differences show here.
	if again, err := spelled(doc); err != nil || !bytes.Equal(again, b) {
		return &formats.Error{Err: errors.New("not written the way rehome writes it"), Hint: "restore it from git; it was edited"}
	}
	said := *doc.sum()
	if _, first := doc.(*manifest1); first && said == "" {
		return nil
	}
	if _, err := signed(doc); err != nil || *doc.sum() != said {
		return &formats.Error{Err: errEdited, Hint: "restore it from git; it was edited or merged"}
	}
	return nil
}

// plain returns a JSON error without Go types in its text.
func plain(err error) error {
	if te := (*json.UnmarshalTypeError)(nil); errors.As(err, &te) {
		return fmt.Errorf("/%s: unexpected %s", te.Field, te.Value)
	}
	return err
}

// parseManifest parses manifest.json of either version. Only version 1 has a second
// result.
func parseManifest(b []byte) (*manifest, *manifest1, error) {
	if err := sane(b); err != nil {
		return nil, nil, err
	}
	var head struct{ Version json.RawMessage } // members of a newer version may be unknown
	m, old := new(manifest), new(manifest1)
	err := json.NewDecoder(bytes.NewReader(b)).Decode(&head)
	switch first := string(head.Version) == "1"; {
	case err != nil:
		err = plain(err)
	case first:
		err = decode(b, old)
		m = &old.manifest
	default:
		if err = decode(b, m); m.Rehome == name && m.Version > version {
			err = nil // report the version instead
		}
		old = nil
	}
	switch {
	case err != nil:
		return nil, nil, err
	case m.Rehome != name:
		return nil, nil, errors.New(`"rehome" is not "archive"`)
	case m.Version < 1 || m.Version > version:
		return nil, nil, &formats.Error{Err: fmt.Errorf("unsupported archive version %d", m.Version), Hint: "try a newer version of rehome; this one reads archive versions 1 and 2"}
	case !slices.Contains([]string{"none", "gzip", "zstd"}, m.Compress):
		return nil, nil, fmt.Errorf("unknown compression %q", m.Compress)
	}
	return m, old, nil
}

// parseDatabase parses database.json of the database with this path.
func parseDatabase(b []byte, path string) (store.Database, []store.Set, error) {
	d := new(database)
	err := sane(b)
	if err == nil {
		err = decode(b, d)
	}
	if err != nil {
		return store.Database{}, nil, err
	}
	var sets []store.Set
	for _, t := range d.Tables {
		set, err := t.set(path)
		if err != nil {
			return store.Database{}, nil, err
		}
		sets = append(sets, set)
	}
	return store.Database{Path: path, Pragmas: d.Pragmas, Objects: d.Objects}, sets, nil
}

// sane returns an error for JSON that must not be decoded.
func sane(b []byte) error {
	if lines.Conflict(b) {
		return errConflict
	}
	return rawjson.Unique(b, maxTokens) // the decoder takes the last of duplicate members
}

func (t table) set(db string) (store.Set, error) {
	if len(t.Columns) == 0 {
		return store.Set{}, fmt.Errorf("table %s has no columns", quote(t.Name))
	}
	return store.Set{File: db, Name: t.Name, Kind: store.Table, Columns: t.Columns, RowIDs: t.RowIDs}, nil
}

// schema returns the schema of the store, and what the manifest lists of each set.
func (m *manifest1) schema() (*store.Schema, []text, error) {
	s := &store.Schema{Origin: m.Origin}
	var claims []text
	add := func(set store.Set, rows, bytes int64, sum string) error {
		d, err := store.ParseDigest(sum)
		if err == nil && (rows < 0 || bytes < 0) {
			err = errors.New("negative count")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", quote(set.File+"/"+set.Name), err)
		}
		s.Sets = append(s.Sets, set)
		claims = append(claims, text{rows, bytes, d})
		return nil
	}
	for _, d := range m.Databases {
		s.Databases = append(s.Databases, store.Database{Path: d.Path, Pragmas: d.Pragmas, Objects: d.Objects})
		for _, t := range d.Tables {
			set, err := t.set(d.Path)
			if err == nil {
				err = add(set, t.Rows, t.Bytes, t.Digest)
			}
			if err != nil {
				return nil, nil, err
			}
		}
	}
	for _, f := range m.Files {
		if err := add(plainSet(f.Path), 0, f.Bytes, f.Digest); err != nil {
			return nil, nil, err
		}
	}
	return s, claims, nil
}

func plainSet(path string) store.Set {
	return store.Set{File: path, Kind: store.Plain, Columns: []string{"bytes"}}
}

// documents returns the manifest of an archive that is to be written, and the other
// documents, by path.
func documents(s *store.Schema, compress packed.Kind) map[string]document {
	out := map[string]document{manifestName: &manifest{Rehome: name, Version: version, Origin: s.Origin, Compress: compress.String()}}
	of := map[string]*database{}
	for _, d := range s.Databases {
		of[d.Path] = &database{Pragmas: d.Pragmas, Objects: append([]store.Object{}, d.Objects...), Tables: []table{}}
		out[databasePath(d.Path)] = of[d.Path]
	}
	for _, set := range s.Sets {
		if set.Kind == store.Table {
			of[set.File].Tables = append(of[set.File].Tables, table{set.Name, set.Columns, set.RowIDs})
		}
	}
	return out
}

// errConflict is the error of a file in which git left the marks of a conflict.
var errConflict = errors.New("unresolved merge conflict")

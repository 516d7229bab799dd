package archive

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/digest"
	"rehome/formats/internal/packed"
	"rehome/formats/internal/rawjson"
	"rehome/formats/store"
)

const (
	version     = 1
	maxManifest = 64 << 20
	maxTokens   = 1 << 20 // names, values and brackets in it
)

// manifest is manifest.json, in the order it is written.
type manifest struct {
	Rehome    string     `json:"rehome"`
	Version   int        `json:"version"`
	Digest    string     `json:"digest,omitempty"` // of the manifest without it; early versions wrote none
	Origin    string     `json:"origin"`
	Compress  string     `json:"compress"`
	Databases []database `json:"databases"`
	Files     []file     `json:"files"`
}

type database struct {
	Path    string         `json:"path"`
	Pragmas store.Pragmas  `json:"pragmas"`
	Objects []store.Object `json:"objects"`
	Tables  []table        `json:"tables"`
}

type table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	RowIDs  bool     `json:"rowids"`
	Rows    int64    `json:"rows"`
	Bytes   int64    `json:"bytes"`
	Digest  string   `json:"digest"`
}

type file struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	Digest string `json:"digest"`
}

// text is what was read or written of one set, or what the manifest lists.
type text struct {
	rows   int64
	bytes  int64
	digest store.Digest
}

// place is a file of a table in the digests of its lines: a hash of its path below the
// table's folder. It is 0 for the only file of a table and for a stream.
type place uint64

func placeOf(rel string) place {
	if rel == "" {
		return 0
	}
	return place(digest.Name(rel))
}

// add counts a line, with its line end, in its place: a line that was moved to another
// file is a different line.
func (t *text) add(line []byte, at place) {
	d := digest.Bytes(line)
	if at != 0 {
		var b [24]byte
		binary.BigEndian.PutUint64(b[:], d.Hi)
		binary.BigEndian.PutUint64(b[8:], d.Lo)
		binary.BigEndian.PutUint64(b[16:], uint64(at))
		d = digest.Bytes(b[:])
	}
	t.rows++
	t.bytes += int64(len(line))
	t.digest.Add(d)
}

// join adds the counts of more lines.
func (t *text) join(o text) {
	t.rows += o.rows
	t.bytes += o.bytes
	t.digest.Add(o.digest)
}

func newManifest(s *store.Schema, compress packed.Kind, wrote []text) *manifest {
	m := &manifest{Rehome: name, Version: version, Origin: s.Origin, Compress: compress.String(), Databases: []database{}, Files: []file{}}
	at := map[string]int{}
	for i, d := range s.Databases {
		at[d.Path] = i
		m.Databases = append(m.Databases, database{d.Path, d.Pragmas, append([]store.Object{}, d.Objects...), []table{}})
	}
	for i, set := range s.Sets {
		t := wrote[i]
		if set.Kind == store.Plain {
			m.Files = append(m.Files, file{set.File, t.bytes, t.digest.String()})
			continue
		}
		d := &m.Databases[at[set.File]]
		d.Tables = append(d.Tables, table{set.Name, set.Columns, set.RowIDs, t.rows, t.bytes, t.digest.String()})
	}
	return m
}

// sign sets the digest of the manifest. It protects from accidents: who can edit one can
// edit the other.
func (m *manifest) sign() error {
	m.Digest = ""
	b, err := m.encode()
	m.Digest = digest.Bytes(b).String()
	return err
}

// errEdited is the error of a manifest that does not match its digest.
var errEdited = errors.New("does not match its own digest")

func (m *manifest) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(m)
	return b.Bytes(), err
}

func parseManifest(b []byte) (*manifest, error) {
	if err := rawjson.Unique(b, maxTokens); err != nil { // the decoder takes the last of duplicate members
		return nil, err
	}
	m := new(manifest)
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	err := d.Decode(m)
	newer := m.Rehome == name && m.Version > version // its members may be unknown: report the version instead
	switch {
	case err != nil && !newer:
		return nil, plain(err)
	case m.Rehome != name:
		return nil, errors.New(`"rehome" is not "archive"`)
	case m.Version != version:
		return nil, &formats.Error{Err: fmt.Errorf("unsupported archive version %d", m.Version), Hint: "try a newer version of rehome; this one reads archive version 1"}
	case !slices.Contains([]string{"none", "gzip", "zstd"}, m.Compress):
		return nil, fmt.Errorf("unknown compression %q", m.Compress)
	}
	if err := m.checkPaths(); err != nil {
		return nil, err
	}
	// The decoder ignores case, blanks, order, and what is missing or follows. Such
	// differences show here.
	if again, err := m.encode(); err != nil || !bytes.Equal(again, b) {
		return nil, &formats.Error{Err: errors.New("not written the way rehome writes a manifest"), Hint: "restore it from git; it was edited"}
	}
	said := m.Digest
	if said == "" {
		return m, nil
	}
	if err := m.sign(); err != nil || m.Digest != said {
		return nil, &formats.Error{Err: errEdited, Hint: "restore it from git; it was edited or merged"}
	}
	return m, nil
}

// plain returns a JSON error without Go types in its text.
func plain(err error) error {
	if te := (*json.UnmarshalTypeError)(nil); errors.As(err, &te) {
		return fmt.Errorf("/%s: unexpected %s", te.Field, te.Value)
	}
	return err
}

// checkPaths returns an error for paths that leave the folder, are the same on a file
// system that ignores case, or are reserved.
func (m *manifest) checkPaths() error {
	seen := map[string]string{}
	claim := func(path, what string) error {
		if old, ok := seen[fold(path)]; ok {
			return fmt.Errorf("%s and %s have the same path (case is ignored)", old, what)
		}
		seen[fold(path)] = what
		return nil
	}
	for i, d := range m.Databases {
		if d.Path != "" || len(m.Databases) > 1 || len(m.Files) > 0 {
			if err := safePath(d.Path); err != nil {
				return fmt.Errorf("/databases/%d/path: %w", i, err)
			}
		}
		if err := claim(d.Path, "database "+quote(d.Path)); err != nil {
			return err
		}
		for _, t := range d.Tables {
			at := tablePath(d.Path, t.Name)
			if err := claim(at, "table "+quote(t.Name)); err != nil {
				return err
			}
			seen[fold(at+".ndjson")] = seen[fold(at)]
		}
		seen[fold(streamPath(d.Path))] = "compressed text"
	}
	for i, f := range m.Files {
		if err := safePath(f.Path); err != nil {
			return fmt.Errorf("/files/%d/path: %w", i, err)
		}
		if err := claim(f.Path, "file "+quote(f.Path)); err != nil {
			return err
		}
		for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
			if what := seen[fold(dir)]; strings.HasPrefix(what, "table ") || strings.HasPrefix(what, "file ") {
				return fmt.Errorf("file %s would be inside %s", quote(f.Path), what)
			}
		}
	}
	return nil
}

// schema returns the schema of the store, and what the manifest lists of each set.
func (m *manifest) schema() (*store.Schema, []text, error) {
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
			if len(t.Columns) == 0 {
				return nil, nil, fmt.Errorf("table %s has no columns", quote(t.Name))
			}
			set := store.Set{File: d.Path, Name: t.Name, Kind: store.Table, Columns: t.Columns, RowIDs: t.RowIDs}
			if err := add(set, t.Rows, t.Bytes, t.Digest); err != nil {
				return nil, nil, err
			}
		}
	}
	for _, f := range m.Files {
		set := store.Set{File: f.Path, Kind: store.Plain, Columns: []string{"bytes"}}
		if err := add(set, 0, f.Bytes, f.Digest); err != nil {
			return nil, nil, err
		}
	}
	return s, claims, nil
}

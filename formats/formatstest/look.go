package formatstest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
)

// maxLook is more than any probe reads: 8 MB of a file, and of a folder a few
// files.
const maxLook = 40 << 20

// looks: however large the files are, a probe reads a bounded part of them.
func (c Case) looks(t *testing.T) {
	const size = 256 << 20 // sparse: only its beginning is on the disk
	dir := t.TempDir()
	object := func(name string) {
		hole(t, filepath.Join(dir, filepath.FromSlash(name)), `{"type":"session","n":"`, size)
	}
	for _, name := range []string{"a/one.jsonl", "a/one.log", "a/one", "manifest/manifest.json", "sessions/x/one.jsonl", "agent-transcripts/one/one.jsonl"} {
		object(name)
	}
	for _, name := range []string{"agents", "runs", "run_events", "checkpoints"} {
		object("lines/" + name + ".ndjson")
	}
	for n := range 20 {
		id := fmt.Sprintf("%08d-0000-4000-8000-000000000000.jsonl", n)
		object("project/" + id)
		object("config/projects/p/" + id)
		object("config/projects/q/" + id)
	}
	hole(t, filepath.Join(dir, "words.jsonl"), strings.Repeat("words\n", 200), size)
	for _, name := range []string{"chat/store.db", "ide/globalStorage/state.vscdb", "sdk/index.db"} {
		hole(t, filepath.Join(dir, filepath.FromSlash(name)), "SQLite format 3\x00", size)
	}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		l, err := formats.Locate(path)
		if err != nil {
			return err
		}
		before := bytesRead()
		if _, err := c.Format.Probe(t.Context(), l); err != nil {
			return err
		}
		if n := bytesRead() - before; n > maxLook {
			t.Errorf("%s: %d bytes were read to know it", path[len(dir):], n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// hole makes a sparse file that starts with a few bytes.
func hole(t *testing.T, path, begins string, size int64) {
	t.Helper()
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(begins), 0o666), os.Truncate(path, size))
	if err != nil {
		t.Fatal(err)
	}
}

// outside: a folder of links to files outside is not a store. Only a link to a
// database is followed.
func outside(t *testing.T, c Case, s source) {
	at := filepath.Join(t.TempDir(), filepath.Base(s.path))
	databases := false
	err := filepath.WalkDir(s.path, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(s.path, path)
		if err != nil || e.IsDir() {
			return errors.Join(err, os.MkdirAll(filepath.Join(at, rel), 0o777))
		}
		l, err := formats.Locate(path)
		if err != nil {
			return err
		}
		databases = databases || bytes.HasPrefix(l.Head(), []byte("SQLite"))
		return os.Symlink(path, filepath.Join(at, rel))
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := formats.Locate(at)
	if err != nil {
		t.Fatal(err)
	}
	if !l.IsDir() || databases {
		return
	}
	if m, err := c.Format.Probe(t.Context(), l); err != nil || m.Score > 0 {
		t.Errorf("links out of the folder were followed: %d, %q, %v", m.Score, m.Evidence, err)
	}
}

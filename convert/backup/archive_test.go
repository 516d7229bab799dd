package backup

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCurrentArchives: of a store that changed a little, a snapshot gets a few new files.
// It is the same as without the archives of the last run, whatever becomes of them.
func TestCurrentArchives(t *testing.T) {
	w := newWorld(t)
	chat := filepath.ToSlash(filepath.Join(".cursor", "chats", firstChat(t, w), "store.db"))
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.home, filepath.FromSlash(chat))+"?_pragma=journal_mode(wal)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	before := w.run().Snapshot
	text := filepath.FromSlash(textOf(w, chat))
	change := func() {
		if _, err := db.Exec("INSERT INTO blobs(id, data) SELECT lower(hex(randomblob(32))), randomblob(50)"); err != nil {
			t.Fatal(err)
		}
	}
	for name, harm := range map[string]func(current string) error{
		"intact": func(string) error { return nil },
		"edited": func(current string) error {
			name := filepath.Join(current, "manifest.json") // snapshots have it, too
			return errors.Join(os.Remove(name), os.WriteFile(name, []byte("{}"), 0o600))
		},
		"no marks": func(current string) error {
			return os.RemoveAll(filepath.Join(w.dir, currentName, ".updates"))
		},
		"gone": os.RemoveAll,
	} {
		change()
		if err := harm(filepath.Join(w.dir, currentName, text)); err != nil {
			t.Fatal(err)
		}
		after := w.run().Snapshot
		w.whole()
		var shared, own int
		at := filepath.Join(w.dir, after, text)
		for _, rel := range files(t, at) {
			a, _ := os.Stat(filepath.Join(w.dir, before, text, rel))
			b, err := os.Stat(filepath.Join(at, rel))
			if err != nil {
				t.Fatal(err)
			}
			if os.SameFile(a, b) {
				shared++
			} else {
				own++
			}
		}
		if name == "intact" && (own == 0 || own > 2 || shared == 0) {
			t.Errorf("%d files are new, %d shared", own, shared)
		}
		s, err := readIndex(filepath.Join(w.dir, after))
		if err != nil {
			t.Fatal(err)
		}
		digest, _, _, err := treeDigest(at, nil)
		i := slices.IndexFunc(s.Stores, func(s Store) bool { return s.Path == "~/"+strings.TrimSuffix(chat, "/store.db") || s.Path == "~/"+chat })
		if err != nil || i < 0 || s.Stores[i].Digest != digest {
			t.Errorf("%s: %v %d", name, err, i)
		}
		before = after
	}

	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	w.remove(".cursor/chats")
	w.run()
	if exists(filepath.Join(w.dir, currentName, text)) || !exists(filepath.Join(w.dir, before, text)) {
		t.Error("the archive of a store that is gone is kept besides the snapshots")
	}
	if err := os.RemoveAll(filepath.Join(w.dir, currentName)); err != nil {
		t.Fatal(err)
	}
	w.whole()
}

// textOf returns where the newest snapshot has a store.
func textOf(w *world, path string) string {
	names, _ := Snapshots(w.dir)
	s, err := readIndex(filepath.Join(w.dir, names[len(names)-1]))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, one := range s.Stores {
		if one.Path != "" && strings.HasPrefix("~/"+path, one.Path) && one.Kind == archiveKind {
			return one.Text
		}
	}
	w.t.Fatal("no archive of " + path)
	return ""
}

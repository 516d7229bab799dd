package undo

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"rehome/formats"
)

// TestRecords: records are numbered, listed and removed; a corrupt one hides no other.
func TestRecords(t *testing.T) {
	f := Folder{Dir: filepath.Join(t.TempDir(), "undo")}
	if list, err := f.List(); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	for want := 1; want <= keep+3; want++ {
		l, err := f.Begin(Record{Format: "x", Session: "s"})
		if err != nil {
			t.Fatal(err)
		}
		if dir, err := l.Dir(); err != nil || os.WriteFile(filepath.Join(dir, "kept"), []byte("x"), 0o600) != nil {
			t.Fatal(err)
		}
		if err := errors.Join(l.Save([]byte(`{}`)), l.Close()); err != nil || l.Record.ID != want {
			t.Fatalf("%d: %v", l.Record.ID, err)
		}
	}
	list, err := f.List()
	if err != nil || len(list) != keep+1 || list[0].ID != keep+3 {
		t.Errorf("%d records, %v", len(list), err)
	}
	r, err := f.Get(keep)
	if err != nil || r.Session != "s" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := os.Stat(filepath.Join(f.Saved(r).Dir, "kept")); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(f.path(keep), recordName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Get(keep); err == nil {
		t.Error("a corrupt record was read")
	}
	if again, err := f.List(); err != nil || len(again) != len(list) {
		t.Errorf("%d records, %v", len(again), err)
	}
	if err := f.Remove(keep); err != nil {
		t.Error(err)
	}
	if _, err := f.Get(keep); err == nil || formats.Hint(err) == "" {
		t.Errorf("a removed record: %v", err)
	}
}

// TestBegin: two records cannot be made at once, and what a killed run left goes away.
func TestBegin(t *testing.T) {
	if _, err := (Folder{}).Begin(Record{}); err == nil {
		t.Error("a record without a folder")
	}
	f := Folder{Dir: t.TempDir()}
	left := filepath.Join(f.Dir, removed+"7")
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := f.Begin(Record{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("what was left is still there")
	}
	if _, err := f.Begin(Record{}); !errors.Is(err, formats.ErrBusy) {
		t.Errorf("a second one: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"", "x", "-1", "0"} {
		if _, err := Parse(name); err == nil {
			t.Errorf("%q is taken for a number", name)
		}
	}
	if id, err := Parse("12"); err != nil || id != 12 {
		t.Error(id, err)
	}
}

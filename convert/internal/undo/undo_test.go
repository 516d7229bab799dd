package undo

import (
	"context"
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
	if err != nil || len(list) != keep || list[0].ID != keep+3 {
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

// save makes a record with a file of this size, and returns its number.
func save(t *testing.T, f Folder, size int) int {
	t.Helper()
	l, err := f.Begin(Record{Format: "x"})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := l.Dir()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "kept"), make([]byte, size), 0o600)
	}
	if err = errors.Join(err, l.Save(nil), l.Close()); err != nil {
		t.Fatal(err)
	}
	return l.Record.ID
}

// TestNumbers: no number is given twice, not even that of a record that was removed, nor
// after the file that counts was damaged.
func TestNumbers(t *testing.T) {
	f := Folder{Dir: t.TempDir()}
	for want := 1; want < 4; want++ {
		if id := save(t, f, 1); id != want {
			t.Errorf("%d, want %d", id, want)
		}
		if err := f.Remove(want); err != nil {
			t.Fatal(err)
		}
	}
	if id := save(t, f, 1); id != 4 {
		t.Errorf("%d, want 4", id)
	}
	for n, damage := range []string{"", "x", "-7", "9223372036854775807", "99999999999999999999"} {
		if err := os.WriteFile(filepath.Join(f.Dir, lastName), []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if id := save(t, f, 1); id != 5+n {
			t.Errorf("after %q: %d, want %d", damage, id, 5+n)
		}
	}
}

// TestPrune: old records go when all are too large; the newest stays, however large it is.
func TestPrune(t *testing.T) {
	f := Folder{Dir: t.TempDir()}
	for range 5 {
		save(t, f, 10_000)
	}
	f.prune(9, 25_000)
	if ids, err := f.ids(); err != nil || len(ids) != 3 || ids[0] != 3 {
		t.Errorf("%v, %v", ids, err)
	}
	f.prune(2, 25_000)
	if ids, err := f.ids(); err != nil || len(ids) != 2 || ids[0] != 4 {
		t.Errorf("%v, %v", ids, err)
	}
	f.prune(9, 0)
	if ids, err := f.ids(); err != nil || len(ids) != 1 || ids[0] != 5 {
		t.Errorf("%v, %v", ids, err)
	}
}

// TestRewrite: a record that is written again has what was changed.
func TestRewrite(t *testing.T) {
	f := Folder{Dir: t.TempDir()}
	l, err := f.Begin(Record{Format: "x", Files: []File{{Path: "a", Of: "b"}, {Path: "b"}, {Path: "c"}}})
	if err == nil {
		err = l.Save(nil)
	}
	if n := l.Record.Sessions(); err != nil || n != 2 {
		t.Fatal(n, err)
	}
	l.Record.Files = l.Record.Files[:2]
	if err := errors.Join(l.Rewrite(), l.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := f.Get(l.Record.ID)
	if err != nil || len(r.Files) != 2 || r.Sessions() != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestBegin: two records cannot be made at once, and what a killed run left goes away.
func TestBegin(t *testing.T) {
	if _, err := (Folder{}).Begin(Record{}); err == nil {
		t.Error("a record without a folder")
	}
	f := Folder{Dir: t.TempDir()}
	left := []string{filepath.Join(f.Dir, removed+"7"), filepath.Join(f.Dir, prefix+"0123456789abcdef")}
	for _, dir := range left {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	l, err := f.Begin(Record{})
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range left {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s is still there", dir)
		}
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

// TestTakeBack: the record of changes that could be taken back goes away; otherwise it stays.
func TestTakeBack(t *testing.T) {
	f := Folder{Dir: t.TempDir()}
	broken := errors.New("no")
	for _, test := range []struct {
		done []formats.Undone
		err  error
		left int
	}{
		{done: []formats.Undone{{Key: "a"}}},
		{done: []formats.Undone{{Key: "a"}, {Key: "b", Kept: "changed since"}}, left: 1},
		{err: broken, left: 2},
	} {
		l, err := f.Begin(Record{Format: "x", Store: "s"})
		if err == nil {
			err = l.Save([]byte(`{"k":1}`))
		}
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err = l.TakeBack(ctx, func(ctx context.Context, r formats.UndoRecord, dry bool) ([]formats.Undone, error) {
			if string(r.Changes) != `{"k":1}` || dry || ctx.Err() != nil {
				t.Errorf("%+v, dry %v, %v", r, dry, ctx.Err())
			}
			return test.done, test.err
		})
		ids, e := f.ids()
		err = errors.Join(err, e, l.Close())
		if (err != nil) != (test.left > 0) || (l.Record.ID == 0) != (test.left == 0) || test.err != nil && !errors.Is(err, test.err) {
			t.Errorf("%+v: %v, record %d", test, err, l.Record.ID)
		}
		if len(ids) != test.left {
			t.Errorf("%+v: records %v", test, ids)
		}
	}
}

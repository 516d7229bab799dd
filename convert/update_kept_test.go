package convert

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rehome/formats/all"
)

// composer is a session of the archive of an IDE's stores that earlier versions wrote.
const (
	earlier  = "../golden/compat/archive/ide"
	composer = "globalStorage/state.vscdb/cursordiskkv/e3/c-aaaaaaaa-0000-4000-8000-000000000001.ndjson"
)

// archived is an archive of the IDE's stores, a source to take sessions from, and a target
// that was updated from it.
func archived(t *testing.T) (src, dst string, o Options) {
	dir := t.TempDir()
	src, dst = filepath.Join(dir, "src"), filepath.Join(dir, "dst")
	o = Options{To: "archive", Sidecar: "none", Update: true, State: filepath.Join(dir, "state")}
	must(t, all.Registry(), earlier, src, Options{To: "archive", Sidecar: "none"})
	must(t, all.Registry(), src, dst, o)
	return src, dst, o
}

// restored returns how many rows of the IDE's big table a text restores to.
func restored(t *testing.T, text string) (rows int64) {
	t.Helper()
	rep := must(t, all.Registry(), text, filepath.Join(t.TempDir(), "store"), Options{Sidecar: "none"})
	for _, set := range rep.Stores[0].Sets {
		if set.Table == "cursorDiskKV" {
			rows += set.Rows
		}
	}
	return rows
}

// TestUpdateKeepsSession: the file of a session that vanished from a store stays, and the
// text restores with it. What another person added to the text stays, too, also with
// --delete, which removes what this machine wrote.
func TestUpdateKeepsSession(t *testing.T) {
	src, dst, o := archived(t)
	all14 := restored(t, dst)
	if err := os.Remove(filepath.Join(src, composer)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		rep := must(t, all.Registry(), src, dst, o)
		if got := changes(rep); got != ". unchanged "+composer+"=kept" {
			t.Fatal(got)
		}
	}
	if got := restored(t, dst); got != all14 || got == restored(t, src) {
		t.Errorf("%d rows restored, want %d", got, all14)
	}
	theirs := strings.ReplaceAll(composer, "aaaaaaaa", "cccccccc")
	b, err := os.ReadFile(filepath.Join(dst, "globalStorage/state.vscdb/cursordiskkv/63/c-bbbbbbbb-0000-4000-8000-000000000002.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dst, theirs), string(b)) // not valid there: its digest is that of another path
	rep, err := Convert(t.Context(), all.Registry(), src, dst, o)
	if err == nil || !strings.Contains(err.Error(), "keep what is no longer in the source") || rep.Placed {
		t.Errorf("a damaged file was kept: %v", err)
	}
	os.Remove(filepath.Join(dst, theirs))
	o.Delete = true
	rep = must(t, all.Registry(), src, dst, o)
	if got := changes(rep); got != ". updated "+composer+"=removed" {
		t.Error(got)
	}
	if got := restored(t, dst); got != restored(t, src) {
		t.Errorf("%d rows restored after --delete", got)
	}
}

// TestUpdateRenews: text of version 1 becomes version 2, with the sessions that the source
// no longer has.
func TestUpdateRenews(t *testing.T) {
	src, fresh, o := archived(t)
	dst := filepath.Join(t.TempDir(), "dst")
	if err := os.CopyFS(dst, os.DirFS(earlier)); err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(src, composer))
	want := restored(t, dst)
	rep, err := Convert(t.Context(), all.Registry(), src, dst, o)
	if err == nil || !strings.Contains(err.Error(), "no update of this machine is known") {
		t.Fatalf("text that may have been edited was changed: %v, %s", err, changes(rep))
	}
	o.Force = true
	rep = must(t, all.Registry(), src, dst, o)
	if rep.Backup != dst+".bak-1" {
		t.Errorf("backup %q", rep.Backup)
	}
	if got := restored(t, dst); got != want {
		t.Errorf("%d rows restored, want %d", got, want)
	}
	names := func(root string) (out []string) {
		filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
			if rel, _ := filepath.Rel(root, p); err == nil && !e.IsDir() {
				out = append(out, filepath.ToSlash(rel))
			}
			return err
		})
		return out
	}
	if got := names(dst); !slices.Equal(got, names(fresh)) {
		t.Errorf("got  %q\nwant %q", got, names(fresh))
	}
}

// TestUpdateRemovesAgain: an update that only removes, and that fails after it has written
// its mark, is made by the next one, although the source has not changed since.
func TestUpdateRemovesAgain(t *testing.T) {
	src, dst, o := archived(t)
	o.Delete = true
	if err := os.Remove(filepath.Join(src, composer)); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(src, func(at string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(at, old, old))
	})
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the disk is gone")
	if _, err := convertWith(t.Context(), all.Registry(), src, dst, o, func(string, string) error { return broken }); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if got := changes(must(t, all.Registry(), src, dst, o)); got != ". updated "+composer+"=removed" {
		t.Error(got)
	}
	if got := changes(must(t, all.Registry(), src, dst, o)); got != ". unchanged" {
		t.Error(got)
	}
}

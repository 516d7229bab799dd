package convert

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rehome/convert/internal/filetx"
	"rehome/convert/internal/undo"
	"rehome/formats"
	"rehome/internal/fsx"
)

// recorded is a mover that keeps undo records.
type recorded struct {
	*mover
	undoDir string
}

func newRecorded(t *testing.T, text string) *recorded {
	return &recorded{newMover(t, text), filepath.Join(t.TempDir(), "undo")}
}

func (r *recorded) migrate(o MigrateOptions, want ...string) *Migration {
	r.t.Helper()
	o.UndoDir = r.undoDir
	rep := r.run(o)
	r.status(rep, want...)
	return rep
}

// tree returns all that is at the config folder and beside it, but for the source.
func (r *recorded) tree() []string {
	return slices.DeleteFunc(tree(r.t, filepath.Dir(r.dir)), func(s string) bool { return strings.HasPrefix(s, "talk") })
}

// undo undoes a record, first as a dry run, which changes nothing.
func (r *recorded) undo(id string, kept ...string) *UndoReport {
	r.t.Helper()
	reg := formats.NewRegistry(r.format(), r.to)
	o := UndoOptions{Dir: r.undoDir, ID: id, DryRun: true}
	before := append(r.tree(), tree(r.t, r.undoDir)...)
	dry, err := Undo(r.t.Context(), reg, o)
	if err != nil {
		r.t.Fatal(err)
	}
	if now := append(r.tree(), tree(r.t, r.undoDir)...); !slices.Equal(now, before) {
		r.t.Errorf("a dry run made %q of %q", now, before)
	}
	o.DryRun = false
	report, err := Undo(r.t.Context(), reg, o)
	if err != nil {
		r.t.Fatal(err)
	}
	if !slices.Equal(dry.Restored, report.Restored) || !slices.Equal(dry.Kept, report.Kept) {
		r.t.Errorf("a dry run said %+v, the run %+v", dry, report)
	}
	var got []string
	for _, k := range report.Kept {
		got = append(got, filepath.Base(k.Key)+": "+k.Reason)
	}
	if !slices.Equal(got, kept) {
		r.t.Errorf("kept %q, want %q", got, kept)
	}
	return report
}

// records lists the records, as the sessions that each has.
func (r *recorded) records() (out []int) {
	r.t.Helper()
	list, err := UndoRecords(r.undoDir)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, one := range list {
		out = append(out, max(one.Sessions, 1))
	}
	return out
}

const threeSessions = "session a First\nsay one\nsession b Second\nsay two\nsession k Kid\nsay three\n"

// TestUndoFiles: the sessions of a store are one record. What was placed is removed, with
// the folders that were made for it, and what was replaced comes back.
func TestUndoFiles(t *testing.T) {
	r := newRecorded(t, threeSessions)
	r.parents = map[string]string{"k": "a"}
	none := r.tree()
	r.migrate(MigrateOptions{DryRun: true}, "a checked", "b checked")
	if got := r.records(); len(got) > 0 {
		t.Errorf("a dry run left records: %v", got)
	}
	rep := r.migrate(MigrateOptions{}, "a placed", "b placed")
	if got := r.records(); !slices.Equal(got, []int{2}) || rep.Migrated[0].Undo != 1 || rep.Migrated[1].Undo != 1 {
		t.Errorf("records %v, %+v", got, rep.Migrated)
	}
	first := r.tree()
	rep = r.migrate(MigrateOptions{}, "a same", "b same")
	if got := r.records(); len(got) != 1 || rep.Migrated[0].Undo != 0 {
		t.Errorf("records %v, %+v", got, rep.Migrated[0])
	}

	r.say(strings.ReplaceAll(threeSessions, "say", "say more\nsay"))
	r.migrate(MigrateOptions{Update: true}, "a updated", "b updated")
	grown := r.tree()
	r.migrate(MigrateOptions{Again: true}, "a placed", "b placed")
	if got := r.records(); !slices.Equal(got, []int{2, 2, 2}) {
		t.Errorf("records %v", got)
	}
	if done := r.undo("3"); len(done.Restored) != 4 || !slices.Equal(r.tree(), grown) {
		t.Errorf("%+v: %q", done, r.tree())
	}
	r.undo("1", "b.txt: "+filetx.ChangedSince, "a.txt: "+filetx.ChangedSince, "k.txt: "+filetx.ChangedSince)
	if r.undo("2"); !slices.Equal(r.tree(), first) {
		t.Errorf("%q, want %q", r.tree(), first)
	}
	if r.undo(""); !slices.Equal(r.tree(), none) {
		t.Errorf("%q, want %q", r.tree(), none)
	}
	if got := r.records(); len(got) > 0 {
		t.Errorf("records %v", got)
	}
	if rep := r.migrate(MigrateOptions{}, "a placed", "b placed"); rep.Migrated[0].Undo != 4 {
		t.Errorf("the number %d was given twice", rep.Migrated[0].Undo)
	}
}

// TestUndoContinued: a session that was continued stays, with its subagents; another one of
// the same record goes. What is in a folder of ours stays there.
func TestUndoContinued(t *testing.T) {
	r := newRecorded(t, threeSessions)
	r.parents = map[string]string{"k": "a"}
	rep := r.migrate(MigrateOptions{}, "a placed", "b placed")
	a := rep.Migrated[0].File
	write(t, a, r.files()["a.txt"]+"theirs\n")
	if done := r.undo("", "a.txt: "+filetx.ChangedSince); len(done.Restored) != 1 {
		t.Errorf("%+v", done)
	}
	if got := r.files(); len(got) != 3 || got["a/k.txt"] == "" || got["a/k.note"] == "" {
		t.Errorf("%q", got)
	}
	if got := r.records(); len(got) != 1 {
		t.Errorf("records %v", got)
	}
	write(t, a, strings.TrimSuffix(r.files()["a.txt"], "theirs\n"))
	write(t, filepath.Join(filepath.Dir(a), "own"), "mine")
	r.undo("")
	if got := r.files(); len(got) != 1 || got["own"] != "mine" {
		t.Errorf("%q", got)
	}
}

// TestUndoLinks: a link in place of a file is not what was written, unless something stood
// there before: then what it leads to is restored, and the link stays.
func TestUndoLinks(t *testing.T) {
	r := newRecorded(t, "session a\nsay one\n")
	path := r.migrate(MigrateOptions{}, "a placed").Migrated[0].File
	first := r.files()["a.txt"]
	link := func() string {
		to := filepath.Join(t.TempDir(), "elsewhere")
		if err := errors.Join(fsx.Copy(path, to, 0o600), os.Remove(path), os.Symlink(to, path)); err != nil {
			t.Fatal(err)
		}
		return to
	}
	to := link()
	r.undo("", "a.txt: "+filetx.ChangedSince)
	if err := errors.Join(os.Remove(path), fsx.Copy(to, path, 0o600)); err != nil {
		t.Fatal(err)
	}
	r.say("session a\nsay one\nsay two\n")
	r.migrate(MigrateOptions{Update: true}, "a updated")
	to = link()
	r.undo("")
	if b, err := os.ReadFile(to); err != nil || string(b) != first {
		t.Errorf("%q, %v", b, err)
	}
	if at, err := os.Readlink(path); err != nil || at != to {
		t.Errorf("%q, %v", at, err)
	}
}

// TestUndoFolders: a session that is a folder is removed, or replaced by the old one, also if
// its client opened it, but not if that continued it.
func TestUndoFolders(t *testing.T) {
	r := newRecorded(t, "session a\nsay one\n")
	r.to = folders()
	none := r.tree()
	at := r.migrate(MigrateOptions{}, "a placed").Migrated[0].File
	first := r.tree()
	r.say("session a\nsay one\nsay two\n")
	r.migrate(MigrateOptions{Update: true}, "a updated")
	write(t, filepath.Join(at, "opened"), "")
	talk := r.files()["a/talk"]
	write(t, filepath.Join(at, "talk"), talk+"theirs\n")
	r.undo("", "a: "+filetx.ChangedSince)
	write(t, filepath.Join(at, "talk"), talk)
	if r.undo(""); !slices.Equal(r.tree(), first) {
		t.Errorf("%q, want %q", r.tree(), first)
	}
	for path, want := range map[string]os.FileMode{at: 0o700, filepath.Join(at, "talk"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want && os.PathSeparator == '/' {
			t.Errorf("%v %v: the client's own files are private", info, err)
		}
	}
	if r.undo(""); !slices.Equal(r.tree(), none) {
		t.Errorf("%q, want %q", r.tree(), none)
	}

	// An old folder that is too large to keep.
	r.migrate(MigrateOptions{}, "a placed")
	big := filepath.Join(at, "big")
	if err := errors.Join(os.WriteFile(big, nil, 0o600), os.Truncate(big, maxKept+1)); err != nil {
		t.Fatal(err)
	}
	r.say("session a\nsay one\n")
	var said []string
	r.migrate(MigrateOptions{Update: true, OnNotice: func(s string) { said = append(said, s) }}, "a updated")
	if !strings.Contains(strings.Join(said, "\n"), "too large to keep") {
		t.Errorf("said %q", said)
	}
	r.undo("", "a: its earlier state was not kept")
	if err := os.RemoveAll(at); err != nil {
		t.Fatal(err)
	}
	r.undo("", "a: it no longer exists")
}

// TestRecordOfFailures: a record has only the sessions that were placed, and goes away with
// the last of them. Without a record, nothing is written.
func TestRecordOfFailures(t *testing.T) {
	r := newRecorded(t, threeSessions)
	none := r.tree()
	broken := errors.New("the disk says no")
	fails := "abk"
	r.rename = &renameFuncs{replace: fsx.Replace, create: func(from, to string) error {
		if strings.Contains(fails, strings.TrimSuffix(filepath.Base(to), ".txt")) {
			return broken
		}
		return fsx.Move(from, to)
	}}
	r.migrate(MigrateOptions{}, "a failed", "b failed", "k failed")
	if got := r.records(); len(got) > 0 {
		t.Errorf("records %v", got)
	}
	fails = "a"
	r.migrate(MigrateOptions{}, "a failed", "b placed", "k placed")
	if list, err := UndoRecords(r.undoDir); err != nil || len(list) != 1 || list[0].Sessions != 2 || list[0].Title != "Second" {
		t.Errorf("%+v, %v", list, err)
	}
	if done := r.undo(""); len(done.Restored) != 2 || !slices.Equal(r.tree(), none) {
		t.Errorf("%+v: %q", done, r.tree())
	}
	r.rename, r.undoDir = nil, filepath.Join(r.src, "undo")
	rep := r.migrate(MigrateOptions{}, "a failed", "b failed", "k failed")
	if err := rep.Migrated[0].Err(); formats.Hint(err) == "" || !slices.Equal(r.tree(), none) {
		t.Errorf("%v: %q", err, r.tree())
	}
}

// TestRecordTwice: of a session that two stores have, the later one meets the earlier one,
// and each has a record.
func TestRecordTwice(t *testing.T) {
	r := newRecorded(t, "session a\nsay one\n")
	none := r.tree()
	dir := filepath.Dir(r.src)
	write(t, filepath.Join(dir, "talk2.txt"), "talk\nsession a\nsay one\nsay two\n")
	r.src = dir
	rep := r.migrate(MigrateOptions{Update: true}, "a placed", "a updated")
	if rep.Migrated[0].Undo != 1 || rep.Migrated[1].Undo != 2 {
		t.Errorf("%+v", rep.Migrated)
	}
	r.undo("")
	r.undo("")
	if !slices.Equal(r.tree(), none) {
		t.Errorf("%q", r.tree())
	}
}

// TestObstacles: a file where the client needs a folder is named, with a hint.
func TestObstacles(t *testing.T) {
	for _, level := range []int{0, 1, 2} {
		r := newRecorded(t, "session a\nsay one\n")
		at := []string{r.dir, filepath.Join(r.dir, "projects"), filepath.Join(r.dir, "projects", strings.ReplaceAll(filepath.ToSlash(r.cwd), "/", "-"))}[level]
		write(t, at, "mine")
		reg := formats.NewRegistry(r.format(), r.to)
		rep, err := Migrate(t.Context(), reg, []MigrateSource{{Path: r.src}}, MigrateOptions{To: "client", Dir: r.dir, Cwd: r.cwd, UndoDir: r.undoDir})
		if len(rep.Migrated) > 0 {
			err = errors.Join(err, rep.Migrated[0].Err())
		}
		if err == nil || !strings.HasPrefix(err.Error(), at+": not a folder") || formats.Hint(err) == "" {
			t.Errorf("%s: %v, hint %q", at, err, formats.Hint(err))
		}
		if got := r.records(); len(got) > 0 {
			t.Errorf("%s: records %v", at, got)
		}
	}
}

// TestUndoAppended: appended lines are cut off, through a link too, and a dry run makes no
// folder beside the file.
func TestUndoAppended(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "a"), filepath.Join(dir, "link")
	write(t, file, "old\n")
	before, err := fsx.Digest(file)
	if err == nil {
		err = os.Symlink(file, link)
	}
	write(t, file, "old\nnew\n")
	after, e := fsx.Digest(file)
	if err = errors.Join(err, e); err != nil {
		t.Fatal(err)
	}
	folder := undo.Folder{Dir: filepath.Join(dir, "undo")}
	log, err := folder.Begin(undo.Record{Format: "client", Files: []undo.File{{Path: link, Size: 4, Before: before, After: after}}})
	if err == nil {
		err = errors.Join(log.Save(nil), log.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	o := UndoOptions{Dir: folder.Dir, DryRun: true}
	past := time.Unix(1e9, 0) // what is made in a folder changes its time, though it is removed
	if err := os.Chtimes(dir, past, past); err != nil {
		t.Fatal(err)
	}
	_, err = Undo(t.Context(), formats.NewRegistry(client()), o)
	if info, e := os.Stat(dir); errors.Join(err, e) != nil || !info.ModTime().Equal(past) {
		t.Errorf("a dry run: %v, %v", err, info)
	}
	o.DryRun = false
	done, err := Undo(t.Context(), formats.NewRegistry(client()), o)
	if err != nil || len(done.Kept) > 0 {
		t.Fatalf("%+v, %v", done, err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "old\n" {
		t.Errorf("%q, %v", b, err)
	}
	if to, err := os.Readlink(link); err != nil || to != file {
		t.Errorf("%q, %v", to, err)
	}
}

package filetx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert/internal/stage"
	"rehome/convert/internal/undo"
	"rehome/formats"
	"rehome/internal/fsx"
)

// home is a client's folder, with what is staged beside it and a folder of undo records.
type home struct {
	t                     *testing.T
	client, staged, undos string
}

func newHome(t *testing.T) *home {
	dir := t.TempDir()
	h := &home{t, filepath.Join(dir, "client"), filepath.Join(dir, "staged"), filepath.Join(dir, "undo")}
	for path, content := range map[string]string{
		"client/file": "old", "client/log": "one\n", "client/store/a": "old", "client/store/b": "old", "client/gone/x": "old",
		"staged/file": "new", "staged/log": "one\ntwo\n", "staged/store/a": "new", "staged/fresh": "new",
	} {
		h.write(filepath.Join(dir, path), content)
	}
	return h
}

func (h *home) write(path, content string) {
	h.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		h.t.Fatal(err)
	}
}

// steps are one of each kind. The last one makes the others known.
func (h *home) steps() []*Step {
	at := func(name string) undo.File { return undo.File{Path: filepath.Join(h.client, name), Tree: true} }
	from := func(name string) string { return filepath.Join(h.staged, name) }
	folder := at("store")
	folder.Folder = true
	before, err := fsx.Digest(filepath.Join(h.client, "log"))
	if err != nil {
		h.t.Fatal(err)
	}
	log := at("log")
	log.Size, log.Before = 4, before
	return []*Step{
		{File: at("deep/er/fresh"), Staged: from("fresh")},
		{File: at("file"), Staged: from("file"), Replaces: true},
		{File: folder, Staged: from("store"), Replaces: true},
		{File: log, Staged: from("log"), Replaces: true, Appended: true},
	}
}

func (h *home) folder() undo.Folder { return undo.Folder{Dir: h.undos} }

// begin begins a transaction of steps.
func (h *home) begin(tx *Tx, steps []*Step) {
	h.t.Helper()
	if err := tx.Begin(h.folder(), undo.Record{Format: "x", Store: h.client}, steps); err != nil {
		h.t.Fatal(err)
	}
}

// tree returns what is in the client's folder.
func (h *home) tree() (out []string) {
	h.t.Helper()
	err := filepath.WalkDir(h.client, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(h.client, path)
		out = append(out, filepath.ToSlash(rel)+"="+string(b))
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}

func (h *home) want(what string, want ...string) {
	h.t.Helper()
	if got := h.tree(); !slices.Equal(got, want) {
		h.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// records returns the paths in each record.
func (h *home) records() (out [][]string) {
	h.t.Helper()
	list, err := h.folder().List()
	if err != nil {
		h.t.Fatal(err)
	}
	for _, r := range list {
		var names []string
		for _, f := range r.Files {
			names = append(names, filepath.Base(f.Path))
		}
		out = append(out, names)
	}
	return out
}

var asBefore = []string{"file=old", "gone/x=old", "log=one\n", "store/a=old", "store/b=old"}

// TestDo: all steps of a family are made, and the record has what they replace.
func TestDo(t *testing.T) {
	h := newHome(t)
	steps := h.steps()
	tx := &Tx{}
	h.begin(tx, steps)
	h.want("begun", asBefore...)
	id := tx.Log.Record.ID
	if err := errors.Join(tx.Do(steps), tx.End(func(r *undo.Record) { r.Title = "amended" })); err != nil {
		t.Fatal(err)
	}
	h.want("done", "deep/er/fresh=new", "file=new", "gone/x=old", "log=one\ntwo\n", "store/a=new")
	r, err := h.folder().Get(id)
	if err != nil || r.Title != "amended" || len(r.Files) != 4 || len(r.Folders) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	for i, f := range r.Files {
		if after, err := fsx.DigestTree(f.Path); err != nil || after != f.After {
			t.Errorf("%s: %q, %v", f.Path, after, err)
		}
		kept := i == 1 || i == 2
		if kept != (f.Kept != "") || (i > 0) != (f.Before != "") {
			t.Errorf("%+v", f)
		}
		if !kept {
			continue
		}
		if before, err := fsx.DigestTree(filepath.Join(h.folder().Saved(r).Dir, f.Kept)); err != nil || before != f.Before {
			t.Errorf("%s was not kept: %v", f.Path, err)
		}
	}
}

// TestTakenBack: wherever a family fails, its steps are taken back, in place or not, and with
// the last of them the record and the folders go. Another family stays.
func TestTakenBack(t *testing.T) {
	broken := errors.New("the disk says no")
	for fails := range 4 {
		h := newHome(t)
		steps := h.steps()
		steps[fails].Ready = func() error { return broken }
		tx := &Tx{}
		h.begin(tx, steps)
		if err := tx.Do(steps); !errors.Is(err, broken) {
			t.Errorf("step %d: %v", fails, err)
		}
		if err := tx.End(nil); err != nil || tx.Log.Record.ID != 0 {
			t.Errorf("step %d: %v, record %d", fails, err, tx.Log.Record.ID)
		}
		h.want("taken back", asBefore...)
		if _, err := os.Lstat(filepath.Join(h.client, "deep")); err == nil || len(h.records()) > 0 {
			t.Errorf("step %d left %v, %v", fails, h.records(), err)
		}
	}

	h := newHome(t)
	steps := h.steps()
	steps[3].Ready = func() error { return broken }
	tx := &Tx{}
	h.begin(tx, steps)
	if err := errors.Join(tx.Do(steps[:2]), tx.End(nil)); err != nil {
		t.Fatal(err)
	}
	if got := h.records(); len(got) != 1 || !slices.Equal(got[0], []string{"fresh", "file"}) {
		t.Errorf("records %q", got)
	}
}

// TestNotTakenBack: what cannot be taken back stays in the record.
func TestNotTakenBack(t *testing.T) {
	h := newHome(t)
	steps := h.steps()
	steps[3].Ready = func() error { return errors.Join(os.Remove(steps[1].aside()), errors.New("no")) }
	tx := &Tx{}
	h.begin(tx, steps)
	if err := tx.Do(steps); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if err := tx.End(nil); err != nil {
		t.Fatal(err)
	}
	h.want("half taken back", "file=new", "gone/x=old", "log=one\n", "store/a=old", "store/b=old")
	if got := h.records(); len(got) != 1 || !slices.Equal(got[0], []string{"file"}) {
		t.Errorf("records %q", got)
	}
}

// TestRemoved: what is removed is kept, and its folder goes if nothing else is in it. If a step
// fails, what those before it removed comes back.
func TestRemoved(t *testing.T) {
	h := newHome(t)
	remove := func(name string, folder bool) *Step {
		return &Step{File: undo.File{Path: filepath.Join(h.client, name), Folder: folder, Tree: true}, Replaces: true}
	}
	steps := []*Step{remove("gone/x", false), remove("store", true), remove("file", false)}
	steps[2].Ready = func() error { return errors.New("in use") }
	tx := &Tx{}
	h.begin(tx, steps)
	if err := tx.Do(steps); err == nil {
		t.Error("removed what is in use")
	}
	h.want("taken back", asBefore...)
	if err := errors.Join(tx.Do(steps[:2]), tx.End(nil)); err != nil {
		t.Fatal(err)
	}
	h.want("removed", "file=old", "log=one\n")
	if list, err := os.ReadDir(h.client); err != nil || len(list) != 2 {
		t.Errorf("left: %v, %v", list, err)
	}
	if got := h.records(); len(got) != 1 || !slices.Equal(got[0], []string{"x", "store"}) {
		t.Errorf("records %q", got)
	}
}

// TestAppeared: what another program places meanwhile is not overwritten. It serves as well if
// it is the same, or if the step is optional.
func TestAppeared(t *testing.T) {
	for _, test := range []struct {
		content  string
		optional bool
		want     error
	}{{"new", false, nil}, {"theirs", true, nil}, {"theirs", false, stage.ErrAppeared}} {
		h := newHome(t)
		steps := h.steps()[:1]
		steps[0].Optional = test.optional
		steps[0].Ready = func() error { h.write(steps[0].Path, test.content); return nil }
		tx := &Tx{}
		h.begin(tx, steps)
		if err := tx.Do(steps); !errors.Is(err, test.want) || steps[0].Done {
			t.Errorf("%+v: %v", test, err)
		}
		if err := tx.End(nil); err != nil || len(h.records()) > 0 {
			t.Errorf("%v, records %v", err, h.records())
		}
		h.want("appeared", append([]string{"deep/er/fresh=" + test.content}, asBefore...)...)
	}
}

// TestNothingWithoutRecord: nothing changes if the record cannot be written, or would be of
// another state than the one that was read.
func TestNothingWithoutRecord(t *testing.T) {
	h := newHome(t)
	steps := h.steps()
	steps[1].Before = "of another state"
	if err := (&Tx{}).Begin(h.folder(), undo.Record{}, steps); err == nil || len(h.records()) > 0 {
		t.Errorf("%v, records %v", err, h.records())
	}
	steps = h.steps()
	steps[0].Staged = filepath.Join(h.staged, "nothing")
	if err := (&Tx{}).Begin(h.folder(), undo.Record{}, steps); !errors.Is(err, fs.ErrNotExist) || len(h.records()) > 0 {
		t.Errorf("%v, records %v", err, h.records())
	}
	if err := (&Tx{}).Begin(undo.Folder{}, undo.Record{}, nil); formats.Hint(err) == "" {
		t.Errorf("%v", err)
	}
	h.want("unchanged", asBefore...)
}

// TestMaxKept: what is too large is not kept, which is said.
func TestMaxKept(t *testing.T) {
	h := newHome(t)
	var said []string
	tx := &Tx{MaxKept: 5, Say: func(s string) { said = append(said, s) }}
	steps := h.steps()
	h.begin(tx, steps)
	defer tx.End(nil)
	files := tx.Log.Record.Files
	if files[1].Kept == "" || files[2].Kept != "" || files[2].Before == "" {
		t.Errorf("%+v", files)
	}
	if len(said) != 1 || !strings.Contains(said[0], "too large to keep") {
		t.Errorf("said %q", said)
	}
}

// TestBlocked: a file where a folder is needed is named, with a hint.
func TestBlocked(t *testing.T) {
	h := newHome(t)
	step := &Step{File: undo.File{Path: filepath.Join(h.client, "file", "x")}, Staged: filepath.Join(h.staged, "fresh")}
	if err := (&Tx{}).Do([]*Step{step}); !errors.Is(err, stage.ErrNotFolder) || formats.Hint(err) == "" {
		t.Errorf("%v", err)
	}
	if err := CheckFolders(filepath.Join(h.client, "none", "x")); err != nil {
		t.Errorf("%v", err)
	}
	h.want("unchanged", asBefore...)
}

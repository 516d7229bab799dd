package convert

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rehome/convert/internal/stage"
	"rehome/formats"
	"rehome/formats/canonical"
	"rehome/formats/store"
	"rehome/internal/fsx"
)

// updated is a target in a folder of its own that follows a source of three stores.
type updated struct {
	*testing.T
	dir, src, dst string
	o             Options
	said          []string
	read          atomic.Int64 // rows of the source
}

func newUpdated(t *testing.T) *updated {
	dir := t.TempDir()
	u := &updated{T: t, dir: dir, src: filepath.Join(dir, "src"), dst: filepath.Join(dir, "out", "text")}
	os.Mkdir(filepath.Join(dir, "out"), 0o777)
	u.o = Options{To: "right", Update: true, State: filepath.Join(dir, "state"), OnNotice: func(s string) { u.said = append(u.said, s) }}
	for _, name := range []string{"a", "b", "c"} {
		u.source(name, leftText(2))
	}
	u.run(u.o)
	return u
}

// source writes a store of the source, long ago enough to be settled.
func (u *updated) source(name, text string) {
	u.Helper()
	path, old := write(u.T, filepath.Join(u.src, name), text), time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old.Add(time.Duration(len(text))*time.Second)); err != nil {
		u.Fatal(err)
	}
}

func (u *updated) registry() *formats.Registry {
	return fakes(&faults{onRow: func(int) { u.read.Add(1) }}, nil)
}

func (u *updated) run(o Options) *Report {
	u.Helper()
	u.read.Store(0)
	o.Jobs = 1
	rep, err := Convert(u.Context(), u.registry(), u.src, u.dst, o)
	if err != nil {
		u.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(u.dir, "out", ".*")); len(left) > 0 {
		u.Errorf("left behind: %q", left)
	}
	return rep
}

// changes returns what happened to each store and file.
func changes(rep *Report) string {
	var out []string
	for _, s := range rep.Stores {
		line := s.Path + " " + s.Change
		if s.err != nil {
			line = s.Path + " " + s.err.Error()
		}
		for _, f := range s.Files {
			line += " " + f.Path + "=" + f.Change
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}

func (u *updated) expect(rep *Report, want string) {
	u.Helper()
	if got := changes(rep); got != want {
		u.Errorf("got  %s\nwant %s", got, want)
	}
}

func (u *updated) is(name, want string) {
	u.Helper()
	b, err := os.ReadFile(filepath.Join(u.dst, name))
	if got := string(b); err != nil && want != "" || got != want {
		u.Errorf("%s is %q, %v; want %q", name, got, err, want)
	}
}

func rightText(n int) string { return "right" + strings.TrimPrefix(leftText(n), "left") }

// TestUpdate: only the files of stores that changed are written, and nothing at all
// if none did.
func TestUpdate(t *testing.T) {
	u := newUpdated(t)
	before := times(t, u.dir)
	u.expect(u.run(u.o), "a unchanged; b unchanged; c unchanged")
	if u.read.Load() != 0 {
		t.Errorf("%d rows of unchanged stores were read", u.read.Load())
	}
	if after := times(t, u.dir); !slices.Equal(before, after) {
		t.Errorf("an update without changes wrote:\n%q\n%q", before, after)
	}
	full := u.o
	full.Verify = VerifyFull
	u.expect(u.run(full), "a unchanged; b unchanged; c unchanged")
	if u.read.Load() != 6 {
		t.Errorf("a full update read %d rows", u.read.Load())
	}

	u.source("b", leftText(5))
	u.source("d", leftText(1))
	a := stat(t, filepath.Join(u.dst, "a", "rows.txt"))
	dry := u.o
	dry.DryRun = true
	leavesNothing(t, u.dir, func() {
		rep := u.run(dry)
		u.expect(rep, "a unchanged; b updated b/rows.txt=updated; c unchanged; d added d/rows.txt=added")
		if rep.Placed || !rep.Changed() {
			t.Errorf("a dry run placed %v, changes %v", rep.Placed, rep.Changed())
		}
	})
	rep := u.run(u.o)
	u.expect(rep, "a unchanged; b updated b/rows.txt=updated; c unchanged; d added d/rows.txt=added")
	if !rep.Placed || u.read.Load() != 6 {
		t.Errorf("placed %v, read %d rows", rep.Placed, u.read.Load())
	}
	u.is("b/rows.txt", rightText(5))
	u.is("d/rows.txt", rightText(1))
	if now := stat(t, filepath.Join(u.dst, "a", "rows.txt")); !os.SameFile(a, now) || a.ModTime() != now.ModTime() {
		t.Error("the file of an unchanged store was written")
	}
}

// TestUpdateWithoutMark: the mark is a cache. Without it, or with one of another rehome,
// everything is read, and the result is the same.
func TestUpdateWithoutMark(t *testing.T) {
	for _, spoil := range []func(u *updated){
		func(u *updated) { os.RemoveAll(u.o.State) },
		func(u *updated) { u.o.State = NoState },
		func(u *updated) { u.o.WithSecrets = true },
		func(u *updated) {
			list, _ := filepath.Glob(filepath.Join(u.o.State, "*"))
			write(u.T, list[0], `{"rehome":"mark","version":1,"target":"elsewhere"}`)
		},
	} {
		u := newUpdated(t)
		spoil(u)
		u.expect(u.run(u.o), "a unchanged; b unchanged; c unchanged")
		if u.read.Load() != 6 {
			t.Errorf("read %d rows", u.read.Load())
		}
	}
}

// TestUpdateMidway: a source that changes as it is read, with the same size and time, is
// read again by the next update.
func TestUpdateMidway(t *testing.T) {
	u := newUpdated(t)
	now := time.Now()
	os.Chtimes(filepath.Join(u.src, "b"), now, now)
	u.run(u.o)
	u.run(u.o)
	if u.read.Load() != 2 {
		t.Errorf("read %d rows, want those of the store that may still change", u.read.Load())
	}
}

// TestUpdateInPlace: an edit that leaves size, time and inode as they were is noticed, and a
// file of which only the times changed is read, but not changed.
func TestUpdateInPlace(t *testing.T) {
	u := newUpdated(t)
	name := filepath.Join(u.src, "b")
	was := stat(t, name)
	edited := strings.Replace(leftText(2), "value 1", "value 7", 1)
	write(t, name, edited)
	if err := os.Chtimes(name, was.ModTime(), was.ModTime()); err != nil {
		t.Fatal(err)
	}
	if now := stat(t, name); now.Size() != was.Size() || !now.ModTime().Equal(was.ModTime()) || !os.SameFile(now, was) {
		t.Fatal("the edit shows")
	}
	if runtime.GOOS != "windows" { // where a status is not known without opening the file
		u.expect(u.run(u.o), "a unchanged; b updated b/rows.txt=updated; c unchanged")
		u.is("b/rows.txt", "right"+strings.TrimPrefix(edited, "left"))
	}
	then := was.ModTime().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(u.src, "a"), then, then); err != nil {
		t.Fatal(err)
	}
	if u.expect(u.run(u.o), "a unchanged; b unchanged; c unchanged"); u.read.Load() != 2 {
		t.Errorf("read %d rows, want those of the file with a new time", u.read.Load())
	}
}

// TestUpdateKeepsEdits: what others edited is not overwritten, in that store; others are
// updated. --force keeps it.
func TestUpdateKeepsEdits(t *testing.T) {
	u := newUpdated(t)
	write(t, filepath.Join(u.dst, "b", "rows.txt"), "mine")
	u.source("a", leftText(3))
	u.source("b", leftText(3))
	rep := u.run(u.o)
	u.expect(rep, "a updated a/rows.txt=updated; b "+u.dst+": edited since the last update, and not committed: b/rows.txt; c unchanged")
	if s := rep.Stores[1]; s.Status != Failed || !strings.Contains(s.Error.Hint, "--force") {
		t.Errorf("%+v", s)
	}
	u.is("b/rows.txt", "mine")
	u.is("a/rows.txt", rightText(3))
	u.o.Force = true
	rep = u.run(u.o)
	u.expect(rep, "a unchanged; b updated b/rows.txt=updated; c unchanged")
	u.is("b/rows.txt", rightText(3))
	u.is("../text.bak-1/b/rows.txt", "mine")
	if rep.Backup != u.dst+".bak-1" {
		t.Errorf("backup %q", rep.Backup)
	}
	u.expect(u.run(u.o), "a unchanged; b unchanged; c unchanged")
}

// TestUpdateAfterConvert: text of a conversion without --update is updated, too, and what
// others edited is not overwritten, and --delete removes what the source lost. A conversion
// without a state folder remembers nothing.
func TestUpdateAfterConvert(t *testing.T) {
	u := newUpdated(t)
	u.source("d", leftText(2))
	plain := u.o
	plain.Update = false
	for _, state := range []string{u.o.State, NoState} {
		if err := errors.Join(os.RemoveAll(u.dst), os.RemoveAll(u.o.State)); err != nil {
			t.Fatal(err)
		}
		u.source("a", leftText(2))
		u.source("b", leftText(2))
		plain.State = state
		u.run(plain)
		u.source("a", leftText(3))
		u.source("b", leftText(3))
		write(t, filepath.Join(u.dst, "b", "rows.txt"), "mine")
		edited := "b " + u.dst + ": edited since the last update, and not committed: b/rows.txt"
		want := "a updated a/rows.txt=updated; " + edited + "; c unchanged; d unchanged"
		if state == NoState {
			unknown := ": no update of this machine is known to have written these files, and they are not committed: "
			want = "a " + u.dst + unknown + "a/rows.txt; b " + u.dst + unknown + "b/rows.txt; c unchanged; d unchanged"
		}
		u.expect(u.run(u.o), want)
		u.is("b/rows.txt", "mine")
	}
	plain.State = u.o.State
	if err := os.RemoveAll(u.dst); err != nil {
		t.Fatal(err)
	}
	u.run(plain)
	if err := os.Remove(filepath.Join(u.src, "d")); err != nil {
		t.Fatal(err)
	}
	u.o.Delete = true
	u.expect(u.run(u.o), "a unchanged; b unchanged; c unchanged; d removed d/rows.txt=removed")
}

// TestUpdateRestoresEdit: a file that was edited back, or as the update would write it, is
// no conflict.
func TestUpdateRestoresEdit(t *testing.T) {
	u := newUpdated(t)
	u.source("b", leftText(3))
	write(t, filepath.Join(u.dst, "b", "rows.txt"), rightText(3))
	u.expect(u.run(u.o), "a unchanged; b unchanged; c unchanged")
}

// TestUpdateVanished: what is no longer in the source stays, until --delete.
func TestUpdateVanished(t *testing.T) {
	u := newUpdated(t)
	os.Remove(filepath.Join(u.src, "b"))
	for range 2 {
		rep := u.run(u.o)
		u.expect(rep, "a unchanged; c unchanged; b kept b/rows.txt=kept")
		if rep.Changed() || rep.Placed {
			t.Error("keeping a store is a change")
		}
	}
	os.RemoveAll(u.o.State)
	u.source("a", leftText(2))
	u.expect(u.run(u.o), "a unchanged; c unchanged; b kept b/rows.txt=kept")
	u.o.Delete = true // without a record of who wrote it
	u.expect(u.run(u.o), "a unchanged; c unchanged; b kept b/rows.txt=kept")
	u.is("b/rows.txt", rightText(2))
}

// TestUpdateDelete: files as the last update wrote them go without a backup.
func TestUpdateDelete(t *testing.T) {
	u := newUpdated(t)
	os.Remove(filepath.Join(u.src, "b"))
	write(t, filepath.Join(u.dst, "b", ".notes"), "mine")
	u.o.Delete = true
	u.expect(u.run(u.o), "a unchanged; c unchanged; b removed b/rows.txt=removed")
	u.is("b/.notes", "mine")
	os.Remove(filepath.Join(u.src, "c"))
	write(t, filepath.Join(u.dst, "c", "rows.txt"), "mine")
	u.expect(u.run(u.o), "a unchanged; c "+u.dst+": edited since the last update, and not committed: c/rows.txt")
	u.is("c/rows.txt", "mine")
	if left, _ := filepath.Glob(u.dst + ".bak-*"); len(left) > 0 {
		t.Errorf("%q", left)
	}
	u.o.Force = true
	u.expect(u.run(u.o), "a unchanged; c removed c/rows.txt=removed")
	u.is("../text.bak-1/c/rows.txt", "mine")
	if _, err := os.Lstat(filepath.Join(u.dst, "c")); err == nil {
		t.Error("its folder is still there")
	}
}

// TestUpdateOthers: files and folders of others in the target survive, and links are
// not followed.
func TestUpdateOthers(t *testing.T) {
	u := newUpdated(t)
	for _, name := range []string{".git/HEAD", ".DS_Store", "README.md", "a/.DS_Store", "a/notes.txt"} {
		write(t, filepath.Join(u.dst, name), name)
	}
	theirs := filepath.Join(u.dir, "theirs")
	write(t, filepath.Join(theirs, "rows.txt"), "theirs")
	os.RemoveAll(filepath.Join(u.dst, "c"))
	os.Symlink(theirs, filepath.Join(u.dst, "c"))
	for _, name := range []string{"a", "b", "c"} {
		u.source(name, leftText(4))
	}
	u.expect(u.run(u.o), "a updated a/rows.txt=updated; b updated b/rows.txt=updated; c "+filepath.Join(u.dst, "c")+": in the way of a folder")
	for _, name := range []string{".git/HEAD", ".DS_Store", "README.md", "a/.DS_Store", "a/notes.txt"} {
		u.is(name, name)
	}
	if b, _ := os.ReadFile(filepath.Join(theirs, "rows.txt")); string(b) != "theirs" {
		t.Errorf("written through a link: %q", b)
	}
}

// sided is the text format with something for the sidecar in each store.
func sided() *formats.Format {
	f := fake("right", true, nil)
	open, create := f.Records.Open, f.Records.Create
	f.Records.Open = func(ctx context.Context, l *formats.Location, v formats.View) (store.Reader, error) {
		v.Sidecar = nil
		return open(ctx, l, v)
	}
	f.Records.Create = func(ctx context.Context, b formats.Build) (store.Writer, error) {
		b.OnSidecar(store.SidecarItem{At: store.Addr{Set: "things", RowID: 1, HasID: true}, Row: []store.Cell{store.TextCell([]byte("aside"))}})
		return create(ctx, b)
	}
	return f
}

// TestUpdateSidecar: one sidecar serves all stores; those that are skipped, fail or are
// gone keep their items, until --delete.
func TestUpdateSidecar(t *testing.T) {
	u := &updated{T: t, dir: t.TempDir()}
	u.src, u.dst = filepath.Join(u.dir, "src"), filepath.Join(u.dir, "dst")
	o := Options{To: "right", Update: true, State: filepath.Join(u.dir, "state"), Jobs: 1}
	reg := formats.NewRegistry(sided(), fake("left", false, nil))
	run := func(want string) {
		t.Helper()
		rep, err := Convert(t.Context(), reg, u.src, u.dst, o)
		if err != nil {
			t.Fatal(err)
		}
		var has []string
		b, _ := os.ReadFile(u.dst + formats.SidecarSuffix)
		for line := range strings.Lines(string(b)) {
			if _, rest, ok := strings.Cut(line, `"store":"`); ok {
				has = append(has, rest[:1])
			}
		}
		if got := strings.Join(has, ""); got != want {
			t.Errorf("the sidecar has items of %q, want %q: %s", got, want, changes(rep))
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		u.source(name, leftText(2))
	}
	run("abc")
	before := times(t, u.dir)
	run("abc")
	if after := times(t, u.dir); !slices.Equal(before, after) {
		t.Errorf("%q\n%q", before, after)
	}
	u.source("b", leftText(3))
	run("abc")
	u.source("b", "left\norigin left\ntable t\ntorn\n")
	u.source("d", leftText(1))
	os.Remove(filepath.Join(u.src, "a"))
	run("bcda")
	o.Delete = true
	run("bcd")
}

// TestUpdateNewSidecar changes the sidecar of a target that was new.
func TestUpdateNewSidecar(t *testing.T) {
	u := &updated{T: t, dir: t.TempDir()}
	u.src, u.dst = filepath.Join(u.dir, "src"), filepath.Join(u.dir, "dst")
	for _, name := range []string{"a", "b"} {
		u.source(name, leftText(2))
		rep, err := Convert(t.Context(), formats.NewRegistry(sided(), fake("left", false, nil)), u.src, u.dst, Options{To: "right", Update: true, State: filepath.Join(u.dir, "state")})
		if err != nil || rep.Failed() > 0 {
			t.Fatal(err)
		}
	}
}

// TestUpdateStores: a store of a client is not updated.
func TestUpdateStores(t *testing.T) {
	dir := t.TempDir()
	src := write(t, filepath.Join(dir, "a.right", "rows.txt"), rightText(1))
	_, err := Convert(t.Context(), fakes(nil, nil), filepath.Dir(src), filepath.Join(dir, "b"), Options{To: "left", Update: true, State: NoState})
	if err == nil || !strings.Contains(err.Error(), "--update works on text only") {
		t.Errorf("%v", err)
	}
}

// TestUpdateOptions: options that make no sense together are refused before anything is read.
func TestUpdateOptions(t *testing.T) {
	dir := t.TempDir()
	src := write(t, filepath.Join(dir, "a"), leftText(1))
	for what, o := range map[string]Options{
		"--delete has no effect without":          {Delete: true},
		"--force has no effect without":           {Force: true},
		"--replace cannot be combined":            {Update: true, Replace: true},
		"--sidecar PATH cannot be combined":       {Update: true, Sidecar: filepath.Join(dir, "s")},
		"--delete cannot be combined with a sele": {Update: true, Delete: true, Sessions: []string{"x"}},
	} {
		o.To, o.State = "right", NoState
		_, err := Convert(t.Context(), fakes(nil, nil), src, filepath.Join(dir, "b"), o)
		if !errors.As(err, &Misuse{}) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestUpdateAtOnce: while one run updates a target, another one is refused.
func TestUpdateAtOnce(t *testing.T) {
	u := newUpdated(t)
	u.source("a", leftText(3))
	goal, err := stage.Resolve(u.dst)
	if err != nil {
		t.Fatal(err)
	}
	first, err := stage.Claim(goal, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Convert(t.Context(), u.registry(), u.src, u.dst, u.o)
	if !errors.Is(err, formats.ErrBusy) {
		t.Errorf("two updates at once: %v", err)
	}
	u.is("a/rows.txt", rightText(2))
	if err := first.Remove(); err != nil {
		t.Fatal(err)
	}
	u.expect(u.run(u.o), "a updated a/rows.txt=updated; b unchanged; c unchanged")
}

// TestUpdateFails: if a rename fails, those before it are undone, and the next run works.
func TestUpdateFails(t *testing.T) {
	u := newUpdated(t)
	for _, name := range []string{"a", "b", "d"} {
		u.source(name, leftText(3))
	}
	for fail := 1; fail <= 6; fail++ {
		n, failed := 0, false
		rename := func(from, to string) error {
			if n++; n == fail {
				failed = true
				return errors.New("no luck")
			}
			return fsx.Move(from, to)
		}
		before := tree(t, filepath.Dir(u.dst))
		rep, err := convertWith(t.Context(), u.registry(), u.src, u.dst, u.o, rename)
		if !failed {
			if fail != 6 || err != nil {
				t.Errorf("%d renames, want 5: %v", fail-1, err)
			}
			break
		}
		if err == nil || rep.Placed || rep.Changed() {
			t.Errorf("rename %d failed unheard: %v, %+v", fail, err, rep)
		}
		if after := tree(t, filepath.Dir(u.dst)); !slices.Equal(before, after) {
			t.Errorf("rename %d: %q", fail, after)
		}
	}
}

// TestUpdateSessions: a file for each session; sessions that vanish stay, until --delete.
func TestUpdateSessions(t *testing.T) {
	dir := t.TempDir()
	src, dst := filepath.Join(dir, "src"), filepath.Join(dir, "dst")
	reg := formats.NewRegistry(talk(nil), canonical.Format())
	o := Options{To: "canonical", Update: true, State: filepath.Join(dir, "state")}
	update := func(o Options, want string) {
		t.Helper()
		rep, err := Convert(t.Context(), reg, src, dst, o)
		if got := changes(rep); err != nil || got != want {
			t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
		}
	}
	write(t, filepath.Join(src, "x.txt"), "talk\nsession s1 Title\nsay hello\nsession s2 Title\nsay hi\n")
	write(t, filepath.Join(src, "y.txt"), "talk\nsession s3 Title\nsay hello\n")
	update(o, "x.txt added talk/s1.jsonl=added talk/s2.jsonl=added; y.txt added talk/s3.jsonl=added")
	before := times(t, dst)
	update(o, "x.txt unchanged; y.txt unchanged")
	if after := times(t, dst); !slices.Equal(before, after) {
		t.Errorf("%q\n%q", before, after)
	}
	write(t, filepath.Join(src, "x.txt"), "talk\nsession s1 Title\nsay hello\nsay more\n")
	os.Remove(filepath.Join(src, "y.txt"))
	update(o, "x.txt updated talk/s1.jsonl=updated talk/s2.jsonl=kept; y.txt kept talk/s3.jsonl=kept")
	update(o, "x.txt unchanged talk/s2.jsonl=kept; y.txt kept talk/s3.jsonl=kept")
	o.Delete = true
	update(o, "x.txt updated talk/s2.jsonl=removed; y.txt removed talk/s3.jsonl=removed")
	o.Delete = false
	update(o, "x.txt unchanged")
	if _, err := Convert(t.Context(), reg, src, filepath.Join(dir, "one.jsonl"), o); err == nil || !strings.Contains(err.Error(), "needs a folder") {
		t.Errorf("a single file: %v", err)
	}
}

// TestUpdateInGit: a committed file may be replaced without a mark, and without a
// backup; one that differs from the commit may not. The configuration of the repository
// runs nothing.
func TestUpdateInGit(t *testing.T) {
	u := newUpdated(t)
	top := filepath.Dir(u.dst)
	ran := filepath.Join(u.dir, "ran")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@x"}, args...)...)
		cmd.Dir = top
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "text")
	hook := write(t, filepath.Join(u.dir, "hook"), "#!/bin/sh\ntouch "+ran+"\ncat\n")
	os.Chmod(hook, 0o755)
	for _, key := range []string{"core.fsmonitor", "core.pager", "filter.x.clean", "filter.x.process", "core.sshCommand", "diff.external", "core.editor"} {
		git("config", key, hook)
	}
	write(t, filepath.Join(top, ".git", "info", "attributes"), "* filter=x\n")
	os.RemoveAll(u.o.State)
	u.source("a", leftText(3))
	u.source("b", leftText(3))
	write(t, filepath.Join(u.dst, "b", "rows.txt"), "mine")
	rep, err := Convert(t.Context(), u.registry(), u.src, u.dst, u.o)
	if err != nil {
		t.Fatal(err)
	}
	u.expect(rep, "a updated a/rows.txt=updated; b "+u.dst+": no update of this machine is known to have written these files, and they are not committed: b/rows.txt; c unchanged")
	if _, err := os.Lstat(ran); err == nil {
		t.Error("a program of the repository was run")
	}
	git("config", "--unset", "filter.x.process")
	git("config", "--unset", "filter.x.clean")
	git("config", "--unset", "core.fsmonitor")
	git("commit", "-qam", "mine")
	rep, err = Convert(t.Context(), u.registry(), u.src, u.dst, u.o)
	if err != nil {
		t.Fatal(err)
	}
	u.expect(rep, "a unchanged; b updated b/rows.txt=updated; c unchanged")
	if left, _ := filepath.Glob(u.dst + ".bak-*"); len(left) > 0 {
		t.Errorf("a backup in a work tree: %q", left)
	}
}

func stat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// times lists everything below a folder with its time.
func times(t *testing.T, root string) (out []string) {
	t.Helper()
	filepath.WalkDir(root, func(p string, e os.DirEntry, err error) error {
		if info := stat(t, p); err == nil {
			out = append(out, fmt.Sprint(p, " ", info.ModTime().UnixNano()))
		}
		return err
	})
	return out
}

// TestStateDir: the folder that each system has for what programs remember.
func TestStateDir(t *testing.T) {
	for _, c := range []struct{ os, home, name, value, want string }{
		{"linux", "/u", "", "", "/u/.local/state/rehome/updates"},
		{"linux", "/u", "XDG_STATE_HOME", "/s", "/s/rehome/updates"},
		{"linux", "/u", "XDG_STATE_HOME", "s", "/u/.local/state/rehome/updates"},
		{"darwin", "/u", "", "", "/u/Library/Application Support/rehome/updates"},
		{"windows", "/u", "LOCALAPPDATA", "/l", "/l/rehome/updates"},
		{"windows", "/u", "", "", ""},
		{"linux", "", "", "", ""},
		{"darwin", "", "", "", ""},
	} {
		got := StateDir(formats.Machine{OS: c.os, Home: c.home, Getenv: func(name string) string { return pick(name == c.name, c.value, "") }})
		if filepath.ToSlash(got) != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

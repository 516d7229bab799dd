package filetx

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"rehome/convert/internal/stage"
	"rehome/convert/internal/undo"
	"rehome/formats"
	"rehome/golden"
	"rehome/internal/fsx"
	"rehome/testdata/kill"
)

// TestMain lets this binary be the victim of its own tests.
func TestMain(m *testing.M) {
	if len(os.Args) == 5 && os.Args[1] == "victim" {
		if err := victim(os.Args[2], os.Args[3], os.Args[4]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// victim changes the files of a client below dir in one transaction, or undoes that. It cannot
// write files larger than limit, unless that is 0.
func victim(dir, how, limit string) error {
	client, records := filepath.Join(dir, "client"), undo.Folder{Dir: filepath.Join(dir, "undo")}
	if how == "undo" {
		return undoNewest(records)
	}
	at, err := stage.Resolve(filepath.Join(client, "sessions"))
	if err != nil {
		return err
	}
	stage.Sweep(func(string) {}, at)
	s, err := stage.New(at)
	if err != nil {
		return err
	}
	defer s.Remove()
	families, err := families(client, s.Tree)
	if err != nil {
		return err
	}
	if n, _ := strconv.ParseUint(limit, 10, 64); n > 0 {
		// A write over the limit fails only if the signal is ignored; Go ignores it.
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
			return err
		}
	}
	tx := &Tx{}
	if err := tx.Begin(records, undo.Record{Format: "x", Store: client}, slices.Concat(families...)); err != nil {
		return err
	}
	for _, family := range families {
		err = errors.Join(err, tx.Do(family))
	}
	return errors.Join(err, tx.End(nil))
}

// families stages the steps that are to do: one of each kind, and those of removals.
func families(client, staged string) ([][]*Step, error) {
	var err error
	exists := func(path string) bool { _, err := os.Lstat(path); return err == nil }
	step := func(name, content string) *Step {
		f := undo.File{Path: filepath.Join(client, name), Of: filepath.Join(client, "log"), Tree: true}
		s := &Step{File: f, Staged: filepath.Join(staged, name)}
		s.Folder, s.Replaces = strings.HasSuffix(name, "/"), exists(s.Path)
		file := s.Staged
		if s.Folder {
			file = filepath.Join(file, "a")
		}
		err = errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(content), 0o600))
		return s
	}
	placed := []*Step{step("deep/er/fresh", "new"), step("file", "new"), step("store/", strings.Repeat("new", 5000)),
		step("log", "one\ntwo\n")}
	log := placed[3]
	log.Of, log.Appended, log.Size = "", true, 4
	log.Before, _ = fsx.Digest(log.Path)
	placed = slices.DeleteFunc(placed, func(s *Step) bool {
		return s.Replaces && fsx.SameTree(s.Staged, s.Path) || !s.Replaces && exists(s.Path)
	})
	var removed []*Step
	for _, name := range []string{"gone/x", "gone2"} {
		if path := filepath.Join(client, name); exists(path) {
			f := undo.File{Path: path, Of: filepath.Join(client, "gone2"), Folder: name == "gone2", Tree: true}
			removed = append(removed, &Step{File: f, Replaces: true})
		}
	}
	for _, s := range removed {
		if at, e := stage.Resolve(s.Path); e == nil {
			stage.Sweep(func(string) {}, at)
		}
	}
	return [][]*Step{placed, removed}, err
}

func undoNewest(records undo.Folder) error {
	list, err := records.List()
	if err != nil || len(list) == 0 {
		return err
	}
	r := &list[0]
	done, err := (&Undoer{Dir: records.Saved(r).Dir}).Undo(r)
	for _, d := range done {
		if d.Kept != "" {
			err = errors.Join(err, fmt.Errorf("%s: %s", d.Key, d.Kept))
		}
	}
	if err != nil {
		return err
	}
	return records.Remove(r.ID)
}

// scene is a client's folder that a victim changes.
type scene struct {
	*home
	dir        string
	old, fresh []string
}

func newScene(t *testing.T) *scene {
	s := &scene{home: &home{t: t}}
	s.reset()
	s.old = s.visible()
	s.run("do", 0)
	if s.fresh = s.visible(); slices.Equal(s.old, s.fresh) {
		t.Fatal("nothing was changed")
	}
	return s
}

func (s *scene) reset() {
	s.t.Helper()
	if s.dir == "" {
		s.dir = s.t.TempDir()
		s.client, s.undos = filepath.Join(s.dir, "client"), filepath.Join(s.dir, "undo")
	}
	if err := errors.Join(os.RemoveAll(s.client), os.RemoveAll(s.undos)); err != nil {
		s.t.Fatal(err)
	}
	for name, content := range map[string]string{
		"file": "old", "log": "one\n", "store/a": strings.Repeat("old", 5000), "store/b": "old", "gone/x": "old", "gone2/y": "old",
	} {
		s.write(filepath.Join(s.client, name), content)
	}
}

func (s *scene) victim(how string, limit int) *exec.Cmd {
	return exec.Command(os.Args[0], "victim", s.dir, how, strconv.Itoa(limit))
}

func (s *scene) run(how string, at int) {
	s.t.Helper()
	if out, err := s.victim(how, 0).CombinedOutput(); err != nil {
		s.t.Errorf("killed at write %d, %s: %v %s", at, how, err, out)
	}
}

// visible returns what the client sees: private folders are not its own.
func (s *scene) visible() []string {
	return slices.DeleteFunc(s.tree(), func(f string) bool { return strings.Contains(f, formats.StagingMark) })
}

func (s *scene) is(at int, what string, want []string) {
	s.t.Helper()
	if got := s.visible(); !slices.Equal(got, want) {
		s.t.Errorf("killed at write %d, %s: %.300q, want %.300q", at, what, got, want)
	}
}

// whole checks that each file is the old one or the new one, and that a folder is not mixed.
func (s *scene) whole(at int) (state string) {
	s.t.Helper()
	now, olds, news := s.visible(), 0, 0
	for _, f := range now {
		isOld, isNew := slices.Contains(s.old, f), slices.Contains(s.fresh, f)
		if !isOld && !isNew {
			s.t.Errorf("killed at write %d: half written: %.100s", at, f)
		}
		if strings.HasPrefix(f, "store/") {
			olds, news = olds+count(isOld), news+count(isNew)
		}
	}
	if olds > 0 && news > 0 || olds == 0 && news == 0 {
		s.t.Errorf("killed at write %d: a folder is half replaced: %.300q", at, now)
	}
	switch {
	case slices.Equal(now, s.old):
		return "old"
	case slices.Equal(now, s.fresh):
		return "new"
	}
	return "between"
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// settled checks that nothing private is left, beside the files or in the folder of records.
func (s *scene) settled(at int, what string) {
	s.t.Helper()
	if all := s.tree(); len(all) != len(s.visible()) {
		s.t.Errorf("killed at write %d, %s: private files are left: %.300q", at, what, all)
	}
	for _, dir := range []string{s.client, s.undos} {
		list, err := os.ReadDir(dir)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, e := range list {
			if strings.HasPrefix(e.Name(), ".") {
				s.t.Errorf("killed at write %d, %s: %s is left", at, what, e.Name())
			}
		}
	}
}

// TestKilled kills a transaction that places, replaces, appends and removes, and its undoing,
// at every write: each file is the old one or the new one, what was done can be undone, the
// next run does the rest, and nothing is left behind.
func TestKilled(t *testing.T) {
	s := newScene(t)
	s.reset()
	n, err := kill.AtWrite(s.victim("do", 0), 0)
	if errors.Is(err, syscall.EPERM) {
		t.Log("tracing is not allowed here: TestTakenBack and TestUndo stand for it")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]int{}
	for at := 1; at <= n; at += golden.Every() {
		s.reset()
		if _, err := kill.AtWrite(s.victim("do", 0), at); err != nil {
			t.Fatal(err)
		}
		states[s.whole(at)]++
		if at%2 == 0 {
			s.run("undo", at)
			s.is(at, "undone", s.old)
		}
		s.run("do", at)
		s.is(at, "run again", s.fresh)
		for range s.records() {
			s.run("undo", at)
		}
		s.is(at, "run again and undone", s.old)
		s.settled(at, "run again and undone")
	}
	t.Logf("%d writes: %v", n, states)
	if states["new"] == 0 || states["old"] == 0 || states["between"] == 0 {
		t.Errorf("states seen: %v", states)
	}

	s.reset()
	s.run("do", 0)
	if n, err = kill.AtWrite(s.victim("undo", 0), 0); err != nil {
		t.Fatal(err)
	}
	s.is(0, "undone", s.old)
	for at := 1; at <= n; at += golden.Every() {
		s.reset()
		s.run("do", at)
		if _, err := kill.AtWrite(s.victim("undo", 0), at); err != nil {
			t.Fatal(err)
		}
		s.whole(at)
		s.run("undo", at)
		s.is(at, "undone again", s.old)
	}
	t.Logf("%d writes of undo", n)
}

// TestLimited lets a transaction meet a full disk: all is as it was, and no record is left.
func TestLimited(t *testing.T) {
	s := newScene(t)
	refused, done := 0, 0
	for limit := 16; done < 2; limit *= 2 {
		s.reset()
		out, err := s.victim("do", limit).CombinedOutput()
		if err == nil {
			s.is(limit, "with room", s.fresh)
			done++
			continue
		}
		refused++
		s.is(limit, "limited", s.old)
		s.settled(limit, "limited")
		if !strings.Contains(string(out), syscall.EFBIG.Error()) || len(s.records()) > 0 {
			t.Errorf("limit %d: %s, records %v", limit, out, s.records())
		}
	}
	if refused < 3 {
		t.Errorf("refused %d", refused)
	}
}

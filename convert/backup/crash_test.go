//go:build linux || darwin

package backup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/internal/fsx"
)

// TestMain lets this binary be the victim of its own tests.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "victim" {
		os.Exit(victim(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// victim HOME DIR KEEP die N before|after: is killed at its Nth rename.
// victim HOME DIR KEEP limit BYTES: cannot write larger files.
// victim HOME DIR TO restore BYTES: restores, and cannot write larger files.
func victim(args []string) int {
	keep, _ := strconv.Atoi(args[2])
	n, _ := strconv.Atoi(args[4])
	o := Options{Machine: formats.Machine{OS: runtime.GOOS, Home: args[0]}, Keep: keep}
	switch args[3] {
	case "die":
		made := 0
		die := func() { syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} }
		o.rename = func(from, to string) error {
			made++
			if made == n && args[5] == "before" {
				die()
			}
			err := fsx.Move(from, to)
			if made == n {
				die()
			}
			return err
		}
	case "limit", "restore":
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(n), Max: uint64(n)}); err != nil {
			fmt.Println(err)
			return 9
		}
	}
	if args[3] == "restore" {
		s, err := Open(all.Registry(), args[1])
		if err == nil {
			_, err = Restore(context.Background(), s, RestoreOptions{Machine: o.Machine, To: args[2]})
		}
		if err != nil {
			fmt.Println(err)
			return 1
		}
		return 0
	}
	rep, err := Run(context.Background(), all.Registry(), args[1], o)
	if err == nil && rep.Count(Failed) > 0 {
		err = errors.New("stores failed")
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// whole returns an error text for each snapshot that is not complete.
func (w *world) whole() {
	w.t.Helper()
	names, err := Snapshots(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, name := range names {
		s, err := Open(all.Registry(), filepath.Join(w.dir, name))
		if err != nil {
			w.t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := Restore(w.t.Context(), s, RestoreOptions{Machine: w.o.Machine, To: filepath.Join(w.t.TempDir(), "to"), DryRun: true})
		if err != nil || got.Count(Failed) > 0 {
			w.t.Errorf("%s: %v %+v", name, err, got)
		}
	}
}

// TestKilled: a run that is killed before or after any of its renames leaves complete
// snapshots only, and the next run removes the rest.
func TestKilled(t *testing.T) {
	for _, step := range []string{"1 before", "1 after", "2 before", "2 after"} {
		w := newWorld(t)
		w.run()
		w.write(".codex/history.jsonl", "{}\n")
		n, when, _ := strings.Cut(step, " ")
		out, err := exec.Command(os.Args[0], "victim", w.home, w.dir, "1", "die", n, when).CombinedOutput()
		if e, ok := err.(*exec.ExitError); !ok || e.Exited() {
			t.Fatalf("%s: not killed: %v %s", step, err, out)
		}
		w.whole()
		want := map[string]int{"1 before": 1, "1 after": 2, "2 before": 2, "2 after": 1}[step]
		if names, _ := Snapshots(w.dir); len(names) != want {
			t.Errorf("%s: %q", step, names)
		}
		w.o.Keep = 1
		w.run()
		w.whole()
		if list, _ := os.ReadDir(w.dir); len(list) != 3 { // with the marks and the current archives
			t.Errorf("%s: left behind: %v", step, list)
		}
	}
}

// TestFullDisk: where writing fails at some size there is no snapshot, and the old one
// is as it was.
func TestFullDisk(t *testing.T) {
	w := newWorld(t)
	made, refused := 0, 0
	for _, limit := range []int{0, 1, 100, 1000, 3000, 10_000, 30_000, 100_000, 1_000_000} {
		out, err := exec.Command(os.Args[0], "victim", w.home, w.dir, "0", "limit", strconv.Itoa(limit)).CombinedOutput()
		names, _ := Snapshots(w.dir)
		switch {
		case err == nil:
			made++
		case len(names) > made || len(strings.TrimSpace(string(out))) == 0:
			t.Errorf("%d: %q, %s", limit, names, out)
		default:
			refused++
		}
		w.whole()
	}
	if made == 0 || refused == 0 {
		t.Errorf("made %d, refused %d", made, refused)
	}
	if list, _ := os.ReadDir(w.dir); len(list) != 3 {
		t.Errorf("left behind: %v", list)
	}
}

// TestRestoreToFullDisk: the first store for which there is no space ends the run. What
// was restored is complete, and the next run restores the rest.
func TestRestoreToFullDisk(t *testing.T) {
	w := newWorld(t)
	w.run()
	to := filepath.Join(t.TempDir(), "to")
	var largest int64
	for _, name := range files(t, w.home) {
		info, err := os.Stat(filepath.Join(w.home, name))
		if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, info.Size())
	}
	for _, limit := range []string{"0", strconv.FormatInt(largest-1, 10)} {
		out, err := exec.Command(os.Args[0], "victim", w.home, w.dir, to, "restore", limit).CombinedOutput()
		if err == nil || !strings.HasPrefix(string(out), to+": the disk is full") || strings.Contains(string(out), formats.StagingMark) {
			t.Errorf("%s: %v, %q", limit, err, out)
		}
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range files(t, to) {
		if strings.Contains(name, formats.StagingMark) {
			t.Errorf("left behind: %s", name)
		}
	}
	got := w.restore(RestoreOptions{To: to})
	if got.Count(Unchanged)+got.Count(Recovered) != len(got.Stores) {
		t.Errorf("%+v", got.Stores)
	}
}

// TestTwoAtOnce: a second run to the same folder is refused while the first lasts, and
// neither leaves half a snapshot.
func TestTwoAtOnce(t *testing.T) {
	w := newWorld(t)
	var second error
	w.o.rename = func(from, to string) error {
		o := w.o
		o.rename = nil
		_, second = Run(t.Context(), all.Registry(), w.dir, o)
		return fsx.Move(from, to)
	}
	if rep := w.run(); rep.Snapshot == "" {
		t.Errorf("%+v", rep)
	}
	if second == nil || !strings.Contains(formats.Hint(second), "another backup") {
		t.Errorf("the second run: %v", second)
	}
	w.whole()
}

// TestWriterBeside: clients go on writing while they are backed up. Each snapshot has
// every store as it was at one moment: whole lines, and rows of committed transactions.
func TestWriterBeside(t *testing.T) {
	w := newWorld(t)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.home, ".cursor", "chats", firstChat(t, w), "store.db")+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	name := filepath.Join(w.home, aSession)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	written := make(chan struct{}, 1)
	wg.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			tx, err := db.Begin()
			if err != nil {
				t.Error(err)
				return
			}
			for k := range 2 {
				if _, err := tx.Exec("INSERT INTO blobs(id, data) VALUES(?, zeroblob(5000))", fmt.Sprintf("%064x", n*2+k)); err != nil {
					t.Error(err)
				}
			}
			if err := tx.Commit(); err != nil {
				t.Error(err)
			}
			f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = fmt.Fprintf(f, `{"type":"summary","summary":"%d"}`+"\n", n)
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				t.Error(err)
			}
			select {
			case written <- struct{}{}:
			default:
			}
		}
	})
	for range 4 {
		<-written
		rep := w.run()
		for _, s := range rep.Stores { // a store that never rests may be refused, nothing else
			if s.Status == Failed && !errors.Is(s.Err(), formats.ErrBusy) {
				t.Errorf("%s: %v", s.Path, s.Err())
			}
		}
	}
	close(stop)
	wg.Wait()
	w.run()
	w.whole()
	w.wipe()
	if got := w.restore(RestoreOptions{}); got.Count(Recovered) != len(got.Stores) {
		t.Errorf("%+v", got.Stores)
	}
	names, _ := Snapshots(w.dir)
	for _, snap := range names {
		at := filepath.Join(w.dir, snap, "claude-code", aSession)
		if !exists(at) {
			continue // refused as busy before there was a copy
		}
		if text := read(t, at); !strings.HasSuffix(text, "}\n") {
			t.Errorf("%s: a torn line: %q", snap, text[len(text)-50:])
		}
	}
}

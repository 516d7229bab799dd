// Command busy is a proof by hand: it reads a database that another process is
// writing to, in each journal mode, as often as it is told, and fails if one is
// ever called broken or read half-way.
//
//	go run ./testdata/busy [-n 300] [-pause 2ms]
//
// Tests prove the same in a deterministic way, one look at the file after
// another; this lets chance find what they forgot.
package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"rehome/convert"
	"rehome/convert/check"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/rule"
)

func main() {
	n := flag.Int("n", 300, "how often each database is read in each way")
	pause := flag.Duration("pause", 2*time.Millisecond, "between two commits")
	write := flag.String("write", "", "be the writer of this database")
	mode := flag.String("mode", "", "the writer's journal mode")
	flag.Parse()
	if *write != "" {
		exit(writer(*write, *mode, *pause))
	}
	failed := false
	for _, mode := range []string{"delete", "truncate", "persist", "off", "memory", "wal"} {
		for _, live := range []bool{false, true} {
			t, err := prove(mode, live, *n, *pause)
			if err != nil {
				exit(err)
			}
			fmt.Printf("%-9s live %-5v %s\n", mode, live, t)
			failed = failed || t.broken > 0
		}
	}
	if failed {
		os.Exit(1)
	}
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "busy:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// writer puts the same number into two tables, one commit a pair, until stdin
// ends.
func writer(path, mode string, pause time.Duration) error {
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?_pragma=busy_timeout(10000)&_pragma=synchronous(off)&_pragma=cache_size(5)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	for _, s := range []string{"PRAGMA journal_mode=" + mode, "CREATE TABLE a(n INTEGER PRIMARY KEY, x)", "CREATE TABLE b(n INTEGER PRIMARY KEY, x)"} {
		if _, err := db.Exec(s); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	for n := 1; ; n++ {
		select {
		case <-ended:
			return db.Close()
		case <-time.After(pause):
		}
		for _, s := range []string{"BEGIN", "INSERT INTO a VALUES(%d, randomblob(9000))", "UPDATE a SET x=randomblob(8000) WHERE n=%d/2", "INSERT INTO b VALUES(%d, randomblob(9000))", "COMMIT"} {
			if bytes.Contains([]byte(s), []byte("%")) {
				s = fmt.Sprintf(s, n)
			}
			if _, err := db.Exec(s); err != nil {
				return err
			}
		}
		if n%400 == 0 {
			if _, err := db.Exec("DELETE FROM a; DELETE FROM b"); err != nil {
				return err
			}
		}
	}
}

// outcomes are what came of reading.
type outcomes struct {
	whole, busy, broken int
	first               string // what was broken
}

func (o outcomes) String() string {
	return fmt.Sprintf("%4d whole, %4d in use, %d broken %s", o.whole, o.busy, o.broken, o.first)
}

func (o *outcomes) add(err error) {
	switch {
	case err == nil:
		o.whole++
	case errors.Is(err, formats.ErrBusy):
		o.busy++
	default:
		if o.broken++; o.first == "" {
			o.first = err.Error()
		}
	}
}

func prove(mode string, live bool, n int, pause time.Duration) (o outcomes, err error) {
	dir, err := os.MkdirTemp("", "busy-")
	if err != nil {
		return o, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "x.db")
	c := exec.Command(os.Args[0], "-write", path, "-mode", mode, "-pause", pause.String())
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return o, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return o, err
	}
	if err := c.Start(); err != nil {
		return o, err
	}
	if _, err := io.ReadFull(out, make([]byte, 6)); err != nil {
		return o, err
	}
	for range n {
		o.add(checked(path, live))
		o.add(carried(path, filepath.Join(dir, "text"), live))
	}
	return o, errors.Join(in.Close(), c.Wait())
}

// checked is what check finds.
func checked(path string, live bool) error {
	r, err := check.Check(context.Background(), all.Registry(), check.Options{Paths: []string{path}, From: "sqlite", Layers: rule.Container | rule.Schema, Live: live})
	if err != nil {
		return err
	}
	for _, s := range r.Stores {
		if s.Err != nil {
			return s.Err
		}
		for _, b := range s.Findings {
			if b.Rule.Severity > rule.Note && b.Rule.ID != "RH114" { // the log's end is being written
				return fmt.Errorf("%s: %s", b.Rule.ID, b.Rule.Title)
			}
		}
	}
	return nil
}

// carried makes text of it, and counts the rows of the pair.
func carried(path, to string, live bool) error {
	defer os.RemoveAll(to)
	if _, err := convert.Convert(context.Background(), all.Registry(), path, to, convert.Options{From: "sqlite", To: "archive", Sidecar: "none", Live: live}); err != nil {
		return err
	}
	var rows [2]int
	for i, name := range []string{"a.ndjson", "b.ndjson"} {
		b, err := os.ReadFile(filepath.Join(to, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		rows[i] = bytes.Count(b, []byte("\n"))
	}
	if rows[0] != rows[1] {
		return fmt.Errorf("half a commit: %d and %d rows", rows[0], rows[1])
	}
	return nil
}

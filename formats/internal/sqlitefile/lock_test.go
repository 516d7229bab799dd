package sqlitefile

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"testing"

	"rehome/formats"
)

// writerOf names the database that this process is to write to, for a test in
// another one: a process loses the locks on a file when it closes that file.
const writerOf = "REHOME_TEST_WRITER_OF"

func TestMain(m *testing.M) {
	path := os.Getenv(writerOf)
	if path == "" {
		os.Exit(m.Run())
	}
	if err := holdHalf(path, os.Getenv("MODE")); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// holdHalf writes half of a transaction and ends it when stdin does.
func holdHalf(path, mode string) error {
	db, err := sql.Open("sqlite", uri(path, "mode=rw"))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	for _, s := range append([]string{"PRAGMA journal_mode=" + mode, "PRAGMA cache_size=5"}, halfATransaction(2)...) {
		if _, err := db.Exec(s); err != nil {
			return err
		}
	}
	fmt.Print("half")
	_, _ = io.Copy(io.Discard, os.Stdin)
	_, err = db.Exec("COMMIT")
	return errors.Join(err, db.Close())
}

// TestWriterWithoutAJournal: half of a transaction that leaves no journal is
// seen by the lock that its writer holds.
func TestWriterWithoutAJournal(t *testing.T) {
	for _, mode := range []string{"off", "memory"} {
		p := newPairs(t, mode)
		p.c.Close()
		aged(t, p.path)
		c := osexec.Command(os.Args[0])
		c.Env = append(os.Environ(), writerOf+"="+p.path, "MODE="+mode)
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		said := make([]byte, 4)
		if _, err := io.ReadFull(out, said); err != nil || string(said) != "half" {
			t.Fatalf("the writer says %q, %v", said, err)
		}
		aged(t, p.path)
		o := Options{seam: func() {}}
		if _, _, err := p.scanned(t, o); !errors.Is(err, formats.ErrBusy) {
			t.Errorf("%s: scanned: %v, want that it is in use", mode, err)
		}
		if _, _, err := p.walked(t, o); !errors.Is(err, formats.ErrBusy) {
			t.Errorf("%s: walked: %v, want that it is in use", mode, err)
		}
		in.Close()
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
		if a, b, err := p.scanned(t, o); err != nil || a != 24 || b != 24 {
			t.Errorf("%s: afterwards %d and %d rows, %v", mode, a, b, err)
		}
	}
}

package cursorchat

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/session"
)

// TestBrokenBeside: a table that is damaged ends the walk over a large store.
func TestBrokenBeside(t *testing.T) {
	dir := laid(t, "chats", nil)
	made(t, dir, `{"latestRootBlobId":""}`, make([]byte, 16<<20+1))
	file := filepath.Join(dir, storeName)
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	var page, size int64
	_, err = db.Exec("CREATE TABLE zmore (x)")
	err = errors.Join(err, db.QueryRow("SELECT rootpage FROM sqlite_master WHERE name='zmore'").Scan(&page), db.QueryRow("PRAGMA page_size").Scan(&size), db.Close())
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte("damaged!"), (page-1)*size)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	l, err := formats.Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := &decoder{codec: codec{sqlitestore.Shape{Origin: name, Single: true, Use: use}}, yield: func(*session.Session, error) bool { return true }}
	if err := d.run(t.Context(), l); err == nil {
		t.Error("nothing is wrong with it")
	}
}

// TestNoBlobs: a chat whose table of blobs is gone is told as far as it goes.
func TestNoBlobs(t *testing.T) {
	dir := laid(t, "chats", nil)
	made(t, dir, fmt.Sprintf(`{"name":"T","latestRootBlobId":"%064x"}`, 1))
	db, err := sql.Open("sqlite", filepath.Join(dir, storeName))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec("DROP TABLE blobs")
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if d := decoded(t, filepath.Join(dir, storeName), session.Selection{}); len(d.lines) != 1 || !strings.Contains(d.lines[0], `"title":"T"`) {
		t.Errorf("%q", d.lines)
	}
}

// TestOddRows: rows that no client writes are read in a large store as in a
// small one, and every row is accounted for.
func TestOddRows(t *testing.T) {
	user := []byte(`{"role":"user","content":"hi"}`)
	var small *told
	for size, insert := range map[string]string{
		"small": "INSERT INTO blobs VALUES(NULL,x'00'),('short',x'00')",
		"large": "INSERT INTO blobs VALUES(NULL,x'00'),('short',zeroblob(17000000))",
	} {
		dir := laid(t, "chats", nil)
		made(t, dir, `{"latestRootBlobId":"ROOT"}`, user, linked(user))
		change(t, dir, "UPDATE blobs SET id=upper(id) WHERE rowid=1", insert)
		d := decoded(t, dir, session.Selection{})
		if len(d.lines) != 2 || !strings.Contains(d.lines[1], `"hi"`) || d.tally.Read != 5 || d.tally.CarriedRaw != 2 || d.tally.Superseded != 0 || strings.Count(strings.Join(d.notes, "\n"), "L704") != 2 {
			t.Errorf("%s: %q %q %+v", size, d.lines, d.notes, d.tally)
		}
		if small == nil {
			small = d
		} else if d.text() != small.text() {
			t.Errorf("got\n%s\nand\n%s", d.text(), small.text())
		}
	}
}

// TestOtherTables: SQLite does not mind the case of names, and a table that
// lacks a column holds no blobs but is still read.
func TestOtherTables(t *testing.T) {
	user := []byte(`{"role":"user","content":"hi"}`)
	dir := laid(t, "chats", nil)
	made(t, dir, `{"latestRootBlobId":"ROOT","name":"N"}`, user, linked(user))
	change(t, dir, "ALTER TABLE blobs RENAME TO b; ALTER TABLE b RENAME TO Blobs; ALTER TABLE Blobs RENAME id TO ID; ALTER TABLE meta RENAME TO m; ALTER TABLE m RENAME TO Meta")
	if d := decoded(t, dir, session.Selection{}); len(d.lines) != 2 || !strings.Contains(d.lines[0], `"title":"N"`) {
		t.Errorf("%q %q", d.lines, d.notes)
	}
	change(t, dir, "ALTER TABLE Blobs RENAME ID TO other")
	if d := decoded(t, dir, session.Selection{}); len(d.lines) != 1 || d.tally.Read != 3 || d.tally.CarriedRaw != 2 {
		t.Errorf("%q %q %+v", d.lines, d.notes, d.tally)
	}
}

// TestOddMeta: a member of another type than clients write is kept.
func TestOddMeta(t *testing.T) {
	dir := laid(t, "chats", nil)
	made(t, dir, `{"name":["N"],"mode":7,"agentId":"a","agentId":"b"}`)
	if d := decoded(t, dir, session.Selection{}); !strings.Contains(d.text(), `{"name":"meta.name","raw":["N"]}`) || !strings.Contains(d.text(), `{"name":"meta.mode","raw":7}`) {
		t.Errorf("%q", d.lines)
	}
}

// change executes SQL on a chat's database.
func change(t *testing.T, dir string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, storeName))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

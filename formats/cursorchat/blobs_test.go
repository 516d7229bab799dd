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

// TestBrokenBeside: a table that is damaged ends the walk over a large store,
// and leaves no look-up open.
func TestBrokenBeside(t *testing.T) {
	dir := laid(t, "chats", nil)
	made(t, dir, `{"latestRootBlobId":""}`, make([]byte, smallStore+1))
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
	if d.blobs == nil || d.blobs.lookup != nil {
		t.Errorf("left open: %+v", d.blobs)
	}
}

// TestNamesThatBeginAlike: ids that strangers chose are told apart as others
// are, and of the many spellings of one no more than two are looked at.
func TestNamesThatBeginAlike(t *testing.T) {
	b := noBlobs("")
	for i := range 5000 {
		b.add(fmt.Sprintf("%064x", i), int64(i))
	}
	name := strings.Repeat("ab", 32)
	for i := range 500 {
		b.add(strings.ToUpper(name[:i%60+1])+name[i%60+1:], int64(i))
	}
	b.add(name, 7)
	b.sort()
	most, same := 0, map[uint64]int{}
	for _, m := range b.list {
		same[m.name]++
		most = max(most, same[m.name])
	}
	if len(b.list) != 5002 || most != 2 {
		t.Errorf("%d names, %d of them alike", len(b.list), most)
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

package cursorchat

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
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

package convert

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/all"
)

// TestRestoreLimit: what is restored only to be read stops at the limit, and leaves
// no more than that behind.
func TestRestoreLimit(t *testing.T) {
	reg, dir := all.Registry(), t.TempDir()
	text := filepath.Join(dir, "text")
	if _, err := Convert(t.Context(), reg, filepath.Join("..", "testdata", "chat", "before.db"), text, Options{To: "archive"}); err != nil {
		t.Fatal(err)
	}
	loc, err := formats.Locate(text)
	if err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int64]string{0: "", 1 << 20: "", 100: "holds more than 0 MB"} {
		to := filepath.Join(dir, "to")
		of, at, err := sessions.Restore(t.Context(), reg, reg.Lookup("archive"), loc, to, formats.FullView(1), limit)
		switch {
		case want != "":
			if err == nil || !strings.HasPrefix(err.Error(), text+": "+want) {
				t.Errorf("limit %d: %v", limit, err)
			}
		case err != nil || of.Name != "cursor-chat" || at.Path != filepath.Join(to, filepath.Base(dir), "text"):
			t.Errorf("limit %d: %v %v", limit, at, err)
		}
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRestoreLimitOfNumbers: numbers count, too, not only text.
func TestRestoreLimitOfNumbers(t *testing.T) {
	reg, dir := all.Registry(), t.TempDir()
	src, text := filepath.Join(dir, "store.db"), filepath.Join(dir, "text")
	b, err := os.ReadFile(filepath.Join("..", "testdata", "chat", "before.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(src, b, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", src)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 100000) INSERT INTO blobs SELECT i, 0 FROM n`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Convert(t.Context(), reg, src, text, Options{To: "archive"}); err != nil {
		t.Fatal(err)
	}
	loc, err := formats.Locate(text)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = sessions.Restore(t.Context(), reg, reg.Lookup("archive"), loc, filepath.Join(dir, "to"), formats.FullView(1), 1<<20)
	if err == nil || !strings.Contains(err.Error(), "holds more than 1 MB") {
		t.Errorf("%v", err)
	}
}

// TestRestoreLimitOfIndexes: indexes of the content multiply what it takes.
func TestRestoreLimitOfIndexes(t *testing.T) {
	reg, dir := all.Registry(), t.TempDir()
	b, err := os.ReadFile(filepath.Join("..", "testdata", "chat", "before.db"))
	if err != nil {
		t.Fatal(err)
	}
	for indexes, want := range map[int]string{1: "", 40: "holds more than 1 MB"} {
		src, text := filepath.Join(dir, fmt.Sprint(indexes), "store.db"), filepath.Join(dir, fmt.Sprint(indexes), "text")
		if err := errors.Join(os.MkdirAll(filepath.Dir(src), 0o700), os.WriteFile(src, b, 0o600)); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", src)
		if err != nil {
			t.Fatal(err)
		}
		for i := range indexes {
			if _, err := db.Exec(fmt.Sprintf("CREATE INDEX i%d ON blobs (data, id)", i)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := db.Exec("INSERT INTO blobs VALUES ('large', randomblob(200000))"); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := Convert(t.Context(), reg, src, text, Options{To: "archive"}); err != nil {
			t.Fatal(err)
		}
		loc, err := formats.Locate(text)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = sessions.Restore(t.Context(), reg, reg.Lookup("archive"), loc, filepath.Join(dir, fmt.Sprint(indexes), "to"), formats.FullView(1), 1<<20)
		if got := fmt.Sprint(err); err != nil && (want == "" || !strings.Contains(got, want)) || err == nil && want != "" {
			t.Errorf("%d indexes: %s, want %q", indexes, got, want)
		}
	}
}

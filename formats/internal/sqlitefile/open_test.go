package sqlitefile

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rehome/formats"
)

var three = []string{"CREATE TABLE t(a)", "INSERT INTO t VALUES(1),(2),(3)"}

func TestClosedFileIsReadInPlace(t *testing.T) {
	for _, mode := range []string{"delete", "wal", "persist", "truncate"} {
		t.Run(mode, func(t *testing.T) {
			dir := t.TempDir()
			path := build(t, filepath.Join(dir, "x.db"), append([]string{"PRAGMA journal_mode=" + mode}, three...)...)
			before := tree(t, dir)
			db := open(t, path, Options{OnNotice: func(s string) { t.Errorf("said %q", s) }})
			if n := count(t, db, "t"); n != 3 {
				t.Errorf("%d rows", n)
			}
			want := map[string]string{"wal": "wal"}[mode]
			if want == "" {
				want = "delete"
			}
			if got := db.Pragmas().JournalMode; got != want {
				t.Errorf("journal mode %q, want %q", got, want)
			}
			if during := tree(t, dir); during != before {
				t.Errorf("while open:\n%s\nbefore:\n%s", during, before)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			if after := tree(t, dir); after != before {
				t.Errorf("after:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
}

func TestOddPaths(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a?b", "a#b", "a%41b", "with space", "é", "日本", "a&b=c", "a+b", "'q\"", "mode=ro?x=1#y", ":memory:"} {
		sub := filepath.Join(dir, name)
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		path := build(t, filepath.Join(sub, name+".db"), three...)
		before := tree(t, dir)
		db := open(t, path, Options{})
		if n := count(t, db, "t"); n != 3 {
			t.Errorf("%s: %d rows", name, n)
		}
		if err := db.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if after := tree(t, dir); after != before {
			t.Errorf("%s: after:\n%s\nbefore:\n%s", name, after, before)
		}
	}
}

func TestURI(t *testing.T) {
	if got, want := uri("/a b/é?#%.db", "mode=ro"), "file:///a%20b/%C3%A9%3F%23%25.db?mode=ro"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSymbolicLink(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	hot(t, filepath.Join(dir, "x.db"), false)
	link := filepath.Join(other, "link.db")
	if err := os.Symlink(filepath.Join(dir, "x.db"), link); err != nil {
		t.Fatal(err)
	}
	before := tree(t, dir) + tree(t, other)
	db := open(t, link, Options{})
	if n := count(t, db, "t"); n != 3 {
		t.Errorf("%d rows: the log beside the file itself was not read", n)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if after := tree(t, dir) + tree(t, other); after != before {
		t.Errorf("after:\n%s\nbefore:\n%s", after, before)
	}
}

// hot leaves what a client that died leaves: everything in the log.
func hot(t *testing.T, path string, shm bool) {
	t.Helper()
	made := filepath.Join(t.TempDir(), "made.db")
	c, _ := session(t, made)
	exec(t, c, "PRAGMA journal_mode=WAL")
	exec(t, c, "PRAGMA wal_autocheckpoint=0")
	for _, s := range three {
		exec(t, c, s)
	}
	sides := []string{"-wal"}
	if shm {
		sides = append(sides, "-shm")
	}
	copyAway(t, made, path, sides...)
}

func TestHotWAL(t *testing.T) {
	for _, shm := range []bool{false, true} {
		for _, empty := range []bool{false, true} {
			t.Run(fmt.Sprintf("shm %v empty file %v", shm, empty), func(t *testing.T) {
				dir, scratch := t.TempDir(), t.TempDir()
				path := filepath.Join(dir, "x.db")
				hot(t, path, shm)
				if empty {
					if err := os.Truncate(path, 0); err != nil {
						t.Fatal(err)
					}
				}
				before := tree(t, dir)
				var said []string
				db := open(t, path, Options{Scratch: scratch, Verbose: true, OnNotice: func(s string) { said = append(said, s) }})
				if n := count(t, db, "t"); n != 3 {
					t.Errorf("%d rows", n)
				}
				if db.Pragmas().JournalMode != "wal" {
					t.Errorf("pragmas %+v", db.Pragmas())
				}
				if len(said) != 1 || !strings.Contains(said[0], "x.db has changes in its write-ahead log (") {
					t.Errorf("said %q", said)
				}
				if err := db.Close(); err != nil {
					t.Error(err)
				}
				if after := tree(t, dir); after != before {
					t.Errorf("after:\n%s\nbefore:\n%s", after, before)
				}
				if left := tree(t, scratch); left != "" {
					t.Errorf("left in scratch: %s", left)
				}
				if names, err := Peek(t.Context(), path); err != nil || !slices.Equal(names, []string{"t"}) {
					t.Errorf("peek: %q %v", names, err)
				}
			})
		}
	}
}

func TestHotJournal(t *testing.T) {
	dir := t.TempDir()
	made := build(t, filepath.Join(t.TempDir(), "made.db"), "CREATE TABLE t(a,b)",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<2000) INSERT INTO t SELECT i, randomblob(200) FROM n")
	whole := open(t, made, Options{})
	want := rows(t, whole, (*DB).Scan, table(t, whole, "t"))
	whole.Close()
	c, _ := session(t, made)
	exec(t, c, "PRAGMA cache_size=5")
	exec(t, c, "BEGIN")
	exec(t, c, "UPDATE t SET b=zeroblob(200)") // spills half-way: the file holds what was never committed
	path := filepath.Join(dir, "x.db")
	copyAway(t, made, path, "-journal")
	before := tree(t, dir)
	if raw, _ := os.ReadFile(path); strings.Count(string(raw), strings.Repeat("\x00", 200)) < 100 {
		t.Fatal("the transaction did not spill")
	}
	var said string
	db := open(t, path, Options{Verbose: true, OnNotice: func(s string) { said = s }})
	if got := rows(t, db, (*DB).Scan, table(t, db, "t")); !slices.Equal(got, want) {
		t.Error("rows of a transaction that never ended")
	}
	if !strings.Contains(said, "rollback journal (") {
		t.Errorf("said %q", said)
	}
	db.Close()
	if after := tree(t, dir); after != before {
		t.Errorf("after:\n%s\nbefore:\n%s", after, before)
	}
}

func TestJournalOfSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	path := build(t, filepath.Join(dir, "x.db"), three...)
	journal := "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + strings.Repeat("j", 504) + "\x00\x00\x00\x01/elsewhere-mj\x00\x00\x00\x0d\x00\x00\x00\x00\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
	if err := os.WriteFile(path+"-journal", []byte(journal), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), path, Options{})
	fails(t, err, "x.db", "several files")
	if !errors.Is(err, formats.ErrBusy) {
		t.Errorf("%v is not ErrBusy", err)
	}
}

func TestLive(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.db")
	c, _ := session(t, path)
	exec(t, c, "PRAGMA journal_mode=WAL")
	for _, s := range three {
		exec(t, c, s)
	}
	sums := func() string {
		var s string
		for _, side := range []string{"", "-wal"} {
			b, err := os.ReadFile(path + side)
			if err != nil {
				t.Fatal(err)
			}
			s += fmt.Sprintf("%x ", sha256.Sum256(b))
		}
		return s
	}
	before := sums()
	var said string
	db := open(t, path, Options{Live: true, Scratch: filepath.Join(dir, "no such folder"), OnNotice: func(s string) { said = s }})
	if !strings.Contains(said, "in place") {
		t.Errorf("said %q", said)
	}
	if n := count(t, db, "t"); n != 3 {
		t.Errorf("%d rows", n)
	}
	if got := sums(); got != before {
		t.Error("the database or its log changed")
	}
	exec(t, c, "INSERT INTO t VALUES(4)")
	before = sums()
	if n := count(t, db, "t"); n != 3 {
		t.Errorf("%d rows: not one snapshot", n)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if got := sums(); got != before {
		t.Error("the database or its log changed on close")
	}
	exec(t, c, "INSERT INTO t VALUES(5)")
}

// TestLiveNeedsItsOwnersFiles: what cannot be read in place is copied, with or
// without Live: a log without its -shm, and a rollback journal.
func TestLiveNeedsItsOwnersFiles(t *testing.T) {
	wal := filepath.Join(t.TempDir(), "x.db")
	hot(t, wal, false)
	made := build(t, filepath.Join(t.TempDir(), "made.db"), "CREATE TABLE t(a)", "INSERT INTO t VALUES(1),(2),(zeroblob(200000))")
	c, _ := session(t, made)
	exec(t, c, "PRAGMA cache_size=5")
	exec(t, c, "BEGIN")
	exec(t, c, "UPDATE t SET a=zeroblob(100000)")
	journal := filepath.Join(t.TempDir(), "x.db")
	copyAway(t, made, journal, "-journal")
	for _, path := range []string{wal, journal} {
		before := tree(t, filepath.Dir(path))
		var said string
		db := open(t, path, Options{Live: true, Verbose: true, OnNotice: func(s string) { said = s }})
		if n := count(t, db, "t"); n != 3 || !strings.Contains(said, "from a copy") {
			t.Errorf("%d rows, said %q", n, said)
		}
		db.Close()
		m, err := OpenImage(t.Context(), path, Options{Live: true})
		if err != nil {
			t.Fatal(err)
		}
		m.Close()
		if after := tree(t, filepath.Dir(path)); after != before {
			t.Errorf("after:\n%s", after)
		}
	}
}

func TestCopyTooLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	hot(t, path, true)
	_, err := Open(t.Context(), path, Options{MaxCopy: 5000})
	fails(t, err, "x.db", "5000 bytes")
	if !errors.Is(err, formats.ErrBusy) || !strings.Contains(formats.Hint(err), "--live") {
		t.Errorf("%v; hint %q", err, formats.Hint(err))
	}
	err = room(path, t.TempDir(), state{db: side{size: 1 << 61}, wal: side{there: true, size: 1}, shm: true}, 1<<62)
	fails(t, err, "x.db", "does not fit")
	if !errors.Is(err, formats.ErrBusy) || !strings.Contains(formats.Hint(err), "--live") {
		t.Errorf("%v; hint %q", err, formats.Hint(err))
	}
}

func TestChangedWhileRead(t *testing.T) {
	path := build(t, filepath.Join(t.TempDir(), "x.db"), three...)
	db := open(t, path, Options{})
	build(t, path, "INSERT INTO t VALUES(4)")
	err := db.Close()
	fails(t, err, "x.db", "changed")
	if !errors.Is(err, formats.ErrBusy) {
		t.Errorf("%v is not ErrBusy", err)
	}
	if err := db.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

// TestCopyThatGrew: what is read of a copy is bounded by the copy, not by what the
// file was when it was looked at first.
func TestCopyThatGrew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	c, _ := session(t, path)
	for _, s := range append([]string{"PRAGMA journal_mode=WAL", "PRAGMA wal_autocheckpoint=0"}, three...) {
		exec(t, c, s)
	}
	src := (&Options{}).source(path, path)
	before, err := src.settle(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	exec(t, c, "INSERT INTO t VALUES(zeroblob(3000000)),(zeroblob(3000000))")
	db := &DB{source: src}
	if err := db.fromCopy(t.Context(), before, Options{OnNotice: func(string) {}, Known: new(Known)}); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if n := count(t, db, "t"); n != 5 {
		t.Errorf("%d rows", n)
	}
}

// What may happen to the source while it is copied, one thing at a time.
func TestMovedWhileCopied(t *testing.T) {
	overwrite := func(name string, at int64, with string) error {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		_, err = f.WriteAt([]byte(with), at)
		return errors.Join(err, f.Close())
	}
	for what, c := range map[string]struct {
		change func(path string) error
		moved  bool
	}{
		"nothing":         {func(string) error { return nil }, false},
		"log appended":    {func(p string) error { return overwrite(p+"-wal", 1<<20, "more") }, false},
		"log cut":         {func(p string) error { return os.Truncate(p+"-wal", 100) }, true},
		"log begun again": {func(p string) error { return overwrite(p+"-wal", 16, "salt") }, true},
		"log gone":        {func(p string) error { return os.Remove(p + "-wal") }, true},
		"page written":    {func(p string) error { return overwrite(p, 2000, "page") }, true},
		"header written": {func(p string) error {
			info, err := os.Stat(p)
			return errors.Join(err, overwrite(p, 24, "\x99\x99"), os.Chtimes(p, info.ModTime(), info.ModTime()))
		}, true},
		"file grown":    {func(p string) error { return overwrite(p, 1<<16, "page") }, true},
		"journal there": {func(p string) error { return overwrite(p+"-journal", 0, "journal") }, true},
	} {
		path, to := filepath.Join(t.TempDir(), "x.db"), filepath.Join(t.TempDir(), "copy.db")
		hot(t, path, false)
		src := (&Options{}).source(path, path)
		before, err := src.settle(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := src.copyOnce(t.Context(), to, before); err != nil {
			t.Fatal(err)
		}
		head, err := readHead(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.change(path); err != nil {
			t.Fatal(err)
		}
		err = src.unmoved(to, before, before, head)
		if errors.Is(err, errMoving) != c.moved {
			t.Errorf("%s: %v", what, err)
		}
		if what == "page written" { // and the copy itself asks
			if err := src.copyOnce(t.Context(), to, before); !errors.Is(err, errMoving) {
				t.Errorf("copied all the same: %v", err)
			}
			_, err := src.snapshot(t.Context(), filepath.Dir(to), before)
			if err != nil {
				t.Errorf("the second try: %v", err)
			}
		}
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	good := build(t, filepath.Join(dir, "good.db"), "CREATE TABLE t(a)", "INSERT INTO t SELECT randomblob(20000)")
	whole, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 8192)
	x := uint64(88172645463325252)
	for i := range noise {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		noise[i] = byte(x >> 32)
	}
	for _, c := range []struct {
		name  string
		bytes []byte
		words []string
	}{
		{"text.db", []byte(strings.Repeat("this is not a database\n", 100)), []string{"not a SQLite database"}},
		{"gzip.db", append([]byte("\x1f\x8b"), noise[:510]...), []string{"not a SQLite database"}},
		{"empty.db", nil, []string{"zero bytes"}},
		{"short.db", whole[:50], []string{"truncated"}},
		{"shorter.db", whole[:7], []string{"truncated"}},
		{"cut.db", whole[:12288], []string{"truncated", "pages of 4096"}},
		{"cipher.db", noise, []string{"encrypted"}},
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, c.bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), path, Options{})
		fails(t, err, c.name, c.words...)
		if IsDatabase(c.bytes) != strings.HasPrefix(string(c.bytes), magic) {
			t.Errorf("%s: IsDatabase", c.name)
		}
	}
	_, err = Open(t.Context(), dir, Options{})
	fails(t, err, dir, "folder")
	_, err = Open(t.Context(), filepath.Join(dir, "nowhere.db"), Options{})
	fails(t, err, "nowhere.db")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not ErrNotExist", err)
	}
	err = unreadable("x.db", &fs.PathError{Op: "open", Path: "x.db", Err: fs.ErrPermission})
	fails(t, err, "x.db", "cannot be read")
}

func TestMalformedPage(t *testing.T) {
	dir := t.TempDir()
	path := build(t, filepath.Join(dir, "x.db"), "CREATE TABLE fine(a)", "INSERT INTO fine VALUES(1)", "CREATE TABLE broken(a)",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<500) INSERT INTO broken SELECT hex(randomblob(50)) FROM n")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4 * 4096; i < 5*4096; i++ {
		b[i] = 0xAA
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	db := open(t, path, Options{})
	if n := count(t, db, "fine"); n != 1 {
		t.Errorf("%d rows", n)
	}
	for _, by := range []route{(*DB).Scan, (*DB).ScanPlain} {
		var last error
		for b, err := range by(db, t.Context(), 0, table(t, db, "broken")) {
			if err != nil {
				last = err
				continue
			}
			b.Release()
		}
		fails(t, last, "x.db", "table broken", "malformed")
	}
}

// Whatever bytes a file has, it is read or refused: no panic, no change.
func TestDamagedFiles(t *testing.T) {
	dir := t.TempDir()
	path := build(t, filepath.Join(dir, "x.db"), "CREATE TABLE t(a INTEGER PRIMARY KEY, b, c DATE)", "CREATE TABLE w(k TEXT PRIMARY KEY, v) WITHOUT ROWID", "CREATE INDEX i ON t(b)",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<60) INSERT INTO t SELECT i, randomblob(i*9), 'x' FROM n",
		"INSERT INTO w SELECT 'k'||a, b FROM t")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	x := uint64(1)
	refused := 0
	for range 300 {
		b := slices.Clone(whole)
		for range 1 + x%5 {
			x = x*6364136223846793005 + 1442695040888963407
			b[int(x>>33)%len(b)] = byte(x >> 17)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-time.Minute) // a young file would be waited for
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		db, err := Open(t.Context(), path, Options{})
		if err != nil {
			refused++
			if !strings.Contains(err.Error(), "x.db") {
				t.Errorf("error %q names no file", err)
			}
			continue
		}
		for _, table := range db.Tables() {
			for b, err := range db.Scan(t.Context(), 0, table) {
				if err != nil {
					refused++
					continue
				}
				b.Release()
			}
		}
		db.Close()
	}
	if refused == 0 {
		t.Error("no damage was ever noticed")
	}
}

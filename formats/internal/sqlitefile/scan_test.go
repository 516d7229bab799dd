package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"rehome/formats"
	"rehome/formats/internal/sqlitepages"
)

// odd values: every class, and what tends to get lost.
var odd = []any{
	nil, int64(0), int64(-1), int64(1<<53 + 1), int64(math.MaxInt64), int64(math.MinInt64),
	0.5, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), 1e300, 5e-324, 1.0, 9007199254740994.0,
	"", "x", "a\x00b", "\x00", "\xff\xfe", "é日本😀", "2020-01-02 03:04:05", "12", " 1e3 ", strings.Repeat("long ", 2000),
	[]byte{}, []byte{0}, []byte("blob"), []byte(strings.Repeat("\x00\xff", 3000)),
}

// oddities is a database of tables of every shape.
func oddities(t *testing.T, path, encoding string, r *rand.Rand) string {
	t.Helper()
	c, end := session(t, path)
	exec(t, c, "PRAGMA encoding='"+encoding+"'")
	for _, s := range []string{
		`CREATE TABLE plain(a,b,c)`,
		`CREATE TABLE keyed(id INTEGER PRIMARY KEY, v BLOB)`,
		`CREATE TABLE "descending"(id INTEGER PRIMARY KEY DESC, v)`,
		`CREATE TABLE aliased(id INT PRIMARY KEY, v)`,
		`CREATE TABLE late(v, id INTEGER, PRIMARY KEY(id))`,
		`CREATE TABLE auto(id INTEGER PRIMARY KEY AUTOINCREMENT, v)`,
		`CREATE TABLE without(k TEXT, v, n, PRIMARY KEY(n, k)) WITHOUT ROWID`,
		`CREATE TABLE backwards(k PRIMARY KEY DESC, v) WITHOUT ROWID`,
		`CREATE TABLE strict(i INT, r REAL, t TEXT, b BLOB, x ANY) STRICT`,
		`CREATE TABLE made(a, g AS (a||'!') VIRTUAL, b, s AS (length(b)) STORED)`,
		`CREATE TABLE shadowed(rowid, "_RowID_", v)`,
		`CREATE TABLE taken(rowid INTEGER PRIMARY KEY, _rowid_, oid)`,
		`CREATE TABLE dated(d DATE, e DATETIME, f TIMESTAMP, g "weird, (type)")`,
		`CREATE TABLE "na""me ' é ("("" , "co""l ; --", [x y])`,
		`CREATE TABLE tempting(a, b)`, `CREATE INDEX tempting_all ON tempting(b, a)`, `CREATE UNIQUE INDEX tempting_one ON tempting(a)`,
		`CREATE TABLE none(a)`,
	} {
		exec(t, c, s)
	}
	value := func() any { return odd[r.IntN(len(odd))] }
	for i := range 40 {
		id := r.Int64N(1000) - 500
		exec(t, c, `INSERT INTO plain(rowid,a,b,c) VALUES(?,?,?,?)`, int64(i)*int64(i)-7, value(), value(), value())
		for _, name := range []string{"keyed", `"descending"`, "aliased", "late", "auto"} {
			exec(t, c, `INSERT OR IGNORE INTO `+name+`(id,v) VALUES(?,?)`, id, value())
		}
		exec(t, c, `INSERT INTO without VALUES(?,?,?)`, fmt.Sprint(r.IntN(1e9)), value(), r.IntN(5))
		exec(t, c, `INSERT OR IGNORE INTO backwards VALUES(?,?)`, r.IntN(50), value())
		exec(t, c, `INSERT INTO made(a,b) VALUES(?,?)`, value(), value())
		exec(t, c, `INSERT INTO shadowed VALUES(?,?,?)`, value(), value(), value())
		exec(t, c, `INSERT OR IGNORE INTO taken VALUES(?,?,?)`, id, value(), value())
		exec(t, c, `INSERT INTO dated VALUES(?,?,?,?)`, value(), value(), value(), value())
		exec(t, c, `INSERT INTO "na""me ' é (" VALUES(?,?,?)`, value(), value(), value())
		exec(t, c, `INSERT INTO tempting VALUES(?,?)`, fmt.Sprint(r.IntN(1e9)), value())
	}
	for _, v := range odd {
		exec(t, c, `INSERT INTO strict(x) VALUES(?)`, v)
	}
	exec(t, c, `INSERT INTO strict VALUES(1,1.5,'t',x'00',NULL),(NULL,3,'',x'',1.0)`)
	if encoding != "UTF-8" {
		for _, units := range []string{"00d8", "00dc", "d800", "dc00", "00dc00d8", "3dd800de", "d83dde00", "00d800d8", "fffe", "feff", "0000", "610000d86200"} {
			exec(t, c, `INSERT INTO plain(a) VALUES(CAST(x'`+units+`' AS TEXT))`)
		}
	}
	end()
	return path
}

func TestScanEqualsPlain(t *testing.T) {
	for seed := range uint64(4) {
		path := oddities(t, filepath.Join(t.TempDir(), "x.db"), "UTF-8", rand.New(rand.NewPCG(seed, 1)))
		db := open(t, path, Options{})
		if len(db.Tables()) != 17 { // sqlite_sequence is one
			t.Fatalf("%d tables", len(db.Tables()))
		}
		for _, x := range db.Tables() {
			fast, plain := rows(t, db, (*DB).Scan, x), rows(t, db, (*DB).ScanPlain, x)
			if !slices.Equal(fast, plain) {
				t.Errorf("%s: the two routes differ:\n%s\n\n%s", x.Name, strings.Join(fast, "\n"), strings.Join(plain, "\n"))
			}
			if len(fast) == 0 && x.Name != "none" {
				t.Errorf("%s: no rows", x.Name)
			}
		}
	}
}

// What the two routes agree on must also be what SQLite itself says.
func TestScanValues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	c, end := session(t, path)
	exec(t, c, "CREATE TABLE t(a)")
	var want []string
	for i, v := range odd {
		exec(t, c, "INSERT INTO t VALUES(?)", v)
		var s string
		switch v := v.(type) {
		case nil:
			s = "null 0 "
		case int64:
			s = fmt.Sprintf("integer %x ", uint64(v))
		case float64:
			s = fmt.Sprintf("real %x ", math.Float64bits(v))
		case string:
			s = fmt.Sprintf("text %x %x", len(v), v)
		case []byte:
			s = fmt.Sprintf("blob %x %x", len(v), v)
		}
		want = append(want, fmt.Sprintf("%d|%s", i+1, s))
	}
	end()
	db := open(t, path, Options{})
	for name, by := range map[string]route{"scan": (*DB).Scan, "plain": (*DB).ScanPlain} {
		got := rows(t, db, by, table(t, db, "t"))
		for i := range want {
			if i >= len(got) || got[i] != want[i] {
				t.Errorf("%s: row %d: %.80q, want %.80q", name, i, got[i], want[i])
			}
		}
	}
}

func TestTables(t *testing.T) {
	path := oddities(t, filepath.Join(t.TempDir(), "x.db"), "UTF-8", rand.New(rand.NewPCG(9, 9)))
	build(t, path, "CREATE VIRTUAL TABLE docs USING fts5(body)", "CREATE VIEW v AS SELECT 1", "ANALYZE")
	db := open(t, path, Options{})
	for name, want := range map[string]Table{
		"plain":           {Name: "plain", Columns: []string{"a", "b", "c"}, RowIDs: true},
		"keyed":           {Name: "keyed", Columns: []string{"id", "v"}, RowIDs: false},
		"descending":      {Name: "descending", Columns: []string{"id", "v"}, RowIDs: true},
		"aliased":         {Name: "aliased", Columns: []string{"id", "v"}, RowIDs: true},
		"late":            {Name: "late", Columns: []string{"v", "id"}, RowIDs: false},
		"without":         {Name: "without", Columns: []string{"k", "v", "n"}, RowIDs: false},
		"made":            {Name: "made", Columns: []string{"a", "b"}, RowIDs: true},
		"taken":           {Name: "taken", Columns: []string{"rowid", "_rowid_", "oid"}, RowIDs: false},
		"sqlite_sequence": {Name: "sqlite_sequence", Columns: []string{"name", "seq"}, RowIDs: true},
		"sqlite_stat1":    {Name: "sqlite_stat1", Columns: []string{"tbl", "idx", "stat"}, RowIDs: true},
		"docs_data":       {Name: "docs_data", Columns: []string{"id", "block"}, RowIDs: false},
		"docs_idx":        {Name: "docs_idx", Columns: []string{"segid", "term", "pgno"}, RowIDs: false},
	} {
		if got := table(t, db, name); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	for _, x := range db.Tables() {
		if x.Name == "docs" || x.Name == "v" {
			t.Errorf("%s holds no rows of its own", x.Name)
		}
	}
	for _, o := range db.Objects() {
		if strings.HasPrefix(o.Name, "sqlite_autoindex") {
			t.Errorf("%s is automatic", o.Name)
		}
	}
}

func TestScanOfColumns(t *testing.T) {
	path := build(t, filepath.Join(t.TempDir(), "x.db"), "CREATE TABLE t(a,b)", "INSERT INTO t VALUES(1,'x')")
	db := open(t, path, Options{})
	if got := rows(t, db, (*DB).Scan, Table{Name: "t", Columns: []string{"b"}}); !slices.Equal(got, []string{"1|text 1 78"}) {
		t.Errorf("%q", got)
	}
	for _, x := range []Table{{Name: "u"}, {Name: "t", Columns: []string{"c"}}} {
		var last error
		for _, err := range db.Scan(t.Context(), 0, x) {
			last = err
		}
		if last == nil {
			t.Errorf("%+v was scanned", x)
		}
	}
}

// An index that covers the columns is smaller than the table: the planner
// would walk it, in its own order.
func TestScanIsNotTempted(t *testing.T) {
	path := build(t, filepath.Join(t.TempDir(), "x.db"), "CREATE TABLE t(a, wide TEXT)", "CREATE INDEX i ON t(a)", "INSERT INTO t VALUES(3,'x'),(1,'y'),(2,'z')")
	db := open(t, path, Options{})
	for _, by := range []route{(*DB).Scan, (*DB).ScanPlain} {
		if got := rows(t, db, by, Table{Name: "t", Columns: []string{"a"}}); !slices.Equal(got, []string{"1|integer 3 ", "2|integer 1 ", "3|integer 2 "}) {
			t.Errorf("%q", got)
		}
	}
}

func TestManyColumns(t *testing.T) {
	var names, values []string
	for i := range 300 {
		names, values = append(names, fmt.Sprintf("c%d", i)), append(values, fmt.Sprint(i))
	}
	path := build(t, filepath.Join(t.TempDir(), "x.db"), "CREATE TABLE t("+strings.Join(names, ",")+")", "INSERT INTO t VALUES("+strings.Join(values, ",")+")")
	db := open(t, path, Options{})
	if got := rows(t, db, (*DB).Scan, table(t, db, "t")); len(got) != 1 || !strings.HasSuffix(got[0], "|integer 12b ") {
		t.Errorf("%q", got)
	}
	most := open(t, build(t, filepath.Join(t.TempDir(), "y.db"), "CREATE TABLE t("+strings.Join(names[:sinkMost], ",")+")", "INSERT INTO t VALUES("+strings.Join(values[:sinkMost], ",")+")"), Options{})
	if got := rows(t, most, (*DB).Scan, table(t, most, "t")); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

func TestNoWayToTheRowID(t *testing.T) {
	path := build(t, filepath.Join(t.TempDir(), "x.db"), "CREATE TABLE t(rowid,_rowid_,OID)")
	_, err := Open(t.Context(), path, Options{})
	fails(t, err, "x.db", "table t", "rowid, _rowid_ and oid")
}

func TestUTF16Scan(t *testing.T) {
	for _, encoding := range []string{"UTF-16le", "UTF-16be"} {
		path := filepath.Join(t.TempDir(), "x.db")
		c, end := session(t, path)
		exec(t, c, "PRAGMA encoding='"+encoding+"'")
		exec(t, c, "CREATE TABLE é(a DATE)")
		for _, v := range []any{"é😀\x00x", "", []byte{0xD8}, nil, int64(3)} {
			exec(t, c, "INSERT INTO é VALUES(?)", v)
		}
		units := map[string]string{"UTF-16le": "00d84100", "UTF-16be": "d8000041"}[encoding]
		exec(t, c, "INSERT INTO é VALUES(CAST(x'"+units+"' AS TEXT))")
		end()
		db := open(t, path, Options{})
		if db.Pragmas().Encoding != encoding {
			t.Errorf("%+v", db.Pragmas())
		}
		want := []string{"1|text 8 c3a9f09f98800078", "2|text 0 ", "3|blob 1 d8", "4|null 0 ", "5|integer 3 ", "6|text 4 eda08041"}
		if got := rows(t, db, (*DB).Scan, table(t, db, "é")); !slices.Equal(got, want) {
			t.Errorf("%s: %q", encoding, got)
		}
	}
}

func TestUTF16(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		units := make([]byte, 2*r.IntN(9))
		for i := 0; i < len(units); i += 2 {
			u := []uint16{uint16(r.Uint32()), 0xD800 + uint16(r.IntN(0x800)), uint16(r.IntN(128))}[r.IntN(3)]
			units[i], units[i+1] = byte(u>>8), byte(u)
		}
		for _, o := range []string{"UTF-16le", "UTF-16be"} {
			text, err := sqlitepages.AppendWTF8(nil, units, sqlitepages.ByteOrder(o))
			if err != nil {
				t.Fatal(err)
			}
			back, err := sqlitepages.AppendUTF16(nil, text, sqlitepages.ByteOrder(o))
			if err != nil || string(back) != string(units) {
				t.Fatalf("%x became %x became %x (%v)", units, text, back, err)
			}
		}
	}
	if _, err := sqlitepages.AppendWTF8(nil, []byte{1, 2, 3}, sqlitepages.ByteOrder("UTF-16le")); !errors.Is(err, sqlitepages.ErrOddText) {
		t.Error(err)
	}
	for _, bad := range []string{"\xff", "\xed\xa0", "\xed\xa0\x80\xed\xb0\x80", "\xc0\x80", "a\x80"} {
		if out, err := sqlitepages.AppendUTF16(nil, []byte(bad), sqlitepages.ByteOrder("UTF-16be")); err == nil {
			t.Errorf("%x became %x", bad, out)
		}
	}
}

func large(t *testing.T) *DB {
	return open(t, build(t, filepath.Join(t.TempDir(), "x.db"), "CREATE TABLE t(a)",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<30000) INSERT INTO t SELECT randomblob(300) FROM n"), Options{})
}

func TestScanBreak(t *testing.T) {
	db := large(t)
	before := runtime.NumGoroutine()
	for _, by := range []route{(*DB).Scan, (*DB).ScanPlain} {
		for b := range by(db, t.Context(), 0, table(t, db, "t")) {
			b.Release()
			break
		}
	}
	if n := count(t, db, "t"); n != 30000 {
		t.Errorf("%d rows after a break", n)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

func TestScanCancelled(t *testing.T) {
	db := large(t)
	for _, by := range []route{(*DB).Scan, (*DB).ScanPlain} {
		ctx, cancel := context.WithCancel(t.Context())
		var last error
		n := 0
		for b, err := range by(db, ctx, 0, table(t, db, "t")) {
			if last = err; err == nil {
				b.Release()
			}
			if n++; n == 2 {
				cancel()
			}
		}
		if !errors.Is(last, context.Canceled) || n > 4 {
			t.Errorf("%v after %d batches", last, n)
		}
		cancel()
	}
	if n := count(t, db, "t"); n != 30000 {
		t.Errorf("%d rows afterwards", n)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(gone, db.path, Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestScanPanic(t *testing.T) {
	db := large(t)
	func() {
		defer func() {
			if r := recover(); r != "mine" {
				t.Errorf("recovered %v", r)
			}
		}()
		for range db.Scan(t.Context(), 0, table(t, db, "t")) {
			panic("mine")
		}
	}()
	if n := count(t, db, "t"); n != 30000 {
		t.Errorf("%d rows afterwards", n)
	}
}

func TestScanInScan(t *testing.T) {
	db := large(t)
	for b, err := range db.Scan(t.Context(), 0, table(t, db, "t")) {
		if err != nil {
			t.Fatal(err)
		}
		b.Release()
		for _, err := range db.Scan(t.Context(), 0, table(t, db, "t")) {
			if !errors.Is(err, errTwo) {
				t.Fatal(err)
			}
		}
		break
	}
}

func TestErrorsKeepTheirHint(t *testing.T) {
	inner := &formats.Error{Err: errors.New("x"), Hint: "do"}
	err := explain(t.Context(), "a.db", "t", fmt.Errorf("scan: %w", inner))
	if formats.Hint(err) != "do" || !strings.Contains(err.Error(), "a.db: table t: scan: x") {
		t.Errorf("%v; hint %q", err, formats.Hint(err))
	}
}

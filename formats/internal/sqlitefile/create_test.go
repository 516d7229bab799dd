package sqlitefile

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/sqliteddl"
	"rehome/formats/store"
)

func setsOf(tables []Table) (sets []TableSet) {
	for i, x := range tables {
		sets = append(sets, TableSet{i, x})
	}
	return sets
}

// rebuild creates at path what db holds.
func rebuild(t *testing.T, db *DB, path string) error {
	t.Helper()
	w, err := CreateWithCode(t.Context(), path, store.Database{Pragmas: db.Pragmas(), Objects: db.Objects()}, setsOf(db.Tables()))
	if err != nil {
		return err
	}
	defer w.Close()
	for i, x := range db.Tables() {
		for b, err := range db.Scan(t.Context(), i, x) {
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Put(t.Context(), b); err != nil {
				return err
			}
		}
	}
	return w.Finish(t.Context())
}

// roundTrip rebuilds a database and asserts that nothing is different.
func roundTrip(t *testing.T, path string) string {
	t.Helper()
	a := open(t, path, Options{})
	dir := t.TempDir()
	to := filepath.Join(dir, "back ?#%.db")
	if err := rebuild(t, a, to); err != nil {
		t.Fatal(err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("beside the file: %v", list)
	}
	b := open(t, to, Options{})
	if !reflect.DeepEqual(a.Pragmas(), b.Pragmas()) {
		t.Errorf("pragmas %+v, were %+v", b.Pragmas(), a.Pragmas())
	}
	if !reflect.DeepEqual(a.Objects(), b.Objects()) {
		t.Errorf("objects %q, were %q", b.Objects(), a.Objects())
	}
	if !reflect.DeepEqual(a.Tables(), b.Tables()) {
		t.Errorf("tables %v, were %v", b.Tables(), a.Tables())
	}
	for _, x := range a.Tables() {
		was, is := rows(t, a, (*DB).ScanPlain, x), rows(t, b, (*DB).ScanPlain, x)
		if !slices.Equal(was, is) {
			t.Errorf("%s:\n%s\nwas:\n%s", x.Name, strings.Join(is, "\n"), strings.Join(was, "\n"))
		}
	}
	var whole string
	c, end := session(t, to)
	if err := c.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&whole); err != nil || whole != "ok" && !strings.Contains(whole, "CHECK") {
		t.Errorf("integrity_check: %s %v", whole, err)
	}
	end()
	return to
}

func TestRoundTripOddities(t *testing.T) {
	for _, encoding := range []string{"UTF-8", "UTF-16le", "UTF-16be"} {
		for seed := range uint64(2) {
			roundTrip(t, oddities(t, filepath.Join(t.TempDir(), "x.db"), encoding, rand.New(rand.NewPCG(seed, 3))))
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for name, statements := range map[string][]string{
		"nothing":      {"PRAGMA user_version=7"},
		"empty":        {"CREATE TABLE t(a)"},
		"wal":          {"PRAGMA journal_mode=WAL", "CREATE TABLE t(a)", "INSERT INTO t VALUES(1)", "PRAGMA user_version=-5", "PRAGMA application_id=-2147483648"},
		"page 512":     {"PRAGMA page_size=512", "CREATE TABLE t(a)", "INSERT INTO t VALUES(randomblob(100000))"},
		"page 65536":   {"PRAGMA page_size=65536", "CREATE TABLE t(a)", "INSERT INTO t VALUES(randomblob(100000))"},
		"auto_vacuum1": {"PRAGMA auto_vacuum=1", "CREATE TABLE t(a)", "INSERT INTO t VALUES(1)"},
		"auto_vacuum2": {"PRAGMA auto_vacuum=2", "CREATE TABLE t(a PRIMARY KEY)", "INSERT INTO t VALUES(1)"},
		"only a view":  {"PRAGMA encoding='UTF-16be'", "CREATE VIEW v AS SELECT 1 AS x", "PRAGMA user_version=1"},
		"replace":      {"CREATE TABLE t(key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)", "INSERT INTO t VALUES('a',x'00'),('b',''),(NULL,NULL),(NULL,1)"},
		"triggers": {"CREATE TABLE t(a)", "CREATE TABLE log(a)", "INSERT INTO t VALUES(1)",
			"CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO log VALUES(CASE WHEN new.a THEN 'x;' ELSE 2 END); SELECT 1; END",
			"CREATE VIEW v(q) AS SELECT a FROM t", "CREATE TRIGGER tv INSTEAD OF INSERT ON v WHEN new.q > 1 BEGIN DELETE FROM log; END",
			"CREATE TABLE after(b)", "CREATE INDEX i ON after(b)", "CREATE TRIGGER [od'd \" tr] BEFORE UPDATE OF a ON t BEGIN SELECT raise(ignore); END"},
		"fts5":  {"CREATE VIRTUAL TABLE docs USING fts5(title, body, tokenize='porter unicode61')", "INSERT INTO docs VALUES('one','the quick brown fox'),('two','jumped; over')", "CREATE TABLE t(a)"},
		"rtree": {"CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1)", "INSERT INTO boxes VALUES(1,0.5,1.5),(2,3,4)"},
		"auto": {"CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT, v)", "CREATE TABLE b(id INTEGER PRIMARY KEY AUTOINCREMENT, v)",
			"INSERT INTO b VALUES(900,1)", "INSERT INTO a(v) VALUES(1),(2),(3)", "DELETE FROM b", "UPDATE sqlite_sequence SET seq=77 WHERE name='a'", "INSERT INTO sqlite_sequence(rowid,name,seq) VALUES(40,'gone',-3),(41,NULL,'x')"},
		"auto gone":  {"CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT)", "INSERT INTO a VALUES(5)", "DROP TABLE a", "CREATE TABLE t(a)"},
		"auto later": {"CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT)", "INSERT INTO a VALUES(5)", "DROP TABLE a", "CREATE TABLE b(id INTEGER PRIMARY KEY AUTOINCREMENT)", "INSERT INTO b VALUES(6)"},
		"altered": {"CREATE TABLE old(a, b TEXT)", "INSERT INTO old VALUES(1,'x')", "ALTER TABLE old ADD COLUMN c DEFAULT 'later'", "ALTER TABLE old RENAME TO 'new name'",
			"ALTER TABLE 'new name' RENAME COLUMN b TO \"b b\"", "INSERT INTO 'new name' VALUES(2,'y','z')", "ALTER TABLE 'new name' ADD COLUMN d INT NOT NULL DEFAULT 5", "ALTER TABLE 'new name' DROP COLUMN a"},
		"indexes": {"CREATE TABLE t(a,b,c COLLATE NOCASE)", "INSERT INTO t VALUES(1,'x','Y'),(2,'z','w')", "CREATE INDEX part ON t(a) WHERE b IS NOT NULL AND a > 1",
			"CREATE UNIQUE INDEX expr ON t(lower(b), a+1 DESC)", "CREATE INDEX dq ON t(\"c\" COLLATE BINARY)", "CREATE INDEX js ON t(json_extract(b,'$.x')) WHERE json_valid(b)"},
		"analyzed": {"CREATE TABLE t(a,b)", "CREATE INDEX i ON t(a)", "INSERT INTO t VALUES(1,2),(3,4)", "ANALYZE", "CREATE TABLE later(x)"},
		"checked":  {"PRAGMA ignore_check_constraints=ON", "CREATE TABLE t(a CHECK(a>5), b REFERENCES nowhere(x))", "INSERT INTO t VALUES(1,9)"},
		"comments": {"CREATE TABLE t( -- it's a comment; DROP TABLE t\n a /* \"open */, b DEFAULT ';')", "CREATE VIEW v AS SELECT '--', \"a\" /* ; */ FROM t"},
		"foreign":  {"CREATE TABLE child(p REFERENCES parent(id) ON DELETE CASCADE)", "CREATE TABLE parent(id INTEGER PRIMARY KEY)", "INSERT INTO child VALUES(1)", "INSERT INTO parent VALUES(1)"},
		"strict":   {"CREATE TABLE t(i INT PRIMARY KEY, a ANY) STRICT, WITHOUT ROWID", "INSERT INTO t VALUES(1,'12'),(2,1.0),(3,x'')"},
		"dqs":      {"CREATE TABLE t(a)", "CREATE INDEX i ON t(a, \"not a column\")", "INSERT INTO t VALUES(1)"},
		"wide":     {"CREATE TABLE t(a INTEGER, b NUMERIC, c REAL, d TEXT)", "INSERT INTO t VALUES('x','1x',0.5,'12'),(9223372036854775807,1e300,1,'1.0'),(NULL,'',-0.0,''),(x'31','0x10','e5','x'),(9e999,-9e999,9e999,' ')"},
		"names":    {"CREATE TABLE \"select\"(\"order\", \"a.b\", \"\"\"\")", "INSERT INTO \"select\" VALUES(1,2,3)", "CREATE TABLE 'quo''ted'(x)", "CREATE TABLE [brack et](`b``t`)", "CREATE TABLE \"\"(\"\")", "INSERT INTO \"\" VALUES(5)", "CREATE TABLE a$b(c$1)"},
		"long rows": {"CREATE TABLE t(a)", "INSERT INTO t VALUES(randomblob(5000000)),('x'),(randomblob(17000000))",
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<5000) INSERT INTO t SELECT hex(randomblob(i%1500)) FROM n"},
	} {
		t.Run(name, func(t *testing.T) {
			roundTrip(t, build(t, filepath.Join(t.TempDir(), "x.db"), statements...))
		})
	}
}

// What was placed without running must work once the file is opened.
func TestPlacedObjectsWork(t *testing.T) {
	to := roundTrip(t, build(t, filepath.Join(t.TempDir(), "x.db"),
		"CREATE VIRTUAL TABLE docs USING fts5(body)", "INSERT INTO docs VALUES('the quick brown fox')",
		"CREATE TABLE t(a)", "CREATE TABLE log(a)", "CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO log VALUES(new.a); END", "CREATE VIEW v AS SELECT count(*) AS n FROM t"))
	c, _ := session(t, to)
	exec(t, c, "INSERT INTO t VALUES(42)")
	var found, logged, n int
	if err := c.QueryRowContext(t.Context(), "SELECT (SELECT count(*) FROM docs WHERE docs MATCH 'quick'), (SELECT a FROM log), n FROM v").Scan(&found, &logged, &n); err != nil {
		t.Fatal(err)
	}
	if found != 1 || logged != 42 || n != 1 {
		t.Error(found, logged, n)
	}
}

// fill creates a table and puts the given rows.
func fill(t *testing.T, ddl string, columns []string, rowids bool, rows ...[]store.Cell) error {
	t.Helper()
	dir := t.TempDir()
	name := strings.Fields(strings.ReplaceAll(ddl, "(", " "))[2]
	d := store.Database{Pragmas: plainPragmas, Objects: []store.Object{{Type: "table", Name: name, Table: name, SQL: ddl}}}
	w, err := CreateWithCode(t.Context(), filepath.Join(dir, "x.db"), d, []TableSet{{3, Table{Name: name, Columns: columns, RowIDs: rowids}}})
	if err != nil {
		return err
	}
	b := store.NewBatch(3, len(columns))
	for i, r := range rows {
		id := int64(0)
		if rowids {
			id = int64(100 + i)
		}
		b.Row(id)
		for _, c := range r {
			b.Add(c)
		}
	}
	err = w.Put(t.Context(), b)
	if err == nil {
		err = w.Finish(t.Context())
	}
	if cerr := w.Close(); cerr != nil {
		t.Error(cerr)
	}
	if err := w.Close(); err != nil {
		t.Error("second close: ", err)
	}
	if list, _ := os.ReadDir(dir); (len(list) != 0) != (err == nil) {
		t.Errorf("error %v, and in the folder: %v", err, list)
	}
	return err
}

var plainPragmas = store.Pragmas{PageSize: 4096, Encoding: "UTF-8", JournalMode: "delete"}

func text(s string) store.Cell { return store.TextCell([]byte(s)) }

// A value that a column would change is an error, whoever put it there.
func TestChangedByAffinity(t *testing.T) {
	for _, c := range []struct {
		declared string
		cell     store.Cell
		ok       bool
	}{
		{"INTEGER", text("12"), false}, {"INTEGER", text(" -1.5e3 "), false}, {"INTEGER", text("+.5"), false}, {"INTEGER", text("5."), false}, {"INTEGER", text("1\n"), false},
		{"INTEGER", text("12x"), true}, {"INTEGER", text(""), true}, {"INTEGER", text("."), true}, {"INTEGER", text("1e"), true}, {"INTEGER", text("0x10"), true},
		{"INTEGER", text("- 1"), true}, {"INTEGER", text("1\x00x"), false}, {"INTEGER", text("\x001"), true}, {"INTEGER", text("inf"), true}, {"INTEGER", text("1e+"), true}, {"INTEGER", text("\u00a01"), true},
		{"INTEGER", store.RealCell(1), false}, {"INTEGER", store.RealCell(math.Copysign(0, -1)), false}, {"INTEGER", store.RealCell(1e18), false}, {"INTEGER", store.RealCell(1e19), true}, {"INTEGER", store.RealCell(0.5), true}, {"INTEGER", store.RealCell(math.Inf(-1)), true},
		{"INTEGER", store.RealCell(-1 << 63), true}, {"INTEGER", store.RealCell(1 << 62), false},
		{"DATE", text("12"), false}, {"DATE", text("2020-01-01"), true}, {"", text("12"), true}, {"BLOB", text("12"), true}, {"", store.RealCell(1), true},
		{"TEXT", store.IntCell(1), false}, {"TEXT", store.RealCell(1.5), false}, {"TEXT", store.BlobCell([]byte("1")), true}, {"VARCHAR(10)", store.IntCell(1), false},
		{"REAL", store.IntCell(1), false}, {"REAL", text("1"), false}, {"REAL", store.RealCell(1), true}, {"DOUBLE", store.RealCell(1<<62 + 4096), true},
		{"CHARINT", text("1"), false}, {"ANY", text("1"), false}, {"", store.RealCell(math.NaN()), false}, {"BLOB", store.NullCell(), true},
		{"", store.WithheldCell(), false}, {"INTEGER", store.WithheldCell(), false},
	} {
		err := fill(t, "CREATE TABLE t(a "+c.declared+")", []string{"a"}, true, []store.Cell{text("first")}, []store.Cell{c.cell})
		if c.declared == "REAL" || c.declared == "TEXT" || err == nil {
			if (err == nil) != c.ok {
				t.Errorf("%s %s %v: error %v", c.declared, c.cell.Class, c.cell, err)
			}
		} else if c.ok {
			t.Errorf("%s %s %q: %v", c.declared, c.cell.Class, c.cell.Bytes(), err)
		}
		if err != nil && !strings.Contains(err.Error(), `x.db: table t: row id 101: column "a": `) {
			t.Errorf("error %q does not name the place", err)
		}
	}
	if err := fill(t, "CREATE TABLE t(a ANY, b INT) STRICT", []string{"a", "b"}, true, []store.Cell{text("1"), store.IntCell(1)}); err != nil {
		t.Error(err)
	}
}

// Our own idea of what SQLite leaves alone, held against SQLite's.
func TestAffinityAgainstSQLite(t *testing.T) {
	c, _ := session(t, filepath.Join(t.TempDir(), "x.db"))
	exec(t, c, "BEGIN")
	r := rand.New(rand.NewPCG(5, 6))
	types := []string{"INTEGER", "NUMERIC", "REAL", "TEXT", "BLOB", "", "FLOATING POINT", "CHARACTER", "DATETIME", "STRING"}
	for _, declared := range types {
		exec(t, c, "DROP TABLE IF EXISTS t")
		exec(t, c, "CREATE TABLE t(a "+declared+", b)")
		for range 400 {
			var v any
			var cell store.Cell
			switch r.IntN(4) {
			case 0:
				i := int64(r.Uint64())
				v, cell = i, store.IntCell(i)
			case 1:
				f := []float64{r.Float64(), float64(r.IntN(9)), math.Float64frombits(r.Uint64()), math.Ldexp(1, r.IntN(70)), -math.Ldexp(1, r.IntN(70))}[r.IntN(5)]
				v, cell = f, store.RealCell(f)
			default:
				var s strings.Builder
				for range r.IntN(6) {
					s.WriteByte("0123.eE+- \tx\n\v\f\rn\x00"[r.IntN(18)])
				}
				v, cell = s.String(), text(s.String())
			}
			var same bool
			exec(t, c, "DELETE FROM t")
			exec(t, c, "INSERT INTO t VALUES(?1,?1)", v)
			if err := c.QueryRowContext(t.Context(), "SELECT typeof(a)=typeof(b) AND +a IS +b FROM t").Scan(&same); err != nil {
				t.Fatal(err)
			}
			if f, ok := v.(float64); ok && math.IsNaN(f) {
				same = false // both columns hold NULL
			}
			if what := sqliteddl.AffinityOf(declared, false).Changed(cell); (what == "") != same {
				t.Errorf("%s: %v (%q): SQLite keeps it: %v; we say %q", declared, v, v, same, what)
			}
		}
	}
}

func TestConflicts(t *testing.T) {
	one := func(s string) []store.Cell { return []store.Cell{text(s)} }
	for _, clause := range []string{"", "ON CONFLICT REPLACE", "ON CONFLICT IGNORE", "ON CONFLICT ROLLBACK"} {
		var list [][]store.Cell
		for i := range 40 {
			list = append(list, one(fmt.Sprint("k", i)))
		}
		list[27] = one("k20")
		err := fill(t, "CREATE TABLE t(a UNIQUE "+clause+")", []string{"a"}, true, list...)
		if err == nil || !strings.Contains(err.Error(), "x.db: table t: row id 127: ") || !strings.Contains(err.Error(), "UNIQUE") {
			t.Errorf("%s: %v", clause, err)
		}
		err = fill(t, "CREATE TABLE t(a PRIMARY KEY "+clause+") WITHOUT ROWID", []string{"a"}, false, list...)
		if err == nil || !strings.Contains(err.Error(), "x.db: table t: row 28: ") {
			t.Errorf("%s: %v", clause, err)
		}
		err = fill(t, "CREATE TABLE t(a NOT NULL "+clause+" DEFAULT 5)", []string{"a"}, true, one("x"), []store.Cell{store.NullCell()})
		if err == nil || !strings.Contains(err.Error(), "row id 101") {
			t.Errorf("%s: %v", clause, err)
		}
	}
	if err := fill(t, "CREATE TABLE t(a INTEGER PRIMARY KEY)", []string{"a"}, false, []store.Cell{store.NullCell()}); err == nil {
		t.Error("a NULL key was made up")
	}
}

func TestCreateRefusesShapes(t *testing.T) {
	for _, c := range []struct {
		columns []string
		rowids  bool
	}{{[]string{"a"}, true}, {[]string{"b", "a"}, true}, {[]string{"a", "b", "g"}, true}} {
		if err := fill(t, "CREATE TABLE t(a, b, g AS (a))", c.columns, c.rowids); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
	if err := fill(t, "CREATE TABLE t(a INTEGER PRIMARY KEY, b)", []string{"a", "b"}, true); err == nil {
		t.Error("row ids apart from the column were taken")
	}
	if err := errors.Join(fill(t, "CREATE TABLE t(a, b)", []string{"a", "b"}, true), fill(t, "CREATE TABLE t(a, b)", []string{"a", "b"}, false)); err != nil {
		t.Error(err)
	}
	w, err := CreateWithCode(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Database{Pragmas: plainPragmas}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Put(t.Context(), store.NewBatch(0, 1)); err == nil {
		t.Error("a batch of no table was taken")
	}
	if _, err := CreateWithCode(t.Context(), filepath.Join(t.TempDir(), "y.db"), store.Database{Pragmas: plainPragmas}, []TableSet{{0, Table{Name: "sqlite_schema"}}}); err == nil {
		t.Error("sqlite_schema as a target")
	}
}

func TestCreateRefusesPragmas(t *testing.T) {
	for _, change := range []func(*store.Pragmas){
		func(p *store.Pragmas) { p.PageSize = 0 }, func(p *store.Pragmas) { p.PageSize = 1000 }, func(p *store.Pragmas) { p.PageSize = 1 << 17 },
		func(p *store.Pragmas) { p.Encoding = "UTF-16" }, func(p *store.Pragmas) { p.Encoding = "x';--" }, func(p *store.Pragmas) { p.AutoVacuum = 3 },
		func(p *store.Pragmas) { p.JournalMode = "memory" },
	} {
		p := plainPragmas
		change(&p)
		dir := t.TempDir()
		if _, err := CreateWithCode(t.Context(), filepath.Join(dir, "x.db"), store.Database{Pragmas: p}, nil); err == nil {
			t.Errorf("%+v was taken", p)
		}
		if list, _ := os.ReadDir(dir); len(list) > 0 {
			t.Errorf("left behind: %v", list)
		}
	}
}

func TestCreateOverNothingThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := CreateWithCode(t.Context(), path, store.Database{Pragmas: plainPragmas}, nil)
	if !errors.Is(err, formats.ErrExists) {
		t.Error(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "mine" {
		t.Error("it was overwritten")
	}
	if _, err := CreateWithCode(t.Context(), filepath.Join(t.TempDir(), "no", "x.db"), store.Database{Pragmas: plainPragmas}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// An index on an expression is run for each row; what it makes has a limit.
func TestExpressionBomb(t *testing.T) {
	d := store.Database{Pragmas: plainPragmas, Objects: []store.Object{
		{Type: "table", Name: "t", Table: "t", SQL: "CREATE TABLE t(a)"},
		{Type: "index", Name: "i", Table: "t", SQL: "CREATE INDEX i ON t(length(hex(zeroblob(400000000))))"},
	}}
	w, err := CreateWithCode(t.Context(), filepath.Join(t.TempDir(), "x.db"), d, []TableSet{{0, Table{Name: "t", Columns: []string{"a"}, RowIDs: true}}})
	if err == nil {
		b := store.NewBatch(0, 1)
		b.Row(1)
		b.AddInt(1)
		err = w.Put(t.Context(), b)
		w.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "too big") {
		t.Error(err)
	}
}

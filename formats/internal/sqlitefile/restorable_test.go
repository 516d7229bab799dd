package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rehome/formats"
	"rehome/formats/internal/sqliteddl"
	"rehome/formats/store"
)

// What SQLite takes and keeps must come back, however odd.
func TestRoundTripOddSchemas(t *testing.T) {
	for name, statements := range map[string][]string{
		"end as a column": {"CREATE TABLE ev(start,end)", "INSERT INTO ev VALUES(1,NULL)",
			"CREATE TRIGGER tr AFTER INSERT ON ev BEGIN UPDATE ev SET end=new.start WHERE start=new.start; END"},
		"end all over": {"CREATE TABLE ev(start,end,[case],\"begin\")",
			"CREATE TRIGGER tr AFTER UPDATE OF end ON ev WHEN (new.end > old.end OR new.begin) BEGIN UPDATE ev SET end=CASE end WHEN 1 THEN end ELSE old.end END; SELECT end FROM ev; SELECT 1 /* ; END; */ AS end; /* not yet */ END"},
		"trigger on main.t":    {"CREATE TABLE t(a)", "CREATE TRIGGER tr AFTER INSERT ON main.t BEGIN SELECT 1; END"},
		"names beyond ASCII":   {"CREATE TABLE \"Ünsafe\"(a)", "CREATE TABLE \"ünsafe\"(a)", "INSERT INTO \"Ünsafe\" VALUES(1)", "INSERT INTO \"ünsafe\" VALUES(2)", "CREATE INDEX \"É\" ON \"ünsafe\"(a)", "CREATE TRIGGER \"é\" AFTER INSERT ON \"ÜNSAFE\" BEGIN SELECT 1; END"},
		"types beyond ASCII":   {"CREATE TABLE t(a \"ınt char\", b \"ſTRICT\", c real)", "INSERT INTO t VALUES('12',12,1)"},
		"a long view":          {"CREATE TABLE t(a)", "CREATE VIEW v AS SELECT '" + strings.Repeat("x", 1_200_000) + "' AS a"},
		"a very long view":     {"CREATE VIEW v AS SELECT 1 AS a /* " + strings.Repeat("x", 15_000_000) + "*/, 2 AS b", "CREATE TABLE t(a)", "INSERT INTO t VALUES('x')"},
		"a long view in UTF16": {"PRAGMA encoding='UTF-16le'", "CREATE VIEW v AS SELECT '" + strings.Repeat("x", 5_000_000) + "' AS a"},
		"unclosed comment":     {"CREATE VIEW v AS SELECT 1 AS a /* to the end"},
		"generated": {"CREATE TABLE t(a, b AS (lower(a)) STORED, c TEXT GENERATED ALWAYS AS (CAST(a AS VARCHAR(20)) || replace(a,'x','y')), d DECIMAL(10,2) DEFAULT (abs(random())) CHECK (instr(a,d) IS NOT NULL))",
			"INSERT INTO t(a,d) VALUES('xX',1.5)", "CREATE INDEX i ON t(c, substr(b,1,2)) WHERE a LIKE 'x%' AND d BETWEEN 1 AND 2"},
		"many indexes": append([]string{"CREATE TABLE t(a,b)", "INSERT INTO t VALUES('{\"k\":1}',2)"}, manyIndexes(60)...),
	} {
		t.Run(name, func(t *testing.T) {
			path := build(t, filepath.Join(t.TempDir(), "x.db"), statements...)
			db := open(t, path, Options{})
			if _, err := sqliteddl.Vet(store.Database{Pragmas: db.Pragmas(), Objects: db.Objects()}, sqliteddl.AnyCode); err != nil {
				t.Fatal(err)
			}
			roundTrip(t, path)
		})
	}
}

func manyIndexes(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("CREATE INDEX i%d ON t(json_extract(a,'$.k%d'), b)", i, i))
	}
	return list
}

// A table of as many columns as SQLite allows has no room for a row id, nor
// for the class beside each value.
func TestAllTheColumns(t *testing.T) {
	for _, encoding := range []string{"UTF-8", "UTF-16le"} {
		for _, n := range map[string][]int{"UTF-8": {1999, 2000}, "UTF-16le": {999, 1000, 2000}}[encoding] {
			for _, first := range []string{"c0", "c0 INTEGER PRIMARY KEY", "c0 TEXT PRIMARY KEY NOT NULL"} {
				if n == 2000 && strings.Contains(first, "TEXT") {
					continue // its key's index cannot be as wide
				}
				var columns, values []string
				for i := range n {
					columns = append(columns, fmt.Sprintf("c%d", i))
					values = append(values, []string{"?1+5", "?1||'ü'", "x'00ff'", "NULL", "?1*0.5"}[(i+4*(i/5))%5])
				}
				columns[0], values[0] = first, "?1"
				tail := ""
				if strings.Contains(first, "TEXT") {
					tail = " WITHOUT ROWID"
				}
				path := filepath.Join(t.TempDir(), "x.db")
				c, end := session(t, path)
				exec(t, c, "PRAGMA encoding='"+encoding+"'")
				exec(t, c, "CREATE TABLE t("+strings.Join(columns, ",")+")"+tail)
				for i := range 17 {
					exec(t, c, "INSERT INTO t VALUES("+strings.Join(values, ",")+")", i*7)
				}
				if first == "c0" {
					exec(t, c, "UPDATE t SET rowid=c0*c0-500")
				}
				end()
				to := open(t, roundTrip(t, path), Options{})
				if got := count(t, to, "t"); got != 17 {
					t.Errorf("%s, %d columns, %s: %d rows", encoding, n, first, got)
				}
			}
		}
	}
}

// A row id that is taken is an error, not another row id.
func TestAllTheColumnsTwice(t *testing.T) {
	var columns []string
	for i := range mostTerms {
		columns = append(columns, fmt.Sprintf("c%d", i))
	}
	ddl := "CREATE TABLE t(" + strings.Join(columns, ",") + ")"
	w, err := CreateWithCode(t.Context(), filepath.Join(t.TempDir(), "x.db"), oneTable(ddl), []TableSet{{0, Table{Name: "t", Columns: columns, RowIDs: true}}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	b := store.NewBatch(0, len(columns))
	for _, id := range []int64{5, -9, 5} {
		b.Row(id)
		for range columns {
			b.AddNull()
		}
	}
	if err := w.Put(t.Context(), b); err == nil || !strings.Contains(err.Error(), "row id 5: ") {
		t.Error(err)
	}
}

func oneTable(ddl string, more ...store.Object) store.Database {
	return store.Database{Pragmas: plainPragmas, Objects: append([]store.Object{{Type: "table", Name: "t", Table: "t", SQL: ddl}}, more...)}
}

func index(sql string) store.Object {
	return store.Object{Type: "index", Name: "i", Table: "t", SQL: "CREATE INDEX i ON t" + sql}
}

// What could take for ever, and could not be stopped, is refused by Vet too.
func TestBoundedEffort(t *testing.T) {
	plain := "CREATE TABLE t(a, b)"
	terms := func(n int, format string) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(format, i))
		}
		return strings.Join(list, "+")
	}
	for _, c := range []struct{ table, index, why string }{
		{plain, "(" + terms(900, "length(replace(hex(zeroblob(5000000+a)),'0','%d'))") + ")", "functions per row"},
		{"CREATE TABLE t(a, b AS (" + terms(300, "length(hex(a+%d))") + "))", "(a)", "functions per row"},
		{"CREATE TABLE t(a, b AS (" + terms(150, "length(a+%d)") + "))", "(" + terms(150, "length(a+%d)") + ")", "functions per row"},
		{plain, "(a) WHERE " + terms(300, "a||%d"), "functions per row"},
		{plain, "(a) WHERE a IN (" + strings.Repeat("1,", 20_000) + "1)", "terms per row"},
		{plain, "(" + terms(10_001, "a") + ")", "terms per row"},
		{plain, "(a) WHERE " + strings.Repeat("(", 1001) + "a" + strings.Repeat(")", 1001), "parentheses"},
		{plain, "(replace(a,b,'x'))", "search pattern"},
		{plain, "(\"replace\"(a, \"b\", 'x'))", "search pattern"},
		{plain, "(instr(a, lower(b)))", "search pattern"},
		{plain, "(a) WHERE a LIKE b", "search pattern"},
		{plain, "(like('x%', a))", "search pattern"},
		{plain, "(replace(a,'" + strings.Repeat("x", 5000) + "','y'))", "functions per row"},
		{plain, "(json_patch(a, b))", "json_patch"},
		{"CREATE TABLE t(a, b GENERATED ALWAYS AS (json_patch(a, a)))", "(a)", "json_patch"},
		{plain, "([frob](a))", "frob()"},
	} {
		d := oneTable(c.table, index(c.index))
		refused(t, c.why, d.Objects...)
		if _, err := sqliteddl.Vet(d, sqliteddl.AnyCode); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%.80q: %v", c.index, err)
		}
	}
	for _, c := range []struct{ table, index string }{
		{plain, "(lower(a), b DESC) WHERE a LIKE 'x%' AND (b IN (1,2) OR NOT (a))"},
		{plain, "(CAST(a AS VARCHAR(20)), json_extract(b, '$.x') COLLATE NOCASE)"},
		{plain, "(a ->> '$.x', trim(b, ' '), coalesce(a, b, 'c;)'))"},
		{"CREATE TABLE t(a VARCHAR(10) CHECK (frob(a)) REFERENCES u(x), b DECIMAL(5,2) DEFAULT (json_patch(1, 2)), UNIQUE (a, b))", "(a)"},
	} {
		if _, err := sqliteddl.Vet(oneTable(c.table, index(c.index)), sqliteddl.AnyCode); err != nil {
			t.Errorf("%s: %v", c.index, err)
		}
	}
}

// Vet says what Create would, and makes nothing.
func TestVet(t *testing.T) {
	if _, err := sqliteddl.Vet(oneTable("CREATE TABLE t(a)"), sqliteddl.AnyCode); err != nil {
		t.Error(err)
	}
	_, err := sqliteddl.Vet(oneTable("CREATE TABLE t(a); DROP TABLE t"), sqliteddl.AnyCode)
	if err == nil || !strings.Contains(err.Error(), `schema: table "t": refused`) {
		t.Error(err)
	}
	d := oneTable("CREATE TABLE t(a)")
	d.Pragmas.PageSize = 1000
	if _, err := sqliteddl.Vet(d, sqliteddl.AnyCode); err == nil || !strings.Contains(err.Error(), "page_size") {
		t.Error(err)
	}
}

// The value that a Writer would refuse is refused while reading, in the same
// words and by both routes.
func TestRestorable(t *testing.T) {
	for declared, want := range map[string]string{
		"TEXT": "an integer would become text", "REAL": "", "ANY": "", "BLOB": "", "INTEGER": "",
	} {
		// Declared behind SQLite's back, as a careless migration does.
		path := build(t, filepath.Join(t.TempDir(), "x.db"), "CREATE TABLE t(a, b)", "INSERT INTO t(rowid,a,b) VALUES(3,'x','y'),(8,'z',5)",
			"CREATE TABLE w(k TEXT PRIMARY KEY, a, b) WITHOUT ROWID", "INSERT INTO w VALUES('k','x','y'),('l','z',6)",
			"PRAGMA writable_schema=ON", "UPDATE sqlite_schema SET sql=replace(sql,'b)','b "+declared+")')", "PRAGMA writable_schema=OFF")
		for _, by := range []func(*DB, context.Context, int, Table) iter.Seq2[*store.Batch, error]{(*DB).Scan, (*DB).ScanPlain} {
			for name, place := range map[string]string{"t": "row id 8", "w": "row 2"} {
				db := open(t, path, Options{RequireRestorable: true})
				var err error
				for b, e := range by(db, t.Context(), 0, table(t, db, name)) {
					if err = e; b != nil {
						b.Release()
					}
				}
				if want == "" && err == nil {
					continue
				}
				if err == nil || want == "" {
					t.Errorf("%s: %v", declared, err)
					continue
				}
				fails(t, err, "x.db", "table "+name+": "+place+": column \"b\": "+want+" in a column declared \""+declared+"\"")
			}
		}
		if want != "" {
			err := rebuild(t, open(t, path, Options{}), filepath.Join(t.TempDir(), "x.db"))
			if err == nil || !strings.Contains(err.Error(), `: column "b": `+want+" in a column declared") {
				t.Error(err)
			}
		}
	}
	db := open(t, build(t, filepath.Join(t.TempDir(), "x.db"), "CREATE TABLE t(a ANY, b TEXT) STRICT", "INSERT INTO t VALUES('12','x')"), Options{RequireRestorable: true})
	if n := count(t, db, "t"); n != 1 {
		t.Errorf("%d rows", n)
	}
}

// Rows that take their time can be stopped, also between two of one statement.
func TestStoppedWhileComputing(t *testing.T) {
	slow := strings.Repeat("+length(hex(zeroblob(400000+a)))", 60)[1:]
	w, err := CreateWithCode(t.Context(), filepath.Join(t.TempDir(), "x.db"), oneTable("CREATE TABLE t(a)", index("("+slow+")")), []TableSet{{0, Table{Name: "t", Columns: []string{"a"}, RowIDs: true}}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	b := store.NewBatch(0, 1)
	for i := range manyRows {
		b.Row(int64(i))
		b.AddInt(int64(i))
	}
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if err := w.Put(ctx, b); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// Hints must lead somewhere: not to --live where that would be refused.
func TestHintsDoNotCircle(t *testing.T) {
	journal := state{db: side{size: 5000}, journal: side{there: true, size: 5000}, rollback: true}
	alone := state{db: side{size: 5000}, wal: side{there: true, size: 5000}}
	used := state{db: side{size: 5000}, wal: side{there: true, size: 5000}, shm: true}
	for _, c := range []struct {
		st   state
		live bool
	}{{journal, false}, {alone, false}, {used, true}} {
		for _, most := range []int64{100, 1 << 62} {
			c.st.db.size = 1 << 60
			err := room("x.db", t.TempDir(), c.st, most)
			fails(t, err, "x.db")
			if strings.Contains(formats.Hint(err), "--live") != c.live {
				t.Errorf("%+v: hint %q", c.st, formats.Hint(err))
			}
		}
	}
}

// What is remembered has a size, whatever the statements.
func TestKnownIsBounded(t *testing.T) {
	var k Known
	learn := func(sql string) { k.shapes.put([2]string{"t", sql}, len(sql)+1, &shape{}) }
	recall := func(sql string) *shape { return k.shapes.get([2]string{"t", sql}) }
	learn(strings.Repeat("x", longKnown))
	if recall(strings.Repeat("x", longKnown)) != nil {
		t.Error("a statement too long is remembered")
	}
	for i := range 500 {
		learn(fmt.Sprint(i, strings.Repeat("x", longKnown-10)))
	}
	if recall("0"+strings.Repeat("x", longKnown-10)) == nil {
		t.Error("nothing is remembered")
	}
	if k.shapes.bytes > allKnown {
		t.Errorf("%d bytes are remembered", k.shapes.bytes)
	}
}

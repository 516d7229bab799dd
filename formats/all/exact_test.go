package all_test

import (
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/formats/all"
)

// run executes SQL text in a new or existing database, by the driver that the
// codecs bring along.
func run(t testing.TB, file string, script ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(file))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range script {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%v in %.200s", err, s)
		}
	}
}

// dump is everything that plain SQL can see of a database, by a way of its own:
// nothing of it goes through the codecs.
func dump(t *testing.T, file string) string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(file)+"?mode=ro&immutable=1")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	var out strings.Builder
	query := func(q string) (rows [][]string) {
		got, err := db.Query(q)
		if err != nil {
			fmt.Fprintf(&out, "%s: %v\n", q, err)
			return nil
		}
		defer got.Close()
		cols, _ := got.Columns()
		for got.Next() {
			row, ptr := make([]sql.NullString, len(cols)), make([]any, len(cols))
			for i := range row {
				ptr[i] = &row[i]
			}
			if err := got.Scan(ptr...); err != nil {
				t.Fatal(err)
			}
			var text []string
			for _, c := range row {
				text = append(text, fmt.Sprintf("%v:%q", c.Valid, c.String))
			}
			rows = append(rows, text)
		}
		if err := got.Err(); err != nil {
			t.Fatal(err)
		}
		return rows
	}
	for _, p := range []string{"page_size", "encoding", "auto_vacuum", "journal_mode", "user_version", "application_id"} {
		fmt.Fprintln(&out, p, query("PRAGMA "+p))
	}
	for _, o := range query("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid") {
		fmt.Fprintln(&out, o)
	}
	for _, o := range query("SELECT '\"'||replace(name,'\"','\"\"')||'\"', wr FROM pragma_table_list WHERE schema='main' AND type IN ('table','shadow') AND name<>'sqlite_schema' ORDER BY name") {
		var table string
		_, _ = fmt.Sscanf(o[0], "true:%q", &table)
		fmt.Fprintln(&out, "==", table)
		list := []string{}
		if strings.Contains(o[1], `"0"`) {
			list = append(list, "oid")
		}
		for _, c := range query("SELECT '\"'||replace(name,'\"','\"\"')||'\"' FROM pragma_table_xinfo(" + quoted(table) + ")") {
			var col string
			_, _ = fmt.Sscanf(c[0], "true:%q", &col)
			list = append(list, "typeof("+col+")", "hex(CAST("+col+" AS BLOB))", "CASE typeof("+col+") WHEN 'real' THEN printf('%!.17g',"+col+") END")
		}
		for _, row := range query("SELECT " + strings.Join(list, ",") + " FROM " + table) {
			fmt.Fprintln(&out, row)
		}
	}
	return out.String()
}

func quoted(ident string) string {
	name := strings.ReplaceAll(ident[1:len(ident)-1], `""`, `"`)
	return "'" + strings.ReplaceAll(name, "'", "''") + "'"
}

// carried takes a database to text and back and to text again, and returns
// both databases as plain SQL sees them.
func carried(t *testing.T, file string, o convert.Options) (before, after string) {
	t.Helper()
	reg, dir := all.Registry(), t.TempDir()
	text, back, again := filepath.Join(dir, "text"), filepath.Join(dir, "back.db"), filepath.Join(dir, "again")
	before = dump(t, file)
	o.To = "archive"
	o.WithSecrets = true
	if _, err := convert.Convert(t.Context(), reg, file, text, o); err != nil {
		t.Fatal(err)
	}
	if _, err := convert.Convert(t.Context(), reg, text, back, convert.Options{To: o.From}); err != nil {
		t.Fatal(err)
	}
	if _, err := convert.Convert(t.Context(), reg, back, again, o); err != nil {
		t.Fatal(err)
	}
	first, second := files(t, text), files(t, again)
	if !maps.Equal(first, second) {
		for name := range first {
			if first[name] != second[name] {
				t.Errorf("%s: text, store, text changes it", name)
			}
		}
		t.Errorf("%d files became %d", len(first), len(second))
	}
	return before, dump(t, back)
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	root := os.DirFS(dir)
	err := walkFiles(root, func(name string) error {
		b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		out[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func diff(before, after string) string {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d:\n%.400s\n%.400s", i, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines became %d", len(a), len(b))
}

// TestOddities: whatever SQLite can hold comes back.
func TestOddities(t *testing.T) {
	script, err := os.ReadFile("../../testdata/sqlite/oddities.sql")
	if err != nil {
		t.Fatal(err)
	}
	for i, settings := range []string{
		"PRAGMA cell_size_check = 0", "PRAGMA page_size = 512", "PRAGMA page_size = 65536", "PRAGMA auto_vacuum = FULL", "PRAGMA auto_vacuum = INCREMENTAL",
		"PRAGMA journal_mode = WAL", "PRAGMA encoding = 'UTF-16le'", "PRAGMA encoding = 'UTF-16be'",
	} {
		for _, compress := range []string{"", "zstd"} {
			t.Run(fmt.Sprint(i, compress), func(t *testing.T) {
				text := string(script)
				if strings.Contains(settings, "UTF-16") {
					// a cast keeps bytes, which are UTF-16 in such a database
					text = strings.NewReplacer("x'610062'", "x'610000006200'", "x'eda080'", "x'00d8'", "x'fffe'", "x'00dc'").Replace(text)
				}
				file := filepath.Join(t.TempDir(), "odd.db")
				run(t, file, settings, text)
				before, after := carried(t, file, convert.Options{From: "sqlite", Compress: compress}) // a table of its is named like one of the IDE's
				if before != after {
					t.Error(diff(before, after))
				}
			})
		}
	}
}

// TestRandomSchemas: tables, indexes and rows at random.
func TestRandomSchemas(t *testing.T) {
	for seed := range uint64(few(60)) {
		r := rand.New(rand.NewPCG(seed, 9))
		file := filepath.Join(t.TempDir(), "random.db")
		var script []string
		if r.IntN(5) == 0 {
			script = append(script, "PRAGMA encoding = 'UTF-16le'")
		}
		for i := range 1 + r.IntN(4) {
			script = append(script, randomTable(r, i)...)
		}
		run(t, file, script...)
		before, after := carried(t, file, convert.Options{Jobs: 1 + r.IntN(4)})
		if before != after {
			t.Fatalf("seed %d: %s\n%s", seed, diff(before, after), strings.Join(script, ";\n"))
		}
	}
}

func randomTable(r *rand.Rand, n int) []string {
	types := []string{"", "TEXT", "INTEGER", "REAL", "BLOB", "NUMERIC", "DATETIME", "VARCHAR(20)", "ANYTHING"}
	name, width := fmt.Sprintf("\"t %d\"", n), 1+r.IntN(6)
	cols := make([]string, width)
	for i := range cols {
		cols[i] = fmt.Sprintf("c%d %s", i, types[r.IntN(len(types))])
	}
	tail := ""
	kind := r.IntN(4)
	switch kind {
	case 0:
		cols[0] = "c0 INTEGER PRIMARY KEY"
	case 1:
		cols[0], tail = "c0 TEXT PRIMARY KEY", " WITHOUT ROWID"
	}
	out := []string{"CREATE TABLE " + name + "(" + strings.Join(cols, ", ") + ")" + tail}
	if r.IntN(2) == 0 {
		out = append(out, fmt.Sprintf("CREATE INDEX i%d ON %s(c%d DESC)", n, name, r.IntN(width)))
	}
	for range r.IntN(60) {
		values := make([]string, width)
		for i := range values {
			values[i] = randomValue(r)
		}
		if kind == 0 {
			values[0] = fmt.Sprint(r.IntN(1000) - 500)
		}
		out = append(out, "INSERT OR IGNORE INTO "+name+" VALUES ("+strings.Join(values, ",")+")")
	}
	if r.IntN(3) == 0 && tail == "" {
		out = append(out, "DELETE FROM "+name+" WHERE rowid % 3 = 1")
	}
	return out
}

func randomValue(r *rand.Rand) string {
	switch r.IntN(8) {
	case 0:
		return "NULL"
	case 1:
		return fmt.Sprint(int64(r.Uint64()) >> r.IntN(64))
	case 2:
		return fmt.Sprintf("%v", r.NormFloat64()*1e10)
	case 3:
		b := make([]byte, r.IntN(12))
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		return fmt.Sprintf("x'%x'", b)
	case 4:
		return fmt.Sprintf("'{\"n\":%d,\"s\":\"%s\"}'", r.IntN(99), strings.Repeat("é", r.IntN(30)))
	case 5:
		return fmt.Sprintf("CAST(x'%04x%04x' AS TEXT)", r.IntN(65536), r.IntN(65536))
	case 6:
		return fmt.Sprintf("'%d'", r.IntN(2000)-1000)
	}
	return "'" + strings.Repeat("some text\n", r.IntN(200)) + "'"
}

// TestNotRestorable: a value that its column would change on the way back is
// named while the store still exists, and nothing is placed.
func TestNotRestorable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "odd.db")
	run(t, file, "CREATE TABLE t(a, b)", "INSERT INTO t VALUES(1, 'x'), (2, '123')",
		"PRAGMA writable_schema=ON", "UPDATE sqlite_schema SET sql='CREATE TABLE t(a, b INT)' WHERE name='t'")
	_, err := convert.Convert(t.Context(), all.Registry(), file, filepath.Join(dir, "text"), convert.Options{To: "archive"})
	if err == nil || !strings.Contains(err.Error(), "odd.db") || !strings.Contains(err.Error(), "b") {
		t.Errorf("%v", err)
	}
	if left := list(t, dir); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}

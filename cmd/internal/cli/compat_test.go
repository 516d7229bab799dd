package cli

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/golden"
)

// TestCompatRestores restores the text that earlier builds wrote, and compares
// the stores with what those builds made of it. Nothing here is ever rewritten:
// people have committed such text.
func TestCompatRestores(t *testing.T) {
	for _, kind := range []string{"archive", "ndjson"} {
		entries, err := os.ReadDir(golden.Path(t, "compat/"+kind))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !e.IsDir() {
				continue
			}
			t.Run(kind+"/"+e.Name(), func(t *testing.T) {
				restored := filepath.Join(t.TempDir(), "store")
				args := []string{"convert", golden.Path(t, "compat/"+kind+"/"+e.Name()), restored, "--quiet"}
				if kind == "ndjson" {
					args = append(args, "--to", "cursor-sdk")
				}
				if strings.HasPrefix(e.Name(), "sqlite") { // its schema runs SQL, which no client's may
					args = append(args, "--to", "sqlite")
				}
				if strings.HasSuffix(e.Name(), "-with-secrets") {
					args = append(args, "--with-secrets")
				}
				if _, stderr, code := call(t, args...); code != 0 {
					t.Fatalf("exit %d: %s", code, stderr)
				}
				name := golden.Path(t, "compat/restored/"+kind+"-"+e.Name()+".txt")
				want, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				if got := dumpStore(t, restored); !bytes.Equal(want, got) {
					t.Errorf("the restored store is not the one that was archived\n%s", golden.Diff(want, got))
				}
			})
		}
	}
}

// TestCompatText reads the sessions that earlier builds wrote, as canonical
// text and for Claude Code: none is lost, and check accepts them all.
func TestCompatText(t *testing.T) {
	for name, want := range compatLines {
		t.Run(name, func(t *testing.T) {
			src := golden.Path(t, "compat/"+name)
			if out, stderr, code := call(t, "check", src, "--fail-on", "error"); code != 0 {
				t.Errorf("exit %d: %s%s", code, out, stderr)
			}
			out := filepath.Join(t.TempDir(), "out.jsonl")
			if _, stderr, code := call(t, "convert", src, out, "--to", "canonical", "--history", "--quiet"); code != 0 {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			data, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			if got := bytes.Count(data, []byte("\n")); got < want {
				t.Errorf("%d lines of canonical text; the build that wrote it made %d", got, want)
			}
		})
	}
}

// compatLines is how many lines of canonical text the build that wrote a folder made of it.
var compatLines = map[string]int{"canonical": 36, "claude": 65, "canonical-5a7064e0": 62, "claude-5a7064e0": 62}

// TestCompatMigrated migrates the same sources again beside what an earlier
// build migrated: every session keeps its id and its file, which --update brings up to date.
func TestCompatMigrated(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "claude")
	if err := os.CopyFS(config, os.DirFS(golden.Path(t, "compat/claude"))); err != nil {
		t.Fatal(err)
	}
	furnish(t, dir)
	out, stderr, code := call(t, "migrate", filepath.Join(dir, "later", "store.db"), "--cwd", "/", "--claude-dir", config, "--history", "--update", "--dry-run", "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var report struct {
		Migrated []struct{ Session, Status string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Migrated) != 1 {
		t.Fatalf("%d sessions migrated", len(report.Migrated))
	}
	m := report.Migrated[0]
	if _, err := os.Stat(filepath.Join(config, "projects", "-", m.Session+".jsonl")); err != nil {
		t.Errorf("status %s: a second session beside the one that is there: %v", m.Status, err)
	}
}

// TestCompatBaseline: a baseline that an earlier build wrote still knows its
// findings.
func TestCompatBaseline(t *testing.T) {
	t.Chdir(golden.Path(t, "compat/check"))
	if out, stderr, code := call(t, "check", "broken", "--baseline", "baseline.json"); code != 0 {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}

// dumpStore is a store's content as text: of each database its settings,
// schema and rows, of each other file its size and digest.
func dumpStore(t *testing.T, root string) []byte {
	t.Helper()
	var out bytes.Buffer
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.HasPrefix(data, []byte("SQLite format 3\x00")) {
			fmt.Fprintf(&out, "== %s\n", filepath.ToSlash(rel))
			dumpDatabase(t, &out, path)
			return nil
		}
		fmt.Fprintf(&out, "== %s: %d bytes %.8x\n", filepath.ToSlash(rel), len(data), sha256.Sum256(data))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func dumpDatabase(t *testing.T, out *bytes.Buffer, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?mode=ro&immutable=1")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, p := range []string{"page_size", "encoding", "auto_vacuum", "user_version", "application_id"} {
		var v string
		if err := db.QueryRow("PRAGMA " + p).Scan(&v); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(out, "%s %s\n", p, v)
	}
	var tables []string
	for _, row := range query(t, db, "SELECT type, name, coalesce(sql,'') FROM sqlite_schema ORDER BY rowid") {
		fmt.Fprintf(out, "%q\n", row)
		if row[0] == "table" && !strings.HasPrefix(strings.ToUpper(row[2]), "CREATE VIRTUAL") {
			tables = append(tables, row[1])
		}
	}
	for _, table := range tables {
		quoted := `"` + strings.ReplaceAll(table, `"`, `""`) + `"`
		var columns []string
		id := "rowid"
		for _, c := range query(t, db, "SELECT name FROM pragma_table_xinfo(?)", table) {
			name := `"` + strings.ReplaceAll(c[0], `"`, `""`) + `"`
			columns = append(columns, "typeof("+name+")||CASE WHEN typeof("+name+") IN ('text','blob') THEN hex("+name+") ELSE quote("+name+") END")
			if strings.EqualFold(c[0], "rowid") {
				id = "0"
			}
		}
		rows, err := db.Query("SELECT " + id + " FROM " + quoted + " LIMIT 0")
		if err != nil {
			id = "0"
		} else {
			rows.Close()
		}
		for _, row := range query(t, db, "SELECT "+id+","+strings.Join(columns, ",")+" FROM "+quoted) {
			fmt.Fprintf(out, "%s %.12x\n", table, sha256.Sum256(fmt.Appendf(nil, "%q", row)))
		}
	}
}

func query(t *testing.T, db *sql.DB, text string, args ...any) (out [][]string) {
	t.Helper()
	rows, err := db.Query(text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	for rows.Next() {
		row := make([]string, len(columns))
		at := make([]any, len(columns))
		for i := range row {
			at[i] = &row[i]
		}
		if err := rows.Scan(at...); err != nil {
			t.Fatal(err)
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

package leaves

import (
	"bytes"
	"database/sql"
	"encoding/hex"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// row is one row of a table: cells by column, each a string, []byte, int64 or float64.
type row struct {
	table string
	id    int64 // its row id; 0 if the table has none
	cells map[string]any
}

// text returns a cell as text.
func (r row) text(column string) string {
	switch v := r.cells[column].(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return ""
}

// database reads all rows of a database, in the order of their tables. It reads a copy, so
// that nothing beside the source changes. The driver "sqlite" has to be registered.
func database(t testing.TB, path string) (out []row) {
	t.Helper()
	at := filepath.Join(t.TempDir(), "copy.db")
	for _, end := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + end)
		if end != "" && os.IsNotExist(err) {
			continue
		}
		if err == nil {
			err = os.WriteFile(at+end, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	db := opened(t, at)
	defer db.Close()
	for _, name := range tables(t, db) {
		rows, err := tableRows(db, name)
		if err != nil {
			t.Fatalf("%s: %s: %v", path, name, err)
		}
		out = append(out, rows...)
	}
	return out
}

// opened opens a database. The folder of a test can have a name that a URI has to escape.
func opened(t testing.TB, path string) *sql.DB {
	t.Helper()
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func tables(t testing.TB, db *sql.DB) (names []string) {
	t.Helper()
	list, err := db.Query(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`)
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	for list.Next() {
		var name string
		if err := list.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}

func tableRows(db *sql.DB, table string) (out []row, err error) {
	quoted := `"` + strings.ReplaceAll(table, `"`, `""`) + `"`
	list, err := db.Query("SELECT rowid, * FROM " + quoted)
	withID := err == nil
	if !withID { // WITHOUT ROWID
		if list, err = db.Query("SELECT * FROM " + quoted); err != nil {
			return nil, err
		}
	}
	defer list.Close()
	names, err := list.Columns()
	if err != nil {
		return nil, err
	}
	for list.Next() {
		values := make([]any, len(names))
		into := make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := list.Scan(into...); err != nil {
			return nil, err
		}
		r := row{table: table, cells: map[string]any{}}
		for i, v := range values {
			switch {
			case v == nil:
			case withID && i == 0:
				r.id, _ = v.(int64)
			default:
				if b, ok := v.([]byte); ok {
					v = bytes.Clone(b)
				}
				r.cells[names[i]] = v
			}
		}
		out = append(out, r)
	}
	return out, list.Err()
}

// nameOf is what the documents of the SDK's interface call a column: most have its name in the
// spelling of JavaScript.
func (r row) nameOf(column string) string {
	switch column {
	case "latest_checkpoint_ref_json":
		if r.table == "agents" {
			return "latestCheckpoint"
		}
	case "metadata_json":
		return "sdkMetadata"
	case "model_params_json":
		return "model.params"
	case "workspace_ref":
		return "cwd"
	case "error_code":
		return "error"
	}
	words := strings.Split(strings.TrimSuffix(column, "_json"), "_")
	for i, w := range words {
		if i > 0 && w != "" {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}

// leaves returns the leaves of all cells: those of the JSON document that a cell holds, also in
// hex, or its value.
func (r row) leaves() (out []Leaf) {
	for _, column := range slices.Sorted(maps.Keys(r.cells)) {
		value, data, name := r.text(column), []byte(r.text(column)), r.nameOf(column)
		if b, err := hex.DecodeString(value); err == nil {
			data = b
		}
		doc, err := Parse(data)
		switch {
		case err == nil && (doc.Kind == '{' || doc.Kind == '['):
			out = doc.Leaves(out, name)
		case value != "":
			out = append(out, Leaf{Path: name, Value: value, Bytes: !utf8.ValidString(value)})
		}
	}
	return out
}

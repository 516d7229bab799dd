package all_test

import (
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/formats"
	"rehome/formats/formatstest/graphgen"
	"rehome/formats/internal/digest"
	"rehome/formats/store"
)

// sdkForger knows the text of one agent, and the rows of the store that it is made of.
type sdkForger struct {
	text  string
	part  string              // the agent's folder
	db    string              // its database, as its sidecar names it
	files map[string][]string // lines, by name below the part
	rows  map[string][][]any  // by table
	ids   []string            // of blobs
	agent string

	objects map[string][][3]string // by database: names and statements of its tables
}

func newSDKForger(t *testing.T, src string, flat bool) *sdkForger {
	t.Helper()
	f := &sdkForger{objects: map[string][][3]string{}, text: filepath.Join(t.TempDir(), "text"), files: map[string][]string{}, rows: map[string][][]any{}}
	become(t, src, f.text, convert.Options{To: "cursor-ndjson", Flat: flat})
	if !flat {
		heads, err := filepath.Glob(filepath.Join(f.text, "*", "agents.ndjson"))
		if err != nil || len(heads) == 0 {
			t.Fatal(heads, err)
		}
		f.part = filepath.Base(filepath.Dir(heads[0]))
	}
	for _, name := range append([]string{sidecarName}, forgedFiles...) {
		at := filepath.Join(f.text, f.part, name)
		if flat && name == sidecarName {
			at = f.text + formats.SidecarSuffix
		}
		b, err := os.ReadFile(at)
		if err != nil {
			t.Fatal(err)
		}
		f.files[name] = slices.Collect(strings.Lines(string(b)))
	}
	out := filepath.Join(t.TempDir(), "store")
	become(t, f.text, out, convert.Options{To: "cursor-sdk"})
	err := filepath.WalkDir(out, func(path string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".db" {
			return err
		}
		tables := []string{"agents", "runs", "run_events"}
		if e.Name() == "store.db" {
			tables = []string{"blobs", "meta"}
			folder := filepath.Dir(path)
			f.db = "agents/" + filepath.Base(folder) + "/store.db"
		}
		db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?mode=ro&immutable=1")
		if err != nil {
			return err
		}
		defer db.Close()
		for _, table := range tables {
			f.read(t, db, table)
		}
		base := "index.db"
		if e.Name() == "store.db" {
			base = f.db
		}
		f.readObjects(t, db, base)
		return nil
	})
	if err != nil || len(f.rows["blobs"]) == 0 || len(f.rows["meta"]) == 0 {
		t.Fatal(err, len(f.rows["blobs"]), len(f.rows["meta"]))
	}
	f.agent = fmt.Sprint(f.rows["agents"][0][0])
	return f
}

func (f *sdkForger) read(t *testing.T, db *sql.DB, table string) {
	t.Helper()
	rows, err := db.Query("SELECT * FROM " + table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	for rows.Next() {
		row, at := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			at[i] = &row[i]
		}
		if err := rows.Scan(at...); err != nil {
			t.Fatal(err)
		}
		f.rows[table] = append(f.rows[table], row)
		if table == "blobs" {
			f.ids = append(f.ids, fmt.Sprint(row[0]))
		}
	}
}

func (f *sdkForger) readObjects(t *testing.T, db *sql.DB, base string) {
	t.Helper()
	rows, err := db.Query("SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'table'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var o [3]string
		if err := rows.Scan(&o[0], &o[1], &o[2]); err != nil {
			t.Fatal(err)
		}
		f.objects[base] = append(f.objects[base], o)
	}
}

// forge writes a copy of the text with one forgery, and says which.
func (f *sdkForger) forge(t *testing.T, r *rand.Rand, dir string) (what string) {
	t.Helper()
	files := map[string][]string{}
	for name, lines := range f.files {
		files[name] = slices.Clone(lines)
	}
	put := func(items ...members) {
		for _, item := range items {
			if at := fmt.Sprint(item[0][1]); strings.Contains(at, "{set meta}") || strings.Contains(at, "[set meta]") {
				files[sidecarName] = slices.DeleteFunc(files[sidecarName], func(l string) bool { return strings.Contains(l, `"set":"meta"`) })
			}
			b, err := item.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			files[sidecarName] = append(files[sidecarName], string(b)+"\n")
		}
	}
	kind := sdkForgeries[r.IntN(len(sdkForgeries))]
	switch kind {
	case "cell":
		put(f.cell(r))
	case "place":
		name, row, sum := f.line(r)
		put(members{{"at", members{{"file", name}, {"set", "place"}, {"line", row + 1}}},
			{"row", []any{members{{"int", fmt.Sprint(r.Int64N(1 << 41))}}, members{{"int", "0"}}}}, {"digest", sum}})
	case "row":
		put(f.row(r, forgedTables[r.IntN(len(forgedTables))]))
	case "meta":
		put(f.meta(r, f.ids[r.IntN(len(f.ids))]))
	case "hidden turn":
		put(f.turn(r)...)
	case "hidden state":
		put(f.state(r)...)
	case "schema":
		put(f.schema(r))
	case "transcript":
		put(f.transcript(r))
	case "item":
		lines := files[sidecarName]
		i := 1 + r.IntN(len(lines)-1)
		item, _, _ := strings.Cut(lines[i], `,"sum":`)
		lines[i] = twist(r, strings.TrimSuffix(strings.TrimSuffix(item, "\n"), "}"), f.ids) + "}\n"
	case "no items":
		files[sidecarName] = files[sidecarName][:1+r.IntN(len(files[sidecarName]))]
	case "text":
		name, row, _ := f.line(r)
		files[name][row] = twist(r, files[name][row], f.ids)
	case "order":
		name, row, _ := f.line(r)
		other := r.IntN(len(files[name]))
		files[name][row], files[name][other] = files[name][other], files[name][row]
	}
	if err := os.CopyFS(dir, os.DirFS(f.text)); err != nil {
		t.Fatal(err)
	}
	for name, lines := range files {
		at := filepath.Join(dir, f.part, name)
		if f.part == "" && name == sidecarName {
			at = dir + formats.SidecarSuffix
		}
		if err := os.WriteFile(at, []byte(strings.Join(lines, "")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return kind
}

const sidecarName = formats.PartSidecar

var (
	sdkForgeries = []string{"cell", "place", "row", "meta", "hidden turn", "hidden state", "schema", "transcript", "item", "no items", "text", "order"}
	forgedFiles  = []string{"agents.ndjson", "runs.ndjson", "run_events.ndjson", "checkpoints.ndjson"}
	forgedTables = []string{"agents", "runs", "run_events", "blobs", "meta"} // the first are those of forgedFiles
)

// base returns the database of a table.
func (f *sdkForger) base(table string) string {
	if table == "blobs" || table == "meta" {
		return f.db
	}
	return "index.db"
}

// line returns a line of the text, from 0, and its digest.
func (f *sdkForger) line(r *rand.Rand) (name string, row int, sum string) {
	name = forgedFiles[r.IntN(len(forgedFiles))]
	row = r.IntN(len(f.files[name]))
	line := strings.TrimSuffix(f.files[name][row], "\n")
	return name, row, digest.Cell(store.TextCell([]byte(line))).String()
}

// cell tells another cell of a line's row.
func (f *sdkForger) cell(r *rand.Rand) members {
	name, row, sum := f.line(r)
	table := forgedTables[slices.Index(forgedFiles, name)]
	column := r.IntN(len(f.rows[table][0]))
	return members{{"at", members{{"file", f.base(table)}, {"set", table}, {"rowid", row + 1}, {"line", row + 1}}}, {"column", column, column == 0},
		{"row", []any{cellOf(f.other(r, table, row, column))}}, {"digest", sum}}
}

// row tells a row that no line has, after the likeness of one.
func (f *sdkForger) row(r *rand.Rand, table string) members {
	row := r.IntN(len(f.rows[table]))
	var cells []any
	for column, v := range f.rows[table][row] {
		if r.IntN(2) == 0 {
			v = f.other(r, table, row, column)
		}
		cells = append(cells, v)
	}
	return f.told(r, table, cells...)
}

// told tells a row of a table.
func (f *sdkForger) told(r *rand.Rand, table string, cells ...any) members {
	for i := range cells {
		cells[i] = cellOf(cells[i])
	}
	return members{{"at", members{{"file", f.base(table)}, {"set", table}, {"rowid", 1000 + r.IntN(1<<20)}}}, {"row", cells}}
}

// meta tells the agent's row of meta, with another state.
func (f *sdkForger) meta(r *rand.Rand, root string) members {
	value, err := hex.DecodeString(fmt.Sprint(f.rows["meta"][0][1]))
	if err != nil {
		panic(err)
	}
	text := rootPattern.ReplaceAllString(string(value), `"latestRootBlobId":"`+root+`"`)
	if r.IntN(2) == 0 {
		text = strings.Replace(text, `"name":"`, `"name":"Forged `, 1)
	}
	return f.told(r, "meta", "0", hex.EncodeToString([]byte(text)))
}

var rootPattern = regexp.MustCompile(`"latestRootBlobId":"[^"]*"`)

// turn tells a run with its events, which no line has.
func (f *sdkForger) turn(r *rand.Rand) (out []members) {
	id := fmt.Sprint(f.rows["runs"][0][0])
	other := "run-" + fmt.Sprint(r.Int64N(1<<40))
	for _, table := range []string{"runs", "run_events"} {
		for _, row := range f.rows[table] {
			cells := slices.Clone(row)
			for i, v := range cells {
				switch v := v.(type) {
				case string:
					cells[i] = strings.ReplaceAll(v, id, other)
				case int64:
					cells[i] = v + 1
				}
			}
			out = append(out, f.told(r, table, cells...))
		}
	}
	return out
}

// state tells the blobs of another conversation, and that it is the agent's.
func (f *sdkForger) state(r *rand.Rand) (out []members) {
	p := graphgen.New(100+uint64(r.IntN(5)), graphgen.Whole)
	g := p.Graph()
	for _, b := range g.Blobs {
		out = append(out, f.told(r, "blobs", b.ID, b.Data))
	}
	return append(out, f.meta(r, g.Root))
}

// schema tells another schema of a database: names that are swapped, or another column.
func (f *sdkForger) schema(r *rand.Rand) members {
	base := f.base(forgedTables[r.IntN(len(forgedTables))])
	var objects []any
	for _, o := range f.objects[base] {
		sql := o[2]
		switch r.IntN(4) {
		case 0:
			sql = swapWords(sql, "data", "id")
		case 1:
			sql = swapWords(sql, "event_type", "payload_json")
		case 2:
			sql = swapWords(sql, "status", "result_text")
		default:
			sql = strings.Replace(sql, "(", "(forged TEXT DEFAULT 'user', ", 1)
		}
		objects = append(objects, members{{"type", "table"}, {"name", o[0]}, {"table", o[1]}, {"sql", sql}})
	}
	pragmas := members{{"page_size", 4096}, {"encoding", "UTF-8"}, {"auto_vacuum", 0}, {"journal_mode", "wal"}, {"user_version", 0}, {"application_id", 0}}
	text, err := json.Marshal(members{{"pragmas", pragmas}, {"objects", objects}})
	if err != nil {
		panic(err)
	}
	at := members{{"file", base}, {"set", "sqlite_schema"}}
	if base != "index.db" {
		at = append(at, []any{"key", cellOf(f.agent)})
	}
	return members{{"at", at}, {"row", []any{cellOf(string(text))}}}
}

// transcript tells a file beside the databases: a transcript of the agent, or of another.
func (f *sdkForger) transcript(r *rand.Rand) members {
	id := f.agent
	if r.IntN(2) == 0 {
		id = "forged"
	}
	line := `{"role":"user","message":{"content":[{"type":"text","text":"forged"}]}}` + "\n"
	return members{{"at", members{{"file", "agent-transcripts/" + id + "/" + id + ".jsonl"}, {"set", ""}}}, {"row", []any{cellOf([]byte(line))}}}
}

// other returns another value for a cell: that of another row, or one that is edited.
func (f *sdkForger) other(r *rand.Rand, table string, row, column int) any {
	rows := f.rows[table]
	v := rows[row%len(rows)][column]
	if r.IntN(3) == 0 {
		v = rows[r.IntN(len(rows))][column]
	}
	switch v := v.(type) {
	case string:
		if table == "meta" && column == 1 {
			return strings.Replace(v, fmt.Sprintf("%x", `"latestRootBlobId":"`), fmt.Sprintf("%x", `"latestRootBlobId":"`+f.ids[r.IntN(len(f.ids))]), 1)
		}
		return twist(r, v, f.ids)
	case []byte:
		return []byte(twist(r, string(v), f.ids))
	case int64:
		return v + 1 + r.Int64N(3)
	}
	return "forged"
}

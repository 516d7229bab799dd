package archive

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/formatstest"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// person is a store like the IDE's, with sessions that share blobs and are listed in one
// value.
type person struct {
	rows  []row // of cursorDiskKV
	heads []string
}

func (p *person) add(key, value string) {
	p.rows = append(p.rows, row{int64(len(p.rows) + 1), []store.Cell{store.TextCell([]byte(key)), store.BlobCell([]byte(value))}})
}

// session adds a session of n messages, created at some time.
func (p *person) session(id string, created, n int) {
	for i := range n {
		p.add(fmt.Sprintf("bubbleId:%s:%d", id, i), fmt.Sprintf(`{"text":"message %d of %s"}`, i, id))
		p.add(fmt.Sprintf("agentKv:blob:%s%d", id, i), id)
	}
	p.heads = append([]string{fmt.Sprintf(`{"id":%q,"createdAt":%d}`, id, created)}, p.heads...)
}

func (p *person) sample() *sample {
	s := &sample{schema: &store.Schema{Origin: "cursor-test", Databases: []store.Database{{Pragmas: store.Pragmas{PageSize: 4096, Encoding: "UTF-8", JournalMode: "wal"}}}}}
	for _, name := range []string{"ItemTable", "cursorDiskKV"} {
		s.schema.Databases[0].Objects = append(s.schema.Databases[0].Objects, store.Object{Type: "table", Name: name, Table: name, SQL: "CREATE TABLE " + name + " (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"})
		s.schema.Sets = append(s.schema.Sets, store.Set{Name: name, Columns: []string{"key", "value"}, RowIDs: true})
	}
	s.records = [][]row{{
		{1, []store.Cell{store.TextCell([]byte("heads")), store.TextCell([]byte(`{"all":[` + strings.Join(p.heads, ",") + `],"version":1}`))}},
		{2, []store.Cell{store.TextCell([]byte("other")), store.TextCell([]byte("x"))}},
	}, p.rows}
	return s
}

func buildOf(schema *store.Schema, to string, jobs int) formats.Build {
	return formats.Build{Path: to, Schema: schema, Jobs: jobs, Lists: []formats.List{{Set: "ItemTable", Key: "heads", Member: "all", ID: "id"}},
		Shard: func(set *store.Set, r store.Record) formats.Shard {
			kind, id, _ := strings.Cut(string(r.Cell(0).Bytes()), ":")
			if kind == "agentKv" {
				return formats.Shard{Name: "blobs", Common: true}
			}
			id, _, _ = strings.Cut(id, ":")
			return formats.Shard{Name: id}
		}}
}

// archive writes the store to a folder, over what is there.
func (p *person) archive(t *testing.T, dir string, jobs, rows int) {
	t.Helper()
	s, to := p.sample(), filepath.Join(t.TempDir(), "out")
	s.build(t, buildOf(s.schema, to, jobs), rows)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name := range tree(t, dir) {
		if !strings.HasPrefix(name, ".git/") {
			_ = os.Remove(filepath.Join(dir, name))
		}
	}
	if err := os.CopyFS(dir, os.DirFS(to)); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", args, err, out)
	}
}

// cells reads an archive as lines of text, by table, without the row ids, which it checks.
func cells(t *testing.T, dir string, losses *loss.Log) (out [2][]string) {
	t.Helper()
	l, err := formats.Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	v := formats.View{Jobs: 1}
	if losses != nil {
		v.OnLoss = losses.Add
	}
	r, err := open(t.Context(), l, v)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ids := map[string]bool{}
	for rec, err := range store.Records(t.Context(), r) {
		if err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprint(rec.Set(), rec.RowID())
		if ids[id] {
			t.Errorf("two rows have the row id %d", rec.RowID())
		}
		ids[id] = true
		out[rec.Set()] = append(out[rec.Set()], fmt.Sprintf("%s=%s", rec.Cell(0).Bytes(), rec.Cell(1).Bytes()))
	}
	for i := range out {
		slices.Sort(out[i])
	}
	return out
}

// merged makes two people's archives of one store, merged by git without a conflict.
func mergedByGit(t *testing.T) (dir string, want [2][]string) {
	t.Helper()
	dir = t.TempDir()
	one, two, both := new(person), new(person), new(person)
	for _, p := range []*person{one, two, both} {
		p.session("base", 10, 3)
	}
	git(t, dir, "init", "-q", "-b", "main")
	one.archive(t, dir, 1, 50)
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "base")
	git(t, dir, "switch", "-qc", "two")
	two.session("bea", 30, 4)
	two.add("agentKv:blob:shared", "both wrote this")
	two.archive(t, dir, 1, 50)
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "two")
	git(t, dir, "switch", "-q", "main")
	one.session("ann", 20, 2)
	one.add("agentKv:blob:shared", "both wrote this")
	one.archive(t, dir, 1, 50)
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "one")
	git(t, dir, "merge", "-q", "-m", "both", "two")
	both.session("ann", 20, 2)
	both.session("bea", 30, 4)
	both.add("agentKv:blob:shared", "both wrote this")
	to := filepath.Join(t.TempDir(), "both")
	both.archive(t, to, 1, 50)
	return dir, cells(t, to, nil)
}

// TestMergeByGit: two people add sessions to one store, and git merges their archives
// without a conflict and without configuration. The archive has the rows of both.
func TestMergeByGit(t *testing.T) {
	dir, want := mergedByGit(t)
	var losses loss.Log
	if got := cells(t, dir, &losses); !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	found := map[loss.Code]int64{}
	for _, g := range losses.Groups() {
		found[g.Code] += g.Count
	}
	if found[loss.RowRenumbered] == 0 || found[loss.RowTwice] != 1 || len(found) != 2 {
		t.Errorf("losses %v", found)
	}
	if got := asked(t, dir, everything); got != nil {
		t.Errorf("findings %q", got)
	}
}

// TestMergedAgain: an archive that was merged is written again with the new row ids, and
// has no losses then.
func TestMergedAgain(t *testing.T) {
	dir, want := mergedByGit(t)
	l, _ := formats.Locate(dir)
	r, err := open(t.Context(), l, formats.View{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	to := filepath.Join(t.TempDir(), "again")
	w, err := create(t.Context(), buildOf(r.Schema(), to, 0))
	if err != nil {
		t.Fatal(err)
	}
	formatstest.Fill(t, w, r)
	var losses loss.Log
	if got := cells(t, to, &losses); !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if g := losses.Groups(); len(g) > 0 {
		t.Errorf("losses %v", g)
	}
}

// TestMergedSameBytes: neither workers nor batches show in common files and entries.
func TestMergedSameBytes(t *testing.T) {
	p := new(person)
	for i := range 300 {
		p.session(fmt.Sprint("session-", i), i*7%300, 3)
	}
	one, many := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "many")
	p.archive(t, one, 1, 5000)
	p.archive(t, many, 8, 7)
	a := tree(t, one)
	if !maps.Equal(a, tree(t, many)) {
		t.Error("one worker and eight write different bytes")
	}
	entries := 0
	for name := range a {
		if strings.HasSuffix(name, entrySuffix) {
			entries++
		}
	}
	if entries != 300 {
		t.Errorf("%d entries have files", entries)
	}
	if got, want := cells(t, one, nil), p.sample().records[0][0].cells[1].Bytes(); got[0][0] != "heads="+string(want) {
		t.Errorf("the list changed: %.200s", got[0][0])
	}
}

// TestNumberedTwice: rows of two files with one number in their key are refused, with
// both places.
func TestNumberedTwice(t *testing.T) {
	s := &sample{schema: &store.Schema{Origin: "sqlite", Databases: []store.Database{{Pragmas: store.Pragmas{PageSize: 4096, Encoding: "UTF-8", JournalMode: "wal"},
		Objects: []store.Object{{Type: "table", Name: "t", Table: "t", SQL: "CREATE TABLE t (n INTEGER PRIMARY KEY, who TEXT)"}}}},
		Sets: []store.Set{{Name: "t", Columns: []string{"n", "who"}}}}}
	for i, who := range []string{"ann", "bea", "ann"} {
		s.records = [][]row{append(slices.Concat(s.records...), row{0, []store.Cell{store.IntCell(int64(i)), store.TextCell([]byte(who))}})}
	}
	dir := filepath.Join(t.TempDir(), "out")
	s.build(t, formats.Build{Path: dir, Schema: s.schema, Shard: func(_ *store.Set, r store.Record) formats.Shard {
		return formats.Shard{Name: string(r.Cell(1).Bytes())}
	}}, 50)
	if _, _, err := read(t.Context(), dir, 1); err != nil {
		t.Fatal(err)
	}
	a := &tampering{t: t, dir: dir}
	a.sign(a.find("/bea.ndjson"), `[1,"bea"]`, `[2,"bea"]`)
	_, _, err := read(t.Context(), dir, 1)
	if err == nil || !strings.Contains(err.Error(), "/ann.ndjson:2") && !strings.Contains(err.Error(), "/bea.ndjson:2") || !strings.Contains(err.Error(), "same key as t/") {
		t.Errorf("%v", err)
	}
}

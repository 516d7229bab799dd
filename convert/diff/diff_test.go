package diff_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/convert/diff"
	"rehome/formats/all"
	"rehome/testdata/ide"
)

// talk is a conversation: a prompt and an answer for each turn.
type talk []string

func (c talk) write(t *testing.T, path, id string) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, `{"type":"session","version":1,"id":%q,"agent":"cursor-cli"}`+"\n", id)
	for i, text := range c {
		fmt.Fprintf(&b, `{"type":"message","id":"u%d","role":"user","turn":{"number":%d},"parts":[{"type":"text","text":%q}]}`+"\n", i, i+1, text)
		fmt.Fprintf(&b, `{"type":"message","id":"a%d","role":"assistant","parts":[{"type":"text","text":%q}]}`+"\n", i, "re: "+text)
	}
	put(t, path, b.String())
}

// put writes a file, in a new folder if need be.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
		t.Fatal(err)
	}
}

func side(path string) diff.Side { return diff.Side{Paths: []string{path}} }

// compare returns the comparison of two paths, and the sessions that differ.
func compare(t *testing.T, a, b diff.Side) (*diff.Comparison, []*diff.Session) {
	t.Helper()
	c, err := diff.Compare(t.Context(), all.Registry(), a, b, diff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var list []*diff.Session
	if err := c.Each(func(s *diff.Session) error { list = append(list, s); return nil }); err != nil {
		t.Fatal(err)
	}
	return c, list
}

// TestRandom: applied to the old texts, the changes give the new ones, and the other way.
func TestRandom(t *testing.T) {
	rng, dir := rand.New(rand.NewPCG(1, 2)), t.TempDir()
	a, b := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")
	for range 60 {
		var old, fresh talk
		for range rng.IntN(12) + 1 {
			text := string(rune('a' + rng.IntN(20)))
			if old = append(old, text); rng.IntN(4) > 0 {
				fresh = append(fresh, text)
			}
			if rng.IntN(4) == 0 {
				fresh = append(fresh, text+"+")
			}
		}
		old.write(t, a, "s")
		fresh.write(t, b, "s")
		c, list := compare(t, side(a), side(b))
		if want := strings.Join(old, ",") != strings.Join(fresh, ","); c.Differs() != want || len(list) != c.Changed {
			t.Fatalf("%q to %q: differs is %v", old, fresh, c.Differs())
		}
		count := map[string]int{}
		for _, s := range list {
			for _, ch := range s.Changes {
				if ch.Before != nil {
					count[ch.Before.Text]--
				}
				if ch.After != nil {
					count[ch.After.Text]++
				}
			}
			if s.Turns.Added-s.Turns.Removed != len(fresh)-len(old) {
				t.Errorf("%q to %q: %+v", old, fresh, s.Turns)
			}
		}
		for _, text := range old {
			count[text]++
			count["re: "+text]++
		}
		for _, text := range fresh {
			count[text]--
			count["re: "+text]--
		}
		for text, n := range count {
			if n != 0 {
				t.Errorf("%q to %q: %q is off by %d", old, fresh, text, n)
			}
		}
	}
}

// TestMatch: sessions are matched by path and id, by id, by the id that a migration
// gives, and if they are alone.
func TestMatch(t *testing.T) {
	dir := t.TempDir()
	at := func(names ...string) string { return filepath.Join(dir, filepath.Join(names...)) }
	talk{"one"}.write(t, at("a", "x.jsonl"), "1")
	talk{"two"}.write(t, at("a", "y.jsonl"), "1") // another copy
	talk{"gone"}.write(t, at("a", "z.jsonl"), "2")
	talk{"one"}.write(t, at("b", "x.jsonl"), "1")
	talk{"two!"}.write(t, at("b", "y.jsonl"), "1")
	talk{"came"}.write(t, at("b", "deep", "z.jsonl"), "3")
	c, list := compare(t, side(at("a")), side(at("b")))
	if c.Same != 1 || c.Changed != 1 || c.Added != 1 || c.Removed != 1 {
		t.Fatalf("%+v", c)
	}
	if ch := list[0].Changes; len(ch) != 2 || ch[0].Before.Text != "two" || ch[0].After.Text != "two!" || list[1].ID != "2" || list[2].ID != "3" {
		t.Errorf("%+v", list)
	}
	if c, _ := compare(t, diff.Side{Paths: []string{at("a")}, Session: "2"}, side(at("b", "deep"))); c.Changed != 1 {
		t.Errorf("alone: %+v", c)
	}
	talk{"other"}.write(t, at("both", "other.jsonl"), "other")
	talk{"hello"}.write(t, at("both", "s.jsonl"), "5d0b2b7e-1111-4000-8000-00000000000a")
	if _, err := convert.Convert(t.Context(), all.Registry(), at("both", "s.jsonl"), at("moved", "claude"), convert.Options{To: "claude-code", Cwd: "/work"}); err != nil {
		t.Fatal(err)
	}
	talk{"more"}.write(t, at("moved", "more.jsonl"), "more")
	c, list = compare(t, side(at("both")), side(at("moved")))
	if c.Added != 1 || c.Removed != 1 || len(c.Failed) > 0 {
		t.Errorf("migrated: %+v", c)
	}
	for _, s := range list {
		if s.Cross && len(s.Changes) > 0 {
			t.Errorf("a migrated session differs: %+v", s.Changes[0])
		}
	}
}

// TestLarge: texts and sessions beyond the limits are compared, but not held.
func TestLarge(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")
	var old, fresh talk
	for i := range 2000 {
		old, fresh = append(old, fmt.Sprint("old ", i)), append(fresh, fmt.Sprint("new ", i))
	}
	old[0], fresh[0] = strings.Repeat("é", 1<<19), strings.Repeat("é", 1<<19)+"!"
	old.write(t, a, "s")
	fresh.write(t, b, "s")
	_, list := compare(t, side(a), side(b))
	if len(list) != 1 || len(list[0].Changes) != 4000 || !list[0].Changes[0].Before.Cut || len(list[0].Changes[0].After.Text) > 1<<18 || list[0].Turns.Changed != 2000 {
		t.Fatalf("%d sessions, %d changes", len(list), len(list[0].Changes))
	}
}

// TestLong: texts beyond the limits are compared as a whole, and the first line that
// differs is found.
func TestLong(t *testing.T) {
	dir := t.TempDir()
	lines := func(n int, last string) string { return strings.Repeat("a line\n", n) + last }
	for _, c := range []struct{ a, b, want string }{
		{lines(50000, "x"), lines(50000, "y"), "text 50001 50001 50001"},
		{lines(50000, "x"), lines(49999, "x"), "text 50001 50000 50000"},
		{lines(50000, ""), lines(60000, ""), "text 50000 60000 50001"},
		{"short\nand\n", lines(50000, ""), "text 2 50000 1"},
		{lines(600000, "x"), lines(600000, "y"), "text 600001 600001 0"},
	} {
		a, b := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")
		talk{c.a}.write(t, a, "s")
		talk{c.b}.write(t, b, "s")
		_, list := compare(t, side(a), side(b))
		if len(list) != 1 || len(list[0].Changes) != 2 || len(list[0].Changes[0].Longs) != 1 {
			t.Fatalf("%s: %d sessions", c.want, len(list))
		}
		l := list[0].Changes[0].Longs[0]
		if got := fmt.Sprintf("%s %d %d %d", l.Name, l.Before.Lines, l.After.Lines, l.Line); got != c.want {
			t.Errorf("%s: %s", c.want, got)
		}
	}
}

// TestUnread: what cannot be read is reported, and the rest is compared.
func TestUnread(t *testing.T) {
	dir := t.TempDir()
	talk{"one"}.write(t, filepath.Join(dir, "a", "x.jsonl"), "1")
	talk{"two"}.write(t, filepath.Join(dir, "b", "x.jsonl"), "1")
	if err := os.Mkdir(filepath.Join(dir, "b", "c"), 0o777); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "b", "c", "store.db"), "SQLite format 3")
	c, list := compare(t, side(filepath.Join(dir, "a")), side(filepath.Join(dir, "b")))
	if len(c.Failed) != 1 || len(list) != 1 {
		t.Errorf("%v, %d sessions", c.Failed, len(list))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := diff.Compare(ctx, all.Registry(), side(dir), side(dir), diff.Options{}); err == nil {
		t.Error("a canceled comparison has a result")
	}
}

// TestRecords: an archive is equal to its store; a cell, a row and a table that differ are
// named, and applied to the old records the changes give the new ones.
func TestRecords(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name, "store.db") }
	for name, edit := range map[string]string{"a": "", "b": "UPDATE meta SET value = 'other'; DELETE FROM blobs WHERE rowid = 2; CREATE TABLE more(x); INSERT INTO more VALUES (x'00ff'), (NULL)"} {
		b, err := os.ReadFile("../../testdata/chat/before.db")
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(at(name)), 0o777), os.WriteFile(at(name), b, 0o666)); err != nil {
			t.Fatal(err)
		}
		if edit != "" {
			if err := ide.Exec(at(name), edit); err != nil {
				t.Fatal(err)
			}
		}
	}
	text := filepath.Join(dir, "text")
	if _, err := convert.Convert(t.Context(), all.Registry(), at("a"), text, convert.Options{To: "archive"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a, b string
		want string
	}{
		{at("a"), filepath.Dir(at("a")), ""}, {at("a"), text, ""}, {text, at("a"), ""},
		{text, at("b"), "schema: table more; changed meta value; removed blobs id,data; added more x; added more x; "},
		{at("b"), at("a"), "schema: table more; removed more x; removed more x; changed meta value; added blobs id,data; "},
	} {
		x, err := diff.CompareRecords(t.Context(), all.Registry(), side(c.a), side(c.b), diff.Options{})
		if err != nil || len(x.Failed) > 0 {
			t.Fatal(err, x.Failed)
		}
		got := map[string]int{}
		for _, s := range x.Stores {
			for _, f := range s.Schema {
				got["schema: "+f.Name+"; "]++
			}
			for _, r := range s.Rows {
				var names []string
				for _, f := range r.Cells.List {
					names = append(names, f.Name)
				}
				set, _, _ := strings.Cut(strings.TrimPrefix(r.At, "store.db/"), "#")
				got[r.Change+" "+strings.Fields(set)[0]+" "+strings.Join(names, ",")+"; "]++
			}
		}
		want := map[string]int{}
		for part := range strings.SplitAfterSeq(c.want, "; ") {
			if part != "" {
				want[part]++
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s to %s: %v", c.a, c.b, got)
		}
	}
}

// TestRandomLines: lines of a file that were added and removed are counted.
func TestRandomLines(t *testing.T) {
	rng, dir := rand.New(rand.NewPCG(3, 4)), t.TempDir()
	line := func(n int) string {
		return fmt.Sprintf(`{"type":"user","uuid":"u%d","sessionId":"0a000000-0000-4000-8000-000000000001","message":{"role":"user","content":"%d"}}`+"\n", n, n)
	}
	for range 30 {
		file := [2]string{}
		for i := range file {
			for n := range 12 {
				if rng.IntN(3) > 0 {
					file[i] += line(n)
				}
			}
			file[i] = line(99) + file[i]
			path := filepath.Join(dir, string(rune('a'+i)), "0a000000-0000-4000-8000-000000000001.jsonl")
			put(t, path, file[i])
		}
		x, err := diff.CompareRecords(t.Context(), all.Registry(), side(filepath.Join(dir, "a")), side(filepath.Join(dir, "b")), diff.Options{})
		if err != nil || len(x.Failed) > 0 || (file[0] == file[1]) != (x.Same == 1) {
			t.Fatal(err, x)
		}
		balance := 0
		for _, s := range x.Stores {
			for _, r := range s.Rows {
				switch r.Change {
				case "added":
					balance++
				case "removed":
					balance--
				}
			}
		}
		if want := strings.Count(file[1], "\n") - strings.Count(file[0], "\n"); balance != want {
			t.Errorf("%d lines more, want %d", balance, want)
		}
	}
}

// TestResults: a result belongs to its call wherever it arrives, and details count only
// where nothing else differs.
func TestResults(t *testing.T) {
	dir := t.TempDir()
	write := func(name, output, at string) diff.Side {
		path := filepath.Join(dir, name)
		text := `{"type":"session","version":1,"id":"s","agent":"cursor-cli"}
{"type":"message","id":"u","role":"user","turn":{"number":1},"parts":[{"type":"text","text":"go"}]}
{"type":"message","id":"a","role":"assistant","at":"` + at + `","parts":[{"type":"tool_call","id":"c1","name":"Shell","kind":"shell","args":{"command":"one"}},{"type":"tool_call","id":"c2","name":"Shell","kind":"shell","args":{"command":"two"}}]}
{"type":"message","id":"t2","role":"tool","parts":[{"type":"tool_result","call":"c2","status":"success","content":[{"type":"text","text":"same"}]}]}
{"type":"message","id":"t1","role":"tool","parts":[{"type":"tool_result","call":"c1","status":"success","content":[{"type":"text","text":"` + output + `"}]}]}
`
		put(t, path, text)
		return side(path)
	}
	const then, later = "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:01.000Z"
	a := write("a.jsonl", "old", then)
	_, list := compare(t, a, write("b.jsonl", "new", later))
	if len(list) != 1 || len(list[0].Changes) != 1 || len(list[0].Details) != 0 || list[0].Turns != (diff.Turns{Changed: 1}) {
		t.Fatalf("%+v", list)
	}
	if c := list[0].Changes[0]; c.Before.Call == nil || len(c.Fields.List) != 1 || c.Fields.List[0] != (diff.Field{Name: "result.output", Before: "old", After: "new"}) || !strings.Contains(string(c.After.Call.Args), "one") {
		t.Errorf("%+v", c)
	}
	_, list = compare(t, a, write("c.jsonl", "old", later))
	if len(list) != 1 || len(list[0].Changes) != 0 || len(list[0].Details) != 1 || len(list[0].Details[0].Fields.List) != 1 || list[0].Details[0].Fields.List[0] != (diff.Field{Name: "at", Before: then, After: later}) {
		t.Errorf("%+v", list)
	}
}

// TestFields: members are listed up to a limit, elements of lists by their number.
func TestFields(t *testing.T) {
	dir := t.TempDir()
	write := func(name, status string) diff.Side {
		path, todos := filepath.Join(dir, name), []string{}
		for i := range 60 {
			todos = append(todos, fmt.Sprintf(`{"content":"%d","status":"%s"}`, i, status))
		}
		text := `{"type":"session","version":1,"id":"s","agent":"cursor-cli","todos":[` + strings.Join(todos, ",") + "]}\n"
		put(t, path, text)
		return side(path)
	}
	_, list := compare(t, write("a.jsonl", "pending"), write("b.jsonl", "completed"))
	if len(list) != 1 || len(list[0].Fields.List) != 50 || list[0].Fields.More != 10 || list[0].Fields.List[1].Name != "todos.2.status" || list[0].Fields.List[49].Name != "todos.50.status" {
		t.Fatalf("%+v", list)
	}
}

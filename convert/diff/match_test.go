package diff_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rehome/convert/diff"
	"rehome/formats/all"
	"rehome/testdata/ide"
)

// TestSameID: sessions that share an id are all compared, whatever their client, in one
// file and in several.
func TestSameID(t *testing.T) {
	session := func(agent, text string) string {
		return fmt.Sprintf(`{"type":"session","version":1,"id":"x","agent":%q}
{"type":"message","id":"m","role":"user","turn":{"number":1},"parts":[{"type":"text","text":%q}]}
`, agent, text)
	}
	cli, sdk, claude := session("cursor-cli", "one"), session("cursor-sdk", "two"), session("claude-code", "one")
	for name, test := range map[string]struct {
		before, after           map[string]string
		added, removed, changed int
	}{
		"same":              {map[string]string{"f": cli + sdk}, map[string]string{"f": cli + sdk}, 0, 0, 0},
		"first in a file":   {map[string]string{"f": cli + sdk}, map[string]string{"f": session("cursor-cli", "ONE") + sdk}, 0, 0, 1},
		"second in a file":  {map[string]string{"f": cli + sdk}, map[string]string{"f": cli + session("cursor-sdk", "TWO")}, 0, 0, 1},
		"twice in a file":   {map[string]string{"f": cli + cli}, map[string]string{"f": cli + session("cursor-cli", "ONE")}, 0, 0, 1},
		"once more":         {map[string]string{"f": cli}, map[string]string{"f": cli + cli}, 1, 0, 0},
		"another file":      {map[string]string{"f": cli}, map[string]string{"f": cli, "g": sdk}, 1, 0, 0},
		"a copy":            {map[string]string{"d/f": cli}, map[string]string{"d/f": cli, "g": cli}, 1, 0, 0},
		"one file less":     {map[string]string{"f": cli, "g": session("cursor-cli", "ONE")}, map[string]string{"f": cli}, 0, 1, 0},
		"of another client": {map[string]string{"f": cli}, map[string]string{"g": cli, "h": claude}, 1, 0, 0},
		"moved, of copies":  {map[string]string{"f": cli, "g": cli}, map[string]string{"h": cli}, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			write := func(files map[string]string) string {
				dir := t.TempDir()
				for name, text := range files {
					at := filepath.Join(dir, name+".jsonl")
					put(t, at, text)
				}
				return dir
			}
			c, list := compare(t, side(write(test.before)), side(write(test.after)))
			if got, want := [3]int{c.Added, c.Removed, c.Changed}, [3]int{test.added, test.removed, test.changed}; got != want || len(c.Failed) > 0 {
				t.Errorf("added, removed, changed: %d, want %d; %v", got, want, c.Failed)
			}
			for _, s := range list {
				if s.Before != nil && s.After != nil && len(s.Changes) == 0 {
					t.Errorf("%+v: no changes", s)
				}
			}
		})
	}
}

// TestLooseMessages: a message without a part of its own says what differs in it, too.
func TestLooseMessages(t *testing.T) {
	const head = `{"type":"session","version":1,"id":"x","agent":"cursor-cli"}
{"type":"message","id":"m1","role":"user","turn":{"number":2},"parts":[{"type":"text","text":"go"}]}
{"type":"message","id":"m2","role":"assistant","parts":[{"type":"tool_call","id":"c","name":"Shell"}]}
`
	result := func(extra string) string {
		return `{"type":"message","id":"m3","role":"tool","parts":[{"type":"tool_result","call":"c","content":[{"type":"text","text":"ok"}]}]` + extra + "}\n"
	}
	const empty = `{"type":"message","id":"m4","role":"assistant","at":"2026-01-31T12:00:00.000Z"}` + "\n"
	dir := t.TempDir()
	a := filepath.Join(dir, "a.jsonl")
	put(t, a, head+result(""))
	for want, text := range map[string]string{
		"[{2 {[{extras  [{\"name\":\"n\",\"raw\":1}]}] 0}}] 0": head + result(`,"extras":[{"name":"n","raw":1}]`),
		"[] 1": head + result("") + empty,
	} {
		b := filepath.Join(dir, "b.jsonl")
		put(t, b, text)
		_, list := compare(t, side(a), side(b))
		if len(list) != 1 || len(list[0].Changes) > 0 || fmt.Sprint(list[0].Details, list[0].More) != want {
			t.Errorf("%+v, want %s", list, want)
		}
	}
}

// TestExtras: what a list names is compared by name, and its order counts.
func TestExtras(t *testing.T) {
	const one, two = `{"name":"one","raw":1}`, `{"name":"two","raw":2}`
	write := func(extras string) string {
		at := filepath.Join(t.TempDir(), "a.jsonl")
		text := `{"type":"session","version":1,"id":"x","agent":"cursor-cli","extras":[` + extras + "]}\n" + `{"type":"message","id":"m","role":"user","turn":{"number":1},"parts":[{"type":"text","text":"go"}]}` + "\n"
		put(t, at, text)
		return at
	}
	for extras, want := range map[string]string{
		two:                             `[{extras.one {"name":"one","raw":1} }]`,
		one + `,{"name":"two","raw":3}`: `[{extras.two.raw 2 3}]`,
		two + "," + one:                 `[{extras [` + one + "," + two + "] [" + two + "," + one + "]}]",
		one + "," + one:                 `[{extras.2.name two one} {extras.2.raw 2 1}]`,
	} {
		_, list := compare(t, side(write(one+","+two)), side(write(extras)))
		if len(list) != 1 || fmt.Sprint(list[0].Fields.List) != want {
			t.Errorf("%s: %+v, want %s", extras, list, want)
		}
	}
}

// TestCells: a cell that differs is named with what differs, even if it reads the same, or
// is JSON as bytes or in hexadecimal.
func TestCells(t *testing.T) {
	dir := t.TempDir()
	for name, value := range map[string]string{"a": `(1), (NULL), ('[1,{"x":2}]'), ('7b2261223a317d'), (x'7b2261223a317d'), (x'00')`, "b": `(1.0), ('NULL'), ('[1, {"x":2}]'), ('7b2261223a327d'), (x'7b2261223a337d'), (x'01')`} {
		at := filepath.Join(dir, name, "store.db")
		b, err := os.ReadFile("../../testdata/chat/before.db")
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(at), 0o777), os.WriteFile(at, b, 0o666), ide.Exec(at, "CREATE TABLE more(x); INSERT INTO more VALUES "+value)); err != nil {
			t.Fatal(err)
		}
	}
	x, err := diff.CompareRecords(t.Context(), all.Registry(), side(filepath.Join(dir, "a")), side(filepath.Join(dir, "b")), diff.Options{})
	if err != nil || len(x.Stores) != 1 {
		t.Fatal(x, err)
	}
	var got []diff.Field
	for _, r := range x.Stores[0].Rows {
		got = append(got, r.Cells.List...)
	}
	if want := []diff.Field{{Name: "x", Before: "1 (integer)", After: "1 (real)"}, {Name: "x", Before: "NULL (null)", After: "NULL (text)"}, {Name: "x", Before: `[1,{"x":2}]`, After: `[1, {"x":2}]`}, {Name: "x.a", Before: "1", After: "2"}, {Name: "x.a", Before: "1", After: "3"},
		{Name: "x", Before: "blob of 1 bytes, sha256 6e340b9cffb37a98…", After: "blob of 1 bytes, sha256 4bf5122f344554c5…"}}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

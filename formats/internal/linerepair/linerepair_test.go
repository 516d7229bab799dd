package linerepair

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"rehome/formats"
	"rehome/formats/internal/lines"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// repaired writes a text, repairs findings given as RULE and line, and returns what the
// file holds then.
func repaired(t *testing.T, text, id string, line int) (after string, acts int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	r := &formats.Repair{Findings: []rule.Finding{{Rule: id, At: store.Addr{Line: line}}}, Report: func(formats.Act) { acts++ }}
	if _, err := Text(t.Context(), path, r); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	info, serr := os.Stat(path)
	list, rerr := os.ReadDir(filepath.Dir(path))
	if err := errors.Join(err, serr, rerr); err != nil || info.Mode().Perm() != 0o640 || len(list) != 1 {
		t.Fatalf("%v, %v, %v", err, info, list)
	}
	return string(b), acts
}

func wide(s string, big bool) string {
	var out strings.Builder
	for _, u := range utf16.Encode([]rune("\ufeff" + s)) {
		low, high := byte(u), byte(u>>8)
		if big {
			low, high = high, low
		}
		out.WriteByte(low)
		out.WriteByte(high)
	}
	return out.String()
}

func TestText(t *testing.T) {
	for name, c := range map[string]struct {
		text, id string
		line     int
		want     string
	}{
		"separators":     {"{\"a\":\"x\u2028y\u2029\"}\n{}\n", "RH145", 1, "{\"a\":\"x\\u2028y\\u2029\"}\n{}\n"},
		"mark":           {"\ufeff{}\r\n{\"a\":1}", "RH124", 1, "{}\r\n{\"a\":1}"},
		"mark stays":     {"\ufeff{}\n{\"a", "RH127", 2, "\ufeff{}\n"},
		"torn":           {"{}\n{\"a", "RH127", 2, "{}\n"},
		"not JSON":       {"{}\n{a}\n{}\n", "RH131", 2, "{}\n{}\n"},
		"zeros around":   {"\x00\x00{\"a\":1}\x00\n{}\n", "RH131", 1, "{\"a\":1}\n{}\n"},
		"conflict":       {"{}\n<<<<<<< HEAD\n", "RH131", 2, "{}\n<<<<<<< HEAD\n"},
		"number":         {"7\n{}\n", "RH134", 1, "{}\n"},
		"two records":    {"{\"a\":1} {\"b\":2}\n{}", "RH135", 1, "{\"a\":1}\n{\"b\":2}\n{}"},
		"rest":           {"{\"a\":1},{\"b\":2}\n", "RH135", 1, "{\"a\":1}\n,{\"b\":2}\n"},
		"zeros":          {"{}\n\x00\x00", "RH136", 2, "{}\n"},
		"bytes":          {"{\"a\":\"\xff\"}\n", "RH137", 1, "{\"a\":\"\ufffd\"}\n"},
		"little endian":  {wide("{\"a\":\"ä😀\"}\n", false), "RH123", 0, "{\"a\":\"ä😀\"}\n"},
		"big endian":     {wide("{\"a\":\"ä😀\"}\n", true), "RH123", 0, "{\"a\":\"ä😀\"}\n"},
		"not UTF-16":     {"\xff\xfe{\"a\":1}\n", "RH123", 0, "\xff\xfe{\"a\":1}\n"},
		"half character": {wide("{}\n", false) + "\x3d\xd8", "RH123", 0, wide("{}\n", false) + "\x3d\xd8"},
	} {
		got, acts := repaired(t, c.text, c.id, c.line)
		if got != c.want || (acts > 0) != (c.want != c.text) {
			t.Errorf("%s: %q after %d acts, want %q", name, got, acts, c.want)
		}
	}
}

func TestMembers(t *testing.T) {
	for _, c := range []struct{ doc, name, value, want string }{
		{`{}`, "a", "1", `{"a":1}`},
		{`{"b": {"a":2}}`, "a", "1", `{"a":1,"b": {"a":2}}`},
		{`{"b":1, "a" : [2] ,"c":3}`, "a", "1", `{"b":1, "a" : 1 ,"c":3}`},
		{`{"a":1,"\u0061":2}`, "a", "3", `{"a":1,"\u0061":3}`},
	} {
		if got := Set([]byte(c.doc), c.name, []byte(c.value)); string(got) != c.want {
			t.Errorf("%s: %s, want %s", c.doc, got, c.want)
		}
	}
	if got := Remove([]byte(`{"a":1,"b":{"a":5},"a":2}`), "a"); string(got) != `{"b":{"a":5}}` {
		t.Errorf("%s", got)
	}
	if got := Array([][]byte{[]byte("1"), nil, []byte("2")}); string(got) != "[1,2]" {
		t.Errorf("%s", got)
	}
}

// TestFailed: a file that cannot be written is as it was.
func TestFailed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(path, []byte("{}\n{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wrong := errors.New("wrong")
	err := Rewrite(t.Context(), path, &formats.Repair{}, func(w *Writer, l *lines.Line) error {
		w.Line(l.Bytes)
		return wrong
	})
	ctx, stop := context.WithCancel(t.Context())
	stop()
	stopped := Rewrite(ctx, path, &formats.Repair{}, func(*Writer, *lines.Line) error { return nil })
	b, _ := os.ReadFile(path)
	list, _ := os.ReadDir(filepath.Dir(path))
	if !errors.Is(err, wrong) || !errors.Is(stopped, context.Canceled) || string(b) != "{}\n{}\n" || len(list) != 1 {
		t.Errorf("%v, %v, %q, %v", err, stopped, b, list)
	}
}

// TestLong: a line that is not held as a whole is copied as a whole.
func TestLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	text := "\ufeff{}\n" + strings.Repeat("long ", 65<<20/5) + "\r\n{}\nend"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &formats.Repair{Report: func(formats.Act) {}}
	for _, keep := range []int{MaxLine, 2} { // held, and not held
		err := Rewrite(t.Context(), path, &formats.Repair{}, func(w *Writer, l *lines.Line) error {
			if len(l.Bytes) > keep {
				l.Bytes, l.Long = l.Bytes[:keep], true
			}
			return w.Copy(l)
		})
		if b, _ := os.ReadFile(path); err != nil || string(b) != text {
			t.Fatalf("%v; %d bytes of %d", err, len(b), len(text))
		}
	}
	r.Findings = []rule.Finding{{Rule: "RH127", At: store.Addr{Line: 4}}}
	if _, err := Text(t.Context(), path, r); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); string(b) != strings.TrimSuffix(text, "end") {
		t.Errorf("%d bytes of %d are left", len(b), len(text))
	}
}

// TestMoved: whatever a repair makes of its lines, it knows which ones they were.
func TestMoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var text strings.Builder
		for n := range random.IntN(12) {
			fmt.Fprintf(&text, "%d\n", n+1)
		}
		fmt.Fprint(&text, "end")
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		var from []formats.Origin
		r := &formats.Repair{Moved: func(_ string, o []formats.Origin) { from = o }}
		var want []int
		if err := Rewrite(t.Context(), path, r, func(w *Writer, l *lines.Line) error {
			for range random.IntN(4) {
				want = append(want, l.Number)
				w.Line(l.Bytes)
			}
			if random.IntN(2) == 0 && l.Ended {
				want = append(want, l.Number)
				return w.Copy(l)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for i, line := range want {
			if got := formats.LineBefore(i+1, from); got != line {
				t.Fatalf("line %d was %d, not %d: %v", i+1, line, got, from)
			}
		}
	}
}

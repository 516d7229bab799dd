package cursortranscript_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/cursortranscript"
	"rehome/formats/session"
)

// walked decodes one file of a name: what comes of it is JSON, and the books
// balance over all lines.
func walked(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent-transcripts", name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	text, tally := told(t, path)
	if n := count(data); tally.Read != n || !tally.Balanced() {
		t.Fatalf("%d lines, %+v", n, tally)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if line[0] == '#' {
			continue
		}
		var m struct{ Type, ID string }
		if err := json.Unmarshal([]byte(line), &m); err != nil || seen[m.Type+m.ID] {
			t.Fatalf("%v or twice: %s", err, line)
		}
		seen[m.Type+m.ID] = true
	}
	return string(text)
}

func count(data []byte) int64 {
	n := int64(bytes.Count(data, []byte("\n")))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// each calls f for every file of the sample.
func each(t testing.TB, f func(name string, data []byte)) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(sample, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) == ".json" {
			return err
		}
		data, err := os.ReadFile(path)
		f(filepath.Base(path), data)
		n++
		return err
	})
	if err != nil || n < 8 {
		t.Fatal(n, err)
	}
}

// TestCut cuts every sample at each line and near its end.
func TestCut(t *testing.T) {
	each(t, func(name string, data []byte) {
		for i, c := range data {
			if c == '\n' {
				for _, cut := range []int{i - 20, i, i + 1, i + 9} {
					walked(t, name, data[:min(max(cut, 0), len(data))])
				}
			}
		}
	})
}

// TestOldLosses: what is said to be lost of the old text is what it lacks.
func TestOldLosses(t *testing.T) {
	const results, none = "# missing L112: 1", "# missing L111: 1"
	const shaped = "# reshaped L202: 1 at a.txt:4"
	for text, want := range map[string][]string{
		"user:\nx\nassistant:\n[Tool call] Read\n  limit: 10\n[Tool result] Read\ny\n": {results, shaped},
		"user:\nx\nassistant:\n[Tool call] Read\n[Tool result] Read\n":                 {results},
		"user:\nx\nassistant:\n[Tool call] Read\n  limit: 10\n":                        {none, shaped},
		"user:\n[Tool result] Read\nassistant:\ny\n":                                   {none},
	} {
		got := walked(t, "a.txt", []byte(text))
		for _, line := range want {
			if !strings.Contains(got, line) {
				t.Errorf("%q: no %q in\n%s", text, line, got)
			}
		}
		if n := strings.Count(got, "\n# "); n != len(want) {
			t.Errorf("%q: %d notes in\n%s", text, n, got)
		}
	}
}

// TestUnknownEnding: a word that nobody has described is no error.
func TestUnknownEnding(t *testing.T) {
	for name, text := range map[string]string{
		"a.txt":   "user:\nx\nassistant:\ny\nTurn ended: paused\n",
		"a.jsonl": `{"role":"user","message":{"content":"x"}}` + "\n" + `{"type":"turn_ended","status":"paused"}`,
	} {
		if got := walked(t, name, []byte(text)); !strings.Contains(got, `"status":"paused"`) || strings.Contains(got, "error") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

// TestStranger puts a member that nobody knows into every object of every
// line. Each must come back.
func TestStranger(t *testing.T) {
	n := 0
	each(t, func(name string, data []byte) {
		if filepath.Ext(name) != ".jsonl" {
			return
		}
		var out []byte
		var planted []string
		for line := range bytes.Lines(data) {
			for rest := line; json.Valid(line); {
				head, tail, ok := bytes.Cut(rest, []byte(`{"`))
				out = append(out, head...)
				if !ok {
					line = nil
					break
				}
				planted = append(planted, fmt.Sprintf("stranger-%d!", n))
				out = fmt.Appendf(out, `{"stranger-%d":"stranger-%d!","`, n, n)
				n++
				rest = tail
			}
			out = append(out, line...)
		}
		text := walked(t, name, out)
		for _, p := range planted {
			if !strings.Contains(text, p) {
				t.Errorf("%s: lost in silence: %s", name, p)
			}
		}
	})
	if n < 40 {
		t.Errorf("only %d planted", n)
	}
}

// TestLinks does not follow a link out of the folder.
func TestLinks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "agent-transcripts")
	secret := filepath.Join(t.TempDir(), "secret.jsonl")
	said := `{"role":"user","message":{"content":"elsewhere"}}`
	err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(secret, []byte(said), 0o600), os.Symlink(secret, filepath.Join(dir, "b.jsonl")),
		os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte(strings.ReplaceAll(said, "elsewhere", "here")), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := told(t, dir)
	if strings.Contains(string(text), "elsewhere") || !strings.Contains(string(text), "here") {
		t.Errorf("%s", text)
	}
}

// TestUnreadable: one session that cannot be read does not hide the others.
func TestUnreadable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "agent-transcripts")
	said := []byte(`{"role":"user","message":{"content":"x"}}`)
	err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "a.jsonl"), said, 0o600), os.WriteFile(filepath.Join(dir, "b.jsonl"), said, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	l, err := formats.Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	var good, bad int
	for s, err := range cursortranscript.Format().Sessions.Decode(t.Context(), l, formats.View{}, session.Selection{}) {
		var e *formats.Error
		switch {
		case err == nil:
			good++
			if s.ID == "a" { // the next one vanishes while this one is read
				if err := os.Remove(filepath.Join(dir, "b.jsonl")); err != nil {
					t.Fatal(err)
				}
			}
		case s == nil || s.ID != "b" || !errors.As(err, &e) || e.At != "b.jsonl":
			t.Errorf("%v: %v", s, err)
		default:
			bad++
		}
	}
	if good != 1 || bad != 1 {
		t.Errorf("%d read, %d not", good, bad)
	}
}

// TestHome names the places of one user's machine.
func TestHome(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"home-ann-app", "empty"} {
		sub := filepath.Join(dir, ".cursor", "projects", name)
		if name != "empty" {
			sub = filepath.Join(sub, "agent-transcripts")
		}
		if err := os.MkdirAll(sub, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{}
	m := formats.Machine{OS: "linux", Home: dir, Getenv: func(name string) string { return env[name] }}
	want := filepath.Join(dir, ".cursor", "projects", "home-ann-app", "agent-transcripts")
	if got := cursortranscript.Format().Home.Roots(m); len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
	env["CURSOR_DATA_DIR"] = filepath.Join(dir, "elsewhere")
	if got := cursortranscript.Format().Home.Roots(m); len(got) != 1 || got[0] != filepath.Join(dir, "elsewhere", "projects") {
		t.Errorf("%q", got)
	}
}

// FuzzDecode reads anything as a transcript, in both forms.
func FuzzDecode(f *testing.F) {
	each(f, func(name string, data []byte) { f.Add(data, filepath.Ext(name) == ".txt") })
	f.Fuzz(func(t *testing.T, data []byte, old bool) {
		name := "a.jsonl"
		if old {
			name = "a.txt"
		}
		walked(t, name, data)
	})
}

// TestRewritten: a transcript that is written anew between its two passes is
// busy, whichever form it has.
func TestRewritten(t *testing.T) {
	jsonl := `{"role":"user","message":{"content":"x"}}` + "\n"
	for name, texts := range map[string][2]string{
		"a.txt":   {"user:\nx\n\n\n\n\n\n\n\n", "user:\nx\nuser:\ny\n"},
		"b.txt":   {"\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n", "user:\nx\nTurn ended: no\n"},
		"c.txt":   {"user:\nx\nuser:\ny\n", "user:\nx\n\n\n\n\n\n\n\n"},
		"d.jsonl": {strings.Repeat(" ", len(jsonl)-1) + "\n" + jsonl, jsonl + jsonl},
		"e.jsonl": {jsonl + jsonl, strings.Repeat(" ", 2*len(jsonl)-1) + "\n"},
	} {
		path := filepath.Join(t.TempDir(), "agent-transcripts", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(texts[0]), 0o600)); err != nil {
			t.Fatal(err)
		}
		l, err := formats.Locate(path)
		if err != nil {
			t.Fatal(err)
		}
		for s, err := range cursortranscript.Format().Sessions.Decode(t.Context(), l, formats.View{}, session.Selection{Account: new(session.SharedAccount)}) {
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(texts[1]), 0o600); err != nil {
				t.Fatal(err)
			}
			var last error
			for _, err := range s.Messages {
				last = err
			}
			if !errors.Is(last, formats.ErrBusy) {
				t.Errorf("%s: %v", name, last)
			}
		}
	}
}

// TestCost: eight times as much takes about eight times as much memory, however
// the old text grows.
func TestCost(t *testing.T) {
	for name, piece := range map[string]func(i int) string{
		"calls before their results": func(i int) string { return fmt.Sprintf("[Tool call] T%d\n", i) },
		"lines of one argument":      func(i int) string { return "  more of it, and more\n" },
	} {
		cost := func(n int) uint64 {
			var b strings.Builder
			b.WriteString("user:\nx\nassistant:\n[Tool call] T\n  a: 1\n")
			for i := range n {
				b.WriteString(piece(i))
			}
			for i := range n {
				fmt.Fprintf(&b, "[Tool result] T%d\ny\n", n-1-i)
			}
			path := filepath.Join(t.TempDir(), "agent-transcripts", "a.txt")
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(b.String()), 0o600)); err != nil {
				t.Fatal(err)
			}
			l, err := formats.Locate(path)
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for s, err := range cursortranscript.Format().Sessions.Decode(t.Context(), l, formats.View{}, session.Selection{}) {
				if err != nil {
					t.Fatal(err)
				}
				for range s.Messages {
				}
			}
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		if small, large := cost(1000), cost(8000); large > 10*small {
			t.Errorf("%s: %d bytes, and %d for eight times as much", name, small, large)
		}
	}
}

package formatstest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats/formatstest"
	"rehome/formats/formatstest/callgen"
	"rehome/formats/formatstest/idegen"
	"rehome/formats/formatstest/leaves"
	"rehome/formats/formatstest/streamgen"
	zst "rehome/formats/internal/packed"
)

// generated are stores of generators, by the format.
func generated(t *testing.T, format string) (out []formatstest.Fixture) {
	t.Helper()
	out = generatedAgents(t, format)
	add := func(name, ends string, write func(t *testing.T, path string, seed uint64)) {
		for seed := range uint64(generatedSeeds) {
			name := fmt.Sprintf("%s %d", name, seed)
			out = append(out, formatstest.Fixture{Name: name, Real: true, Uncounted: true, Make: func(t *testing.T, dir string) string {
				path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+ends)
				write(t, path, seed)
				return path
			}})
		}
	}
	switch format {
	case "stream-json":
		add("streamgen", ".jsonl", writeStream)
	case "cursor-ide":
		add("idegen", "", func(t *testing.T, path string, seed uint64) {
			if err := idegen.New(seed, 12).Write(t.Context(), path); err != nil {
				t.Fatal(err)
			}
		})
	case "codex":
		add("home packed", "", func(t *testing.T, path string, _ uint64) { packRollouts(t, path) })
		out = out[:len(out)-generatedSeeds+1]
	}
	if line := callLines[format]; line != nil {
		add("callgen", ".jsonl", func(t *testing.T, path string, seed uint64) { writeCalls(t, path, seed, line) })
	}
	return out
}

const generatedSeeds = 3

func writeLines(t *testing.T, path string, lines []string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// writeStream writes the runs of a session.
func writeStream(t *testing.T, path string, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 36))
	style := streamgen.Style{Partial: seed%2 == 1, Noise: seed%3 == 2}
	writeLines(t, path, streamgen.Runs(rng, streamgen.Make(rng, int(seed)), style))
}

// callLines write a call of each format of lines, after a line that begins the session.
var callLines = map[string]func(id, kind, name string, args []byte) string{
	"claude-code": func(id, _, name string, args []byte) string {
		return fmt.Sprintf(`{"type":"assistant","uuid":"u%s","timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]}}`, id, id, name, args)
	},
	"codex": func(id, _, name string, args []byte) string {
		text, _ := json.Marshal(string(args))
		return fmt.Sprintf(`{"timestamp":"2026-01-02T03:04:05.000Z","type":"response_item","payload":{"type":"function_call","call_id":%q,"name":%q,"arguments":%s}}`, id, name, text)
	},
	"stream-json": func(id, kind, _ string, args []byte) string {
		return fmt.Sprintf(`{"type":"tool_call","subtype":"started","call_id":%q,"session_id":"s","tool_call":{"%sToolCall":{"args":%s}}}`, id, kind, args)
	},
	"cursor-transcript": func(_, _, name string, args []byte) string {
		return fmt.Sprintf(`{"role":"assistant","message":{"content":[{"type":"tool_use","name":%q,"input":%s}]}}`, name, args)
	},
}

// writeCalls writes a session with a call of each tool.
func writeCalls(t *testing.T, path string, seed uint64, line func(id, kind, name string, args []byte) string) {
	t.Helper()
	m := &callgen.Maker{Rand: rand.New(rand.NewPCG(seed, 36))}
	first := `{"type":"session_meta","payload":{"id":"` + strings.TrimSuffix(filepath.Base(path), ".jsonl") + `"}}`
	switch begun := line("", "", "", []byte("{}")); {
	case strings.Contains(begun, "uuid"):
		first = `{"type":"user","uuid":"u","timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"Call all tools."}}`
	case strings.Contains(begun, "tool_call"):
		first = `{"type":"system","subtype":"init","session_id":"s","cwd":"/w","model":"m"}` + "\n" + `{"type":"user","session_id":"s","message":{"role":"user","content":[{"type":"text","text":"Call all tools."}]}}`
	case !strings.Contains(begun, "payload"):
		first = `{"role":"user","message":{"content":[{"type":"text","text":"Call all tools."}]}}`
	}
	lines := []string{first}
	for i, call := range callgen.Calls() {
		if call[0] == "" {
			continue // a name of no kind
		}
		args, err := json.Marshal(m.Arguments(call[0]))
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line(fmt.Sprintf("call_%d", i), call[0], call[1], args))
	}
	writeLines(t, path, lines)
}

// packRollouts writes the rollouts of testdata/codex/home compressed.
func packRollouts(t *testing.T, path string) {
	t.Helper()
	from := filepath.Join("..", "..", "testdata", "codex", "home")
	err := filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		to := filepath.Join(path, rel) + ".zst"
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		f, err := os.Create(to)
		if err != nil {
			return err
		}
		defer f.Close()
		w := zst.NewWriter(f, zst.Zstd, 1)
		if _, err := w.Write(text); err != nil {
			return err
		}
		return w.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
}

// rollouts walks the lines of rollouts, also of those that are compressed.
func rollouts(t testing.TB, path string, kinds []string) iter.Seq[leaves.Record] {
	t.Helper()
	plain := t.TempDir()
	ends := map[string]string{} // what the walk of the plain files leaves out, by their names
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		name, is := strings.CutSuffix(p, ".zst")
		if err != nil || d.IsDir() || !is {
			return err
		}
		rel, err := filepath.Rel(path, name)
		if err != nil {
			return err
		}
		f, err := os.Open(p)
		if err != nil {
			return err
		}
		defer f.Close()
		r, err := zst.NewReader(f, 1)
		if err != nil {
			return err
		}
		defer r.Close()
		text, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		ends[filepath.ToSlash(rel)] = ".zst"
		if err := os.MkdirAll(filepath.Dir(filepath.Join(plain, rel)), 0o700); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(plain, rel), text, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(ends) == 0 {
		return leaves.Lines()(t, path, kinds)
	}
	return func(yield func(leaves.Record) bool) {
		for r := range leaves.Lines()(t, plain, kinds) {
			r.At = strings.Replace(r.At, r.Group, r.Group+ends[r.Group], 1)
			if r.Group += ends[r.Group]; !yield(r) {
				return
			}
		}
	}
}

// marks of the old text of transcripts, at the beginning of a line, and the paths of what follows.
var marks = []struct{ mark, path string }{{"[Thinking]", "text"}, {"[Tool call]", "call"}, {"[Tool result]", "of"}, {"Turn ended:", "ended"}}

// transcriptsAndTexts walks transcripts: lines of JSON, and the old text. Each line of that is a
// record, of what speaks in it.
func transcriptsAndTexts(t testing.TB, path string, kinds []string) iter.Seq[leaves.Record] {
	t.Helper()
	return func(yield func(leaves.Record) bool) {
		if filepath.Ext(path) != ".txt" {
			for r := range leaves.Lines()(t, path, kinds) {
				if !yield(r) {
					return
				}
			}
		}
		err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(p) != ".txt" {
				return err
			}
			name, err := filepath.Rel(path, p)
			if name == "." {
				name = filepath.Base(p)
			}
			text, _ := os.ReadFile(p)
			for _, r := range textRecords(filepath.ToSlash(name), string(text)) {
				if !yield(r) {
					return fs.SkipAll
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func textRecords(name, text string) (out []leaves.Record) {
	kind, n := "text-user", 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		r := leaves.Record{At: fmt.Sprintf("%s:%d", name, n), Group: name, Kind: kind}
		switch line {
		case "user:", "assistant:":
			kind = "text-" + strings.TrimSuffix(line, ":")
			continue
		}
		path, value := "text", line
		for _, m := range marks {
			if rest, ok := strings.CutPrefix(line, m.mark); ok && kind != "text-user" {
				path, value = m.path, strings.TrimSpace(rest)
				if kind = "text-assistant"; m.path == "call" || m.path == "of" {
					kind = "text-" + m.path
				}
				r.Kind = kind
			}
		}
		if arg, rest, ok := strings.Cut(line, ": "); ok && kind == "text-call" && path == "text" {
			r.Leaves = append(r.Leaves, leaves.Leaf{Path: "name", Value: arg})
			value = rest
		}
		if rest, ok := strings.CutPrefix(value, "error: "); ok && path == "ended" {
			r.Leaves = append(r.Leaves, leaves.Leaf{Path: path, Value: "error"})
			path, value = "error", rest
		}
		if strings.Trim(value, "</>") == "user_query" && path == "text" {
			path = "tag"
		}
		if value != "" {
			r.Leaves = append(r.Leaves, leaves.Leaf{Path: path, Value: value})
		}
		out = append(out, r)
	}
	return out
}

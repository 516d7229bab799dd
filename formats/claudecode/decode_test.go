package claudecode

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/golden"
	"rehome/internal/rawjson"
	"rehome/schemas"
)

func TestMain(m *testing.M) { golden.Main(m) }

const samples = "../../testdata/claude/config"

// spelled is all that a location decodes to, as canonical lines and notes.
func spelled(t *testing.T, path string, sel session.Selection) []byte {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	books := &session.SharedAccount{}
	sel.Account = books
	var notes []byte
	v := formats.View{OnLoss: func(n loss.Loss) {
		notes = fmt.Appendf(notes, "# %v at %v: %s\n", n.Kind(), n.At, strings.Join(append([]string{string(n.Code)}, n.Args...), " "))
	}}
	for s, err := range Format().Sessions.Decode(t.Context(), l, v, sel) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(session.AppendHead(out, s), '\n')
		for m, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			out = append(session.AppendMessage(out, m), '\n')
		}
	}
	sum := books.Total()
	if !sum.Balanced() {
		t.Errorf("the books do not balance: %+v", sum)
	}
	return append(append(out, notes...), fmt.Sprintf("# %+v\n", sum)...)
}

func TestSamples(t *testing.T) {
	golden.Bytes(t, "claude-code-to-canonical/config.jsonl", spelled(t, samples, session.Selection{History: true}))
	project := filepath.Join(samples, "projects", "-home-ann-app")
	file := filepath.Join(project, "20000000-0000-4000-8000-000000000002.jsonl")
	golden.Bytes(t, "claude-code-to-canonical/damaged.jsonl", spelled(t, file, session.Selection{}))
	if a, b := spelled(t, project, session.Selection{IDs: []string{"agent-a1"}}), spelled(t, filepath.Join(project, "20000000-0000-4000-8000-000000000004/subagents/agent-a1.jsonl"), session.Selection{}); !bytes.Contains(a, []byte(`"kind":"Explore"`)) || !bytes.Contains(b, []byte(`"parent":{"session":"20000000-0000-4000-8000-000000000004"}`)) {
		t.Errorf("a subagent in its place\n%s\nand by itself\n%s", a, b)
	}
}

// TestTorn: cut off anywhere, a file is read as far as it goes.
func TestTorn(t *testing.T) {
	from := filepath.Join(samples, "projects/-home-ann-app/20000000-0000-4000-8000-000000000001.jsonl")
	whole, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.jsonl")
	for cut := 1; cut < len(whole); cut += 97 {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		spelled(t, path, session.Selection{})
	}
}

// TestLoops: lines that hang on themselves or on each other end.
func TestLoops(t *testing.T) {
	line := func(id, up string) string {
		return `{"type":"user","uuid":"` + id + `","parentUuid":"` + up + `","message":{"content":"` + id + `"}}` + "\n"
	}
	path := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(path, []byte(line("a", "c")+line("b", "a")+line("c", "b")+line("d", "d")), 0o600); err != nil {
		t.Fatal(err)
	}
	got := spelled(t, path, session.Selection{History: true})
	for _, id := range []string{"a", "b", "c", "d"} {
		if !bytes.Contains(got, []byte(`"text":"`+id+`"`)) {
			t.Errorf("%s is lost:\n%s", id, got)
		}
	}
}

// TestSchemas: the lines of the samples, and all that we write, are as the
// schemas say.
func TestSchemas(t *testing.T) {
	judges := map[string]*schemas.Lines{}
	judge := func(at string, data []byte) {
		for n, line := range bytes.Split(data, []byte("\n")) {
			fit, _, err := rawjson.Line(bytes.TrimSuffix(line, []byte("\r")))
			if err != nil {
				continue // damage has tests of its own
			}
			kind := rawjson.TextAt(fit, "type")
			switch kind {
			case "user", "assistant", "system", "attachment":
			default:
				kind = "entry"
			}
			if judges[kind] == nil {
				if judges[kind], err = schemas.NewLines("claude-code-" + kind + "-1"); err != nil {
					t.Fatal(err)
				}
			}
			if err := judges[kind].Validate(fit); err != nil {
				t.Errorf("%s:%d: %v", at, n+1, err)
			}
		}
	}
	fs.WalkDir(os.DirFS(samples), ".", func(p string, e fs.DirEntry, err error) error {
		if strings.HasSuffix(p, outline.Ending) {
			data, err := os.ReadFile(filepath.Join(samples, p))
			if err != nil {
				t.Fatal(err)
			}
			judge(p, data)
		}
		return err
	})
	w := encoded(t, chat(compacted()...), formats.SessionBuild{})
	data, err := os.ReadFile(w.path)
	if err != nil {
		t.Fatal(err)
	}
	judge("written", data)
	if len(judges) != 5 {
		t.Errorf("only %d kinds of line were seen", len(judges))
	}
}

func TestFolder(t *testing.T) {
	for cwd, want := range map[string]string{
		"/home/ann/My app.v2_x": "-home-ann-My-app-v2-x", "/é😀": "----", `C:\Users\me\x`: "C--Users-me-x", "/": "-",
		"/" + strings.Repeat("a", 250): "-" + strings.Repeat("a", 199) + "-",
	} {
		got := outline.FolderName(cwd)
		if len(cwd) > 200 {
			if !strings.HasPrefix(got, want) || len(got) <= len(want) || got == outline.FolderName(cwd[:249]+"b") {
				t.Errorf("%s", got)
			}
			continue
		}
		if got != want {
			t.Errorf("%s is %s, want %s", cwd, got, want)
		}
	}
}

func TestHeads(t *testing.T) {
	l, err := formats.Locate(samples)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for h, err := range Format().Sessions.Heads(t.Context(), l, formats.View{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %q %s %d", h.ID[max(0, len(h.ID)-1):], h.Title, h.Workspace, h.Turns))
	}
	want := []string{`1 "Looking around" /home/ann/app 2`, `2 "first" /home/ann/app 3`, `3 "old question" /home/ann/app 3`, `4 "what is this" /home/ann/app 1`, `1 "a look" /home/ann/app 1`, `5 "An old one" /home/ann/app 1`}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// TestHeadsOfFile lists a session's file, with its subagents.
func TestHeadsOfFile(t *testing.T) {
	l, err := formats.Locate(filepath.Join(samples, "projects", "-home-ann-app", "20000000-0000-4000-8000-000000000004.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for h, err := range Format().Sessions.Heads(t.Context(), l, formats.View{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, h.ID)
	}
	if want := "20000000-0000-4000-8000-000000000004 agent-a1"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestHeadTurns: a head that says how many turns there are says what reading
// finds, also where the client went back on some.
func TestHeadTurns(t *testing.T) {
	l, err := formats.Locate(samples)
	if err != nil {
		t.Fatal(err)
	}
	turns, known := map[string]int64{}, 0
	for s, err := range Format().Sessions.Decode(t.Context(), l, formats.View{}, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		for m, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			if m.Turn != nil {
				turns[s.ID]++
			}
		}
	}
	for h, err := range Format().Sessions.Heads(t.Context(), l, formats.View{}) {
		if err != nil {
			t.Fatal(err)
		}
		if known++; h.Turns < 0 {
			known--
		} else if h.Turns != turns[h.ID] {
			t.Errorf("%s: its head says %d turns, there are %d", h.ID, h.Turns, turns[h.ID])
		}
	}
	if known < 4 {
		t.Errorf("only %d heads say so", known)
	}
}

// TestExact: every byte of the files comes back, and keys stay at home.
func TestExact(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	if err := os.CopyFS(from, os.DirFS(samples)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(from, ".credentials.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := formats.Locate(from)
	if err != nil {
		t.Fatal(err)
	}
	r, err := open(t.Context(), l, formats.View{Secrets: formats.WithholdSecrets})
	if err != nil {
		t.Fatal(err)
	}
	w, err := create(t.Context(), formats.Build{Path: to, Schema: r.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range r.Batches(t.Context()) {
		if err == nil {
			err = w.Put(t.Context(), b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{w.Finish(t.Context()), w.Close(), w.Close(), r.Close(), r.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	err = fs.WalkDir(os.DirFS(to), ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		n++
		a, aerr := os.ReadFile(filepath.Join(from, p))
		b, berr := os.ReadFile(filepath.Join(to, p))
		if aerr != nil || berr != nil || !bytes.Equal(a, b) {
			t.Errorf("%s is another", p)
		}
		return nil
	})
	if err != nil || n != 8 {
		t.Errorf("%d files, %v", n, err)
	}
	if _, err := create(t.Context(), formats.Build{Path: to + "2", Schema: &store.Schema{Origin: "cursor-chat"}}); err == nil {
		t.Error("tables of another client's were taken")
	}
}

// TestUsage: what a turn cost is the sum over its responses, each counted once;
// zeros say nothing.
func TestUsage(t *testing.T) {
	answer := func(id, up, response, usage string) string {
		return `{"type":"assistant","uuid":"` + id + `","parentUuid":"` + up + `","message":{"id":"` + response + `","role":"assistant","content":[{"type":"text","text":"` + id + `"}],"usage":` + usage + "}}\n"
	}
	ask := func(id, up string) string {
		return `{"type":"user","uuid":"` + id + `","parentUuid":` + up + `,"message":{"role":"user","content":"` + id + `"}}` + "\n"
	}
	path := filepath.Join(t.TempDir(), "x.jsonl")
	const cost = `{"input_tokens":3,"output_tokens":5,"cache_read_input_tokens":7,"service_tier":"x"}`
	file := ask("a", "null") + answer("b", "a", "r1", cost) + answer("c", "b", "r1", cost) + answer("d", "c", "r2", `{"input_tokens":10,"output_tokens":1,"cache_creation_input_tokens":2}`) +
		answer("dead", "a", "r9", cost) + ask("e", `"d"`) + answer("f", "e", "r3", `{"input_tokens":0,"output_tokens":0}`)
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	got := spelled(t, path, session.Selection{})
	if want := `"turn":{"number":1,"usage":{"input":13,"output":6,"cacheRead":7,"cacheWrite":2}}`; !bytes.Contains(got, []byte(want)) || bytes.Count(got, []byte(`"turn":{`)) != 2 || bytes.Count(got, []byte(`"usage":{"input":13`)) != 1 {
		t.Errorf("%s", got)
	}
	if !bytes.Contains(got, []byte(`"turn":{"number":2},`)) {
		t.Errorf("zeros are a cost:\n%s", got)
	}
}

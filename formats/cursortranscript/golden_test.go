package cursortranscript_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/cursortranscript"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/golden"
)

func TestMain(m *testing.M) { golden.Main(m) }

const sample = "../../testdata/transcript/projects/home-ann-app/agent-transcripts"

// told is what a store holds: canonical lines, then what was noted.
func told(t testing.TB, path string, ids ...string) ([]byte, session.Account) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	var books loss.Log
	var said []string
	sel := session.Selection{IDs: ids, Account: new(session.SharedAccount)}
	v := formats.View{OnLoss: books.Add, OnNotice: func(s string) { said = append(said, strings.ReplaceAll(s, path, "STORE")) }}
	for s, err := range cursortranscript.Format().Sessions.Decode(t.Context(), l, v, sel) {
		if err != nil {
			t.Fatal(err)
		}
		text = append(session.AppendHead(text, s), '\n')
		for m, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			text = append(session.AppendMessage(text, m), '\n')
		}
	}
	for _, l := range books.Groups() {
		text = fmt.Appendf(text, "# %s %s: %d at %s\n", l.Kind, l.Code, l.Count, strings.Join(l.Places, " "))
	}
	for _, s := range said {
		text = fmt.Appendf(text, "# %s\n", s)
	}
	return text, sel.Account.Total()
}

func TestGolden(t *testing.T) {
	text, tally := told(t, sample)
	golden.Bytes(t, "cursor-transcript-to-canonical/project.jsonl", text)
	if want := recount(t, sample); tally.Read != want || !tally.Balanced() {
		t.Errorf("%d lines, %+v", want, tally)
	}
	if again, _ := told(t, sample); !bytes.Equal(text, again) {
		t.Error("another time it is told differently")
	}
}

// recount counts the lines of all transcripts by a way of its own.
func recount(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) == ".json" {
			return err
		}
		b, err := os.ReadFile(path)
		n += int64(bytes.Count(b, []byte("\n")))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestPieces points at less than the whole: a session's folder, a file, a
// session by its name. Each tells what the whole tells of it.
func TestPieces(t *testing.T) {
	const id, child = "11111111-0000-4000-8000-000000000001", "aaaaaaaa-0000-4000-8000-00000000000a"
	for _, c := range []struct {
		path string
		ids  []string
		want []string
	}{
		{sample + "/" + id, nil, []string{id, child, "bbbbbbbb-0000-4000-8000-00000000000b"}},
		{sample + "/" + id + "/" + id + ".jsonl", nil, []string{id}},
		{sample + "/" + id + "/subagents/" + child + ".jsonl", nil, []string{child}},
		{sample, []string{child}, []string{child}},
		{sample + "/55555555-0000-4000-8000-000000000005.txt", nil, []string{"55555555-0000-4000-8000-000000000005"}},
	} {
		l, err := formats.Locate(c.path)
		if err != nil {
			t.Fatal(err)
		}
		f := cursortranscript.Format()
		if m, err := f.Probe(t.Context(), l); err != nil || m.Score < 80 {
			t.Errorf("%s: %+v, %v", c.path, m, err)
		}
		text, tally := told(t, c.path, c.ids...)
		if got := ids(text); strings.Join(got, " ") != strings.Join(c.want, " ") {
			t.Errorf("%s: %q, want %q", c.path, got, c.want)
		}
		if !bytes.Contains(text, []byte(`"name":"slug","raw":"home-ann-app"`)) || !tally.Balanced() {
			t.Errorf("%s: no slug, or books that do not balance: %+v", c.path, tally)
		}
	}
}

func ids(text []byte) (out []string) {
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, `{"type":"session","version":1,"id":"`); ok {
			id, _, _ := strings.Cut(rest, `"`)
			out = append(out, id)
		}
	}
	return out
}

// TestHeads lists what Decode yields, with the same heads but for counts.
func TestHeads(t *testing.T) {
	l, err := formats.Locate(sample)
	if err != nil {
		t.Fatal(err)
	}
	f := cursortranscript.Format()
	var cheap, whole []string
	for h, err := range f.Sessions.Heads(t.Context(), l, formats.View{}) {
		if err != nil {
			t.Fatal(err)
		}
		if h.Turns != -1 {
			t.Errorf("%s: %d turns without reading", h.ID, h.Turns)
		}
		cheap = append(cheap, fmt.Sprint(h.ID, h.Agent, h.Title, h.Created, h.Updated, h.Bytes, h.Parent != nil))
	}
	for s, err := range f.Sessions.Decode(t.Context(), l, formats.View{}, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		h := s.Head
		whole = append(whole, fmt.Sprint(h.ID, h.Agent, h.Title, h.Created, h.Updated, h.Bytes, h.Parent != nil))
	}
	if strings.Join(cheap, "\n") != strings.Join(whole, "\n") || len(cheap) != 8 {
		t.Errorf("%s\n\nwant\n\n%s", strings.Join(cheap, "\n"), strings.Join(whole, "\n"))
	}
}

// TestProbe refuses what is somebody else's.
func TestProbe(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	said := `{"role":"user","message":{"content":[{"type":"text","text":"x"}]}}` + "\n"
	write("project/agent-transcripts/a/a.jsonl", said)
	write("project/agent-transcripts/b/b.jsonl", `{"type":"metadata"}`+"\nnotes\n")
	write("project/sdk-agent-store/x/index.db", "")
	write("empty/agent-transcripts/note.md", "x")
	for path, want := range map[string]int{
		filepath.Join(dir, "project"):                                                                    0,
		filepath.Join(dir, "project", "agent-transcripts"):                                               90,
		filepath.Join(dir, "project", "agent-transcripts", "a"):                                          90,
		filepath.Join(dir, "project", "agent-transcripts", "a", "a.jsonl"):                               90,
		filepath.Join(dir, "project", "agent-transcripts", "b", "b.jsonl"):                               90,
		filepath.Join(dir, "empty", "agent-transcripts"):                                                 0,
		write("copy.jsonl", said):                                                                        60,
		write("long.jsonl", said[:50]+strings.Repeat("x", 900)+`"}]}}`):                                  60,
		write("claude.jsonl", `{"type":"user","uuid":"u","message":{"role":"user","content":"x"}}`):      0,
		write("stream.jsonl", `{"type":"user","message":{"role":"user","content":[]},"session_id":"s"}`): 0,
		write("chat.jsonl", `{"role":"user","content":"x"}`):                                             0,
		write("notes.txt", "user:\nhello\n"):                                                             formats.Guess,
		write("other.txt", "users: none\n"):                                                              0,
		write("void.jsonl", ""):                                                                          0,
	} {
		l, err := formats.Locate(path)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := cursortranscript.Format().Probe(t.Context(), l); err != nil || m.Score != want {
			t.Errorf("%s: %+v, %v; want %d", path, m, err, want)
		}
	}
}

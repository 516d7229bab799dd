package claude

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats/loss"
)

// write makes files below a new folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// load returns the entries of a folder by the keys of their transcripts.
func load(dir, project string) (map[key][]string, []string, error) {
	s := &source{refuse: func(traits) string { return "" }, change: func(traits) []loss.Code { return nil }}
	defer s.close()
	out := map[key][]string{}
	if err := openSource(context.Background(), dir, project, s); err != nil {
		return nil, nil, err
	}
	for _, tr := range s.transcripts {
		err := s.entries(context.Background(), tr, func(e entry) error {
			out[tr.Key] = append(out[tr.Key], string(e.Line))
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return out, words(s.lost.Groups()), nil
}

// words returns the code, the count and the first three places of each group.
func words(groups []loss.Group) (out []string) {
	for _, g := range groups {
		out = append(out, fmt.Sprintf("%s %d %s", g.Code, g.Count, strings.Join(g.Places[:min(3, len(g.Places))], " ")))
	}
	return out
}

func TestSource(t *testing.T) {
	files := map[string]string{
		"projects/p/s.jsonl":                         "{\"a\":1}\r\n\n[1]\n {\"b\":2} \n{\"torn",
		"projects/p/s/subagents/agent-a.jsonl":       "{\"c\":3}",
		"projects/p/s/subagents/agent-a.meta.json":   "{\n \"agentType\": \"x\"\n}\n",
		"projects/p/s/subagents/w/agent-b.meta.json": "{}",
		"projects/p/s/subagents/agent-c.meta.json":   `{"type":"x"}`,
		"projects/p/s.meta.json":                     "{}",
		"projects/p/s/tool-results/b1.txt":           "text",
		"projects/tenant%2F1/s.jsonl":                "{}",
		"projects/p/empty.jsonl":                     "\n",
		"projects/loose.jsonl":                       "{}",
		"history.jsonl":                              "{}",
	}
	dir := write(t, files)
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "projects", "p", "link.jsonl")); err != nil {
		t.Fatal(err)
	}
	got, lost, err := load(dir, "")
	want := map[key][]string{
		{"p", "s", ""}:                    {`{"a":1}`, `{"b":2}`},
		{"p", "s", "subagents/agent-a"}:   {`{"c":3}`, `{"type":"agent_metadata","agentType":"x"}`},
		{"p", "s", "subagents/w/agent-b"}: {`{"type":"agent_metadata"}`},
		{"tenant/1", "s", ""}:             {`{}`},
	}
	if err != nil || len(got) != len(want) {
		t.Fatalf("%v, %v", got, err)
	}
	for k, lines := range want {
		if !slices.Equal(got[k], lines) {
			t.Errorf("%v: %q, want %q", k, got[k], lines)
		}
	}
	const all = `L551 5 history.jsonl projects/loose.jsonl projects/p/link.jsonl
L552 2 projects/p/empty.jsonl projects/p/s/subagents/agent-c.meta.json
L550 2 projects/p/s.jsonl:3 projects/p/s.jsonl:5
L553 1 projects/p/s/subagents/agent-c.meta.json`
	slices.Sort(lost)
	if sorted := strings.Split(all, "\n"); !slices.Equal(lost, slices.Sorted(slices.Values(sorted))) {
		t.Errorf("losses:\n%s", strings.Join(lost, "\n"))
	}
	if got, _, err := load(filepath.Join(dir, "projects", "p"), "q"); err != nil || len(got) != 3 || got[key{"q", "s", ""}] == nil {
		t.Errorf("a project's folder: %v, %v", got, err)
	}
	if got, _, err := load(filepath.Join(dir, "projects", "p", "s.jsonl"), "q"); err != nil || len(got) != 1 || got[key{"q", "s", ""}] == nil {
		t.Errorf("a file: %v, %v", got, err)
	}
	for at, why := range map[string]string{
		filepath.Join(dir, "projects", "p"): "project of its sessions is unknown", t.TempDir(): "project of its sessions is unknown", filepath.Join(dir, "gone"): "no such file",
		write(t, map[string]string{"projects/p/x.txt": ""}): "no sessions of Claude Code",
	} {
		if _, _, err := load(at, ""); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %s", at, err, why)
		}
	}
	if _, _, err := load(dir, "one"); err == nil || !strings.Contains(err.Error(), "the same session as") {
		t.Errorf("two projects with one session as one: %v", err)
	}
}

// TestChanged changes a file between the two passes over it.
func TestChanged(t *testing.T) {
	dir := write(t, map[string]string{"projects/p/s.jsonl": "{\"a\":1}\n"})
	s := &source{refuse: func(traits) string { return "" }, change: func(traits) []loss.Code { return nil }}
	defer s.close()
	if err := openSource(context.Background(), dir, "", s); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "projects/p/s.jsonl"), []byte("{\"a\":2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.entries(context.Background(), s.transcripts[0], func(entry) error { return nil }); err == nil {
		t.Error("a file that changed is placed")
	}
}

func TestFolder(t *testing.T) {
	at, notes := filepath.Join(t.TempDir(), "out"), losses{}
	f, err := newFolder(at, "store", notes.add)
	if err != nil {
		t.Fatal(err)
	}
	put := func(k key, line string, compact bool) error { return f.put(k, []byte(line), compact) }
	sub := key{"p", "s", "subagents/agent-a"}
	for _, step := range []struct {
		k       key
		line    string
		compact bool
	}{
		{key{"p", "s", ""}, `{"uuid": 1, "type": "user"}`, false},
		{key{"p", "s", ""}, `{"uuid":2,"type":"user","n":1.0}`, true},
		{key{"p", "s", ""}, `nothing`, true},
		{key{"p", "s", ""}, "{\"n\":\n3}", true},
		{sub, `{"type":"agent_metadata","old":1}`, true},
		{sub, `{"x": 1}`, false},
		{sub, `{"agentType": "look", "type": "agent_metadata"}`, false},
		{key{"../..", "/etc/passwd", "../../../x"}, `{}`, true},
	} {
		if err := put(step.k, step.line, step.compact); err != nil {
			t.Fatal(err)
		}
	}
	if err := put(key{"p", "s", ""}, "{}", true); err == nil {
		t.Error("a transcript in two parts")
	}
	if err := put(key{"p", strings.Repeat("x", 300), ""}, "{}", true); err == nil {
		t.Error("a name that is too long")
	}
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"%2E.%2F.%2E/%2Fetc%2Fpasswd/%2E%2E/%2E%2E/%2E%2E/x.jsonl": "{}\n",
		"p/s.jsonl":                       `{"type":"user","uuid":1}` + "\n" + `{"uuid":2,"type":"user","n":1.0}` + "\n" + `{"n":3}` + "\n",
		"p/s/subagents/agent-a.jsonl":     `{"x":1}` + "\n",
		"p/s/subagents/agent-a.meta.json": `{"agentType":"look"}`,
	}
	files := 0
	filepath.WalkDir(filepath.Join(at, "projects"), func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files++
			rel, _ := filepath.Rel(filepath.Join(at, "projects"), p)
			if b, _ := os.ReadFile(p); string(b) != want[filepath.ToSlash(rel)] {
				t.Errorf("%s: %q", rel, b)
			}
		}
		return err
	})
	if files != len(want) || len(notes.Groups()) != 2 {
		t.Errorf("%d files, notes %v", files, words(notes.Groups()))
	}
}

// TestFolderFolded makes a folder under a name that differs in case only, as some file systems do.
func TestFolderFolded(t *testing.T) {
	f, err := newFolder(filepath.Join(t.TempDir(), "out"), "store", (&losses{}).add)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	if err := f.root.Mkdir("P", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := f.put(key{"P", "s", ""}, []byte("{}"), true); err == nil || !strings.Contains(err.Error(), "case") {
		t.Errorf("sessions of two projects in one folder: %v", err)
	}
}

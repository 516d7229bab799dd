package convert_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/formatstest/graphgen"
	"rehome/formats/session"
)

// converted converts src to a new folder or file and returns it, and the remarks.
func converted(t *testing.T, src, name string, o convert.Options) (dst string, remarks []string) {
	t.Helper()
	dst = filepath.Join(t.TempDir(), name)
	o.BySession = true
	o.OnNotice = func(s string) { remarks = append(remarks, s) }
	if rep, err := convert.Convert(t.Context(), all.Registry(), src, dst, o); err != nil || !rep.Placed {
		t.Fatalf("%s -> %s: %v", src, o.To, err)
	}
	return dst, remarks
}

// tree returns the files below a path.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, root)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// states returns the blobs of all states in a store, and the roots, by session.
func states(t *testing.T, path, format string) (blobs, roots map[string]string) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	blobs, roots = map[string]string{}, map[string]string{}
	for s, err := range all.Registry().Lookup(format).Sessions.Decode(t.Context(), l, formats.View{OnNotice: func(string) {}}, session.Selection{}) {
		if err != nil || s.Graph == nil {
			t.Fatal(err, s)
		}
		root, whole, err := s.Graph.Copy(t.Context(), func(_ context.Context, id [32]byte, data []byte) error {
			blobs[hex.EncodeToString(id[:])] = string(data)
			return nil
		})
		if err != nil || !whole {
			t.Errorf("%s: the state of %s is not whole: %v", path, s.ID, err)
		}
		if s.Parent == nil {
			roots[s.ID] = hex.EncodeToString(root[:])
		}
	}
	return blobs, roots
}

// chatIn returns the folder of the only chat below a path.
func chatIn(t *testing.T, path string) string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(path, "chats", "*", "*"))
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	return all[0]
}

// edit replaces old, once, in the only file below dir whose name and content have these.
func edit(t *testing.T, dir, suffix, old, new string) {
	t.Helper()
	for path, text := range tree(t, dir) {
		if strings.HasSuffix(path, suffix) && strings.Contains(text, old) {
			if err := os.WriteFile(dir+path, []byte(strings.Replace(text, old, new, 1)), 0o666); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("no %s has %q", suffix, old)
}

var cursorFormats = []string{"cursor-chat", "cursor-sdk", "cursor-ndjson", "cursor-ide"}

// throughText converts a store to each format of Cursor's, directly and as canonical text,
// which must not make a difference.
func throughText(t *testing.T, store string) {
	t.Helper()
	folder, _ := converted(t, store, "text", convert.Options{To: "canonical"})
	file, _ := converted(t, store, "text.jsonl", convert.Options{To: "canonical"})
	again, _ := converted(t, folder, "again", convert.Options{To: "canonical"})
	equalTrees(t, "canonical", sorted(tree(t, again)), sorted(tree(t, folder)))
	for _, to := range cursorFormats {
		direct, _ := converted(t, store, "direct", convert.Options{To: to})
		want := tree(t, direct)
		texts := []string{file, folder}
		if to == "cursor-ide" {
			texts = texts[:1] // its rows are in the order of the sessions, which is that of names in a folder
		}
		for _, text := range texts {
			got, remarks := converted(t, text, "got", convert.Options{To: to})
			equalTrees(t, to, tree(t, got), want)
			if len(remarks) > 0 {
				t.Errorf("%s: %q", to, remarks)
			}
		}
	}
}

// sorted sorts the lines of sidecars: subagents are in the order in which they were read.
func sorted(files map[string]string) map[string]string {
	for path, text := range files {
		if formats.IsSidecar(path) {
			files[path] = strings.Join(slices.Sorted(strings.Lines(text)), "")
		}
	}
	return files
}

func equalTrees(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d files, want %d", what, len(got), len(want))
	}
	for path, text := range want {
		if got[path] != text {
			t.Errorf("%s: %s differs", what, path)
		}
	}
}

// TestStatesThroughText: the states of all samples, and of generated chats, survive.
func TestStatesThroughText(t *testing.T) {
	for _, sample := range []string{"chat/after.db", "sdk/e2e-jsonl", "sdk/gen/jsonl", "sdk/gen/sqlite", "sdk/legacy-1.0.14", "sdk/e2e-sqlite-hot-wal"} {
		throughText(t, filepath.Join("..", "testdata", filepath.FromSlash(sample)))
	}
	for shape := range graphgen.Shapes {
		p := graphgen.New(uint64(shape), shape)
		g := p.StrangeGraph()
		chat, err := p.WriteChat(t.Context(), t.TempDir(), g, graphgen.Odd{})
		if err != nil {
			t.Fatal(err)
		}
		throughText(t, chat)
		text, _ := converted(t, chat, "text", convert.Options{To: "canonical"})
		back, _ := converted(t, text, "back", convert.Options{To: "cursor-chat"})
		blobs, roots := states(t, chatIn(t, back), "cursor-chat")
		if roots[p.ID] != g.Root {
			t.Errorf("%s: the root is %q, not %s", shape, roots[p.ID], g.Root)
		}
		for i, b := range g.Blobs {
			if g.Reached(i) && blobs[b.ID] != string(b.Data) {
				t.Errorf("%s: blob %s is missing", shape, b.ID)
			}
		}
	}
}

// TestStateOfLoneSubagent is in that of its parent: without that it is rebuilt.
func TestStateOfLoneSubagent(t *testing.T) {
	_, _, chat, text := family(t)
	var id string
	for path, content := range tree(t, text) {
		if head, _, _ := strings.Cut(content, "\n"); strings.Contains(head, `"parent":{`) {
			id = strings.TrimSuffix(filepath.Base(path), ".jsonl")
		}
	}
	for _, to := range cursorFormats {
		for _, src := range []string{chat, text} {
			converted(t, src, "got", convert.Options{To: to, Sessions: []string{id}})
		}
	}
}

// family is a chat with subagents, and its text.
func family(t *testing.T) (p *graphgen.Plan, g *graphgen.Graph, chat, text string) {
	t.Helper()
	p = graphgen.New(3, graphgen.Whole)
	g = p.StrangeGraph()
	chat, err := p.WriteChat(t.Context(), t.TempDir(), g, graphgen.Odd{})
	if err != nil {
		t.Fatal(err)
	}
	text, _ = converted(t, chat, "text", convert.Options{To: "canonical"})
	return p, g, chat, text
}

// TestStateOfEditedText is rebuilt, whatever of the family was edited.
func TestStateOfEditedText(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, p *graphgen.Plan, text string) (remark string){
		"word": func(t *testing.T, p *graphgen.Plan, text string) string {
			edit(t, text, p.ID+".jsonl", `{"type":"text","text":"`, `{"type":"text","text":"an edited word `)
			return "edited, so"
		},
		"space": func(t *testing.T, p *graphgen.Plan, text string) string {
			edit(t, text, p.ID+".jsonl", `"role":"user"`, `"role":"user" `)
			return "edited, so"
		},
		"appended": func(t *testing.T, p *graphgen.Plan, text string) string {
			edit(t, text, p.ID+".jsonl", `{"type":"session"`, ` {"type":"session"`)
			return "edited, so"
		},
		"subagent": func(t *testing.T, p *graphgen.Plan, text string) string {
			edit(t, text, ".jsonl", `"parent":{`, `"parent": {`)
			return "edited, so"
		},
		"subagent removed": func(t *testing.T, p *graphgen.Plan, text string) string {
			removeChild(t, text)
			return "edited, so"
		},
		"subagent added": func(t *testing.T, p *graphgen.Plan, text string) string {
			one := `{"type":"session","version":1,"id":"added","agent":"cursor-cli","parent":{"session":"` + p.ID + `"}}` + "\n"
			if err := os.WriteFile(filepath.Join(text, "cursor-cli", "added.jsonl"), []byte(one), 0o666); err != nil {
				t.Fatal(err)
			}
			return "edited, so"
		},
		"blob": func(t *testing.T, p *graphgen.Plan, text string) string {
			edit(t, text, formats.SidecarSuffix, `","text":"`, `","text":"x`)
			return "sidecar damaged, so"
		},
		"name of blob": func(t *testing.T, p *graphgen.Plan, text string) string {
			edit(t, text, formats.SidecarSuffix, `{"blob":"`, `{"blob":"0`)
			return "sidecar damaged, so"
		},
		"line": func(t *testing.T, p *graphgen.Plan, text string) string {
			edit(t, text, formats.SidecarSuffix, `{"blob":"`, `{"blub":"`)
			return "sidecar damaged, so"
		},
		"root": func(t *testing.T, p *graphgen.Plan, text string) string {
			edit(t, text, formats.SidecarSuffix, `"root":"`, `"root":"0`)
			return "sidecar damaged, so"
		},
		"header": func(t *testing.T, p *graphgen.Plan, text string) string {
			edit(t, text, formats.SidecarSuffix, `"version":1`, `"version":9`)
			return "sidecar damaged, so"
		},
		"no sidecar": func(t *testing.T, p *graphgen.Plan, text string) string {
			at := filepath.Join(text, "cursor-cli", p.ID+".jsonl"+formats.SidecarSuffix)
			if err := os.Remove(at); err != nil {
				t.Fatal(err)
			}
			return ""
		},
	} {
		p, g, _, text := family(t)
		before, _ := converted(t, text, "before", convert.Options{To: "cursor-chat", Sidecar: "none"})
		want := change(t, p, text)
		back, remarks := converted(t, text, "back", convert.Options{To: "cursor-chat"})
		if got := strings.Join(remarks, "\n"); !strings.HasPrefix(got, want) || (want == "") != (got == "") {
			t.Errorf("%s: remarks %q, want %q", name, got, want)
		}
		if _, roots := states(t, chatIn(t, back), "cursor-chat"); roots[p.ID] == g.Root {
			t.Errorf("%s: the state is that of the sidecar", name)
		}
		if name == "word" {
			if now := said(t, chatIn(t, back), "cursor-chat"); !slices.Equal(now, said(t, text, "canonical")) || !strings.Contains(strings.Join(now, "\n"), "an edited word") {
				t.Errorf("the edited text is not read back: %q", now)
			}
		} else if !strings.Contains(name, "subagent ") {
			equalTrees(t, name, tree(t, back), tree(t, before))
		}
	}
}

// removeChild removes the text of a subagent.
func removeChild(t *testing.T, text string) {
	t.Helper()
	for path, content := range tree(t, text) {
		if head, _, _ := strings.Cut(content, "\n"); strings.Contains(head, `"parent":{`) {
			if err := os.Remove(text + path); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("no subagent")
}

// TestTextWithCRLF is not taken for edited: git may have converted it.
func TestTextWithCRLF(t *testing.T) {
	p, g, _, text := family(t)
	for path, content := range tree(t, text) {
		if err := os.WriteFile(text+path, bytes.ReplaceAll([]byte(content), []byte("\n"), []byte("\r\n")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	back, remarks := converted(t, text, "back", convert.Options{To: "cursor-chat"})
	if _, roots := states(t, chatIn(t, back), "cursor-chat"); roots[p.ID] != g.Root || len(remarks) > 0 {
		t.Errorf("root %s, want %s; remarks %q", roots[p.ID], g.Root, remarks)
	}
}

// TestStatesAreNotKept: a sidecar is not written if it is not wanted, and not of a session
// without a state.
func TestStatesAreNotKept(t *testing.T) {
	_, _, chat, _ := family(t)
	for _, store := range []string{chat, filepath.Join("..", "testdata", "codex")} {
		text, _ := converted(t, store, "text", convert.Options{To: "canonical", Sidecar: "none"})
		for path := range tree(t, text) {
			if formats.IsSidecar(path) {
				t.Errorf("%s: %s was written", store, path)
			}
		}
	}
}

// TestSidecarOfOtherText is not used, whichever of the two is the newer: a killed run leaves
// no other pairs.
func TestSidecarOfOtherText(t *testing.T) {
	versions := map[string]string{}
	for _, name := range []string{"before", "after"} {
		versions[name], _ = converted(t, filepath.Join("..", "testdata", "chat", name+".db"), name+".jsonl", convert.Options{To: "canonical"})
	}
	for name, other := range map[string]string{"before": "after", "after": "before"} {
		beside, err := os.ReadFile(versions[other] + formats.SidecarSuffix)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := converted(t, versions[name], "text.jsonl", convert.Options{To: "canonical", Sidecar: "none"})
		if err := os.WriteFile(text+formats.SidecarSuffix, beside, 0o600); err != nil {
			t.Fatal(err)
		}
		got, remarks := converted(t, text, "got", convert.Options{To: "cursor-chat"})
		want, _ := converted(t, versions[name], "want", convert.Options{To: "cursor-chat", Sidecar: "none"})
		equalTrees(t, name, tree(t, got), tree(t, want))
		if len(remarks) != 1 || !strings.HasPrefix(remarks[0], "edited, so") {
			t.Errorf("%s: remarks %q", name, remarks)
		}
	}
}

// TestUpdateOfStates: a sidecar is updated, and removed, with the text.
func TestUpdateOfStates(t *testing.T) {
	dir := t.TempDir()
	store, text := filepath.Join(dir, "store.db"), filepath.Join(dir, "text")
	update := func(version, kept string) (sidecars int) {
		b, err := os.ReadFile(filepath.Join("..", "testdata", "chat", version+".db"))
		if err == nil {
			err = os.WriteFile(store, b, 0o600)
		}
		if err == nil {
			_, err = convert.Convert(t.Context(), all.Registry(), store, text, convert.Options{To: "canonical", Update: true, Sidecar: kept, State: filepath.Join(dir, "state")})
		}
		if err != nil {
			t.Fatal(err)
		}
		for path := range tree(t, text) {
			if formats.IsSidecar(path) {
				sidecars++
				if info, err := os.Stat(text + path); err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%s: %v is not as private as the store: %v", path, info.Mode(), err)
				}
			}
		}
		return sidecars
	}
	for _, version := range []string{"before", "after"} {
		if n := update(version, ""); n != 1 {
			t.Errorf("%s: %d sidecars", version, n)
		}
		fresh, _ := converted(t, store, "fresh", convert.Options{To: "canonical"})
		equalTrees(t, version, tree(t, text), tree(t, fresh))
	}
	if n := update("after", "none"); n != 0 {
		t.Errorf("%d sidecars are left", n)
	}
}

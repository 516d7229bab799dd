package convert_test

import (
	"context"
	"encoding/hex"
	"io/fs"
	"maps"
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

// states returns the blobs of all states below a path, and the roots, by session.
func states(t *testing.T, path string) (blobs, roots map[string]string) {
	t.Helper()
	blobs, roots = map[string]string{}, map[string]string{}
	for f, err := range convert.Stores(t.Context(), all.Registry(), path, "", func(string) {}) {
		if err != nil {
			t.Fatal(err)
		}
		for s, err := range f.Detected[0].Format.Sessions.Decode(t.Context(), f.Loc, formats.FullView(1), session.Selection{}) {
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
	}
	if len(roots) == 0 {
		t.Errorf("%s: no states", path)
	}
	return blobs, roots
}

var cursorFormats = []string{"cursor-chat", "cursor-sdk", "cursor-ndjson", "cursor-ide"}

// TestStatesOfStores: the states of all samples, and of generated chats, go from store to
// store and back as the very blobs they are.
func TestStatesOfStores(t *testing.T) {
	same := func(store string, formats ...string) {
		want, roots := states(t, store)
		for _, to := range formats {
			got, _ := converted(t, store, "got", convert.Options{To: to})
			blobs, now := states(t, got)
			for id, root := range roots {
				if !slices.Contains(slices.Collect(maps.Values(now)), root) {
					t.Errorf("%s -> %s: the root %s of %s is lost", store, to, root, id)
				}
			}
			for id, data := range want {
				if blobs[id] != data {
					t.Errorf("%s -> %s: blob %s is missing", store, to, id)
				}
			}
		}
	}
	for _, sample := range []string{"e2e-jsonl", "gen/jsonl", "gen/sqlite", "legacy-1.0.14", "e2e-sqlite-hot-wal"} {
		same(filepath.Join("..", "testdata", "sdk", filepath.FromSlash(sample)), "cursor-sdk", "cursor-ndjson")
	}
	same(filepath.Join("..", "testdata", "chat", "after.db"), "cursor-chat", "cursor-sdk", "cursor-ndjson")
	for shape := range graphgen.Shapes {
		p := graphgen.New(uint64(shape), shape)
		g := p.StrangeGraph()
		chat, err := p.WriteChat(t.Context(), t.TempDir(), g, graphgen.Odd{})
		if err != nil {
			t.Fatal(err)
		}
		if _, roots := states(t, chat); roots[p.ID] != g.Root {
			t.Errorf("%s: the root is %q, not %s", shape, roots[p.ID], g.Root)
		}
		same(chat, "cursor-chat", "cursor-sdk", "cursor-ndjson")
	}
}

// TestStateOfLoneSubagent is in that of its parent: without that it is rebuilt.
func TestStateOfLoneSubagent(t *testing.T) {
	_, chat, text := family(t)
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
func family(t *testing.T) (p *graphgen.Plan, chat, text string) {
	t.Helper()
	p = graphgen.New(3, graphgen.Whole)
	chat, err := p.WriteChat(t.Context(), t.TempDir(), p.StrangeGraph(), graphgen.Odd{})
	if err != nil {
		t.Fatal(err)
	}
	text, _ = converted(t, chat, "text", convert.Options{To: "canonical"})
	return p, chat, text
}

// TestOldSidecar: what unreleased builds wrote beside canonical text has no say in what is
// restored, whatever is in it, and a remark names it.
func TestOldSidecar(t *testing.T) {
	text := filepath.Join("..", "golden", "compat", "canonical-5a7064e0", "chat.jsonl")
	bare := filepath.Join(t.TempDir(), "chat.jsonl")
	if b, err := os.ReadFile(text); err != nil || os.WriteFile(bare, b, 0o600) != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.CopyFS(filepath.Join(folder, "cursor-cli"), os.DirFS(filepath.Dir(text))); err != nil {
		t.Fatal(err)
	}
	for _, to := range cursorFormats {
		want, remarks := converted(t, bare, "got", convert.Options{To: to})
		if len(remarks) > 0 {
			t.Errorf("%s: %q", to, remarks)
		}
		got, remarks := converted(t, text, "got", convert.Options{To: to})
		equalTrees(t, to, tree(t, got), tree(t, want))
		if len(remarks) != 1 || !strings.HasPrefix(remarks[0], "1 file ignored (chat.jsonl.sidecar.ndjson): ") {
			t.Errorf("%s: %q", to, remarks)
		}
		if _, remarks = converted(t, folder, "got", convert.Options{To: to}); len(remarks) != 1 || !strings.HasPrefix(remarks[0], "2 files ignored (cursor-cli/chat.jsonl.sidecar.ndjson, ") {
			t.Errorf("%s: %q", to, remarks)
		}
	}
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

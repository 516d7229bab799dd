package agentwrite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/formatstest/graphgen"
	"rehome/formats/internal/agentwrite"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// decode returns the sessions of a store.
func decode(t *testing.T, path string) (out []*held) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	found, err := all.Registry().Detect(t.Context(), l)
	if err != nil || len(found) == 0 || found[0].Format.Sessions == nil {
		t.Logf("no sessions in %s: %v", path, err)
		return nil
	}
	for s, err := range found[0].Format.Sessions.Decode(t.Context(), l, formats.View{OnLoss: func(loss.Loss) {}, OnNotice: func(string) {}}, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, hold(t, s))
	}
	return out
}

// circle writes each session with its subagents, and reads it again.
func circle(t *testing.T, path string, o agentwrite.Options) {
	all := decode(t, path)
	for _, h := range all {
		if h.Parent != nil {
			continue
		}
		t.Run(h.ID, func(t *testing.T) {
			var children []*held
			for _, child := range all {
				if child.Parent != nil && child.Parent.Session == h.ID {
					children = append(children, child)
				}
			}
			w := write(t, o, h, children...)
			family := w.read(t, &h.Session)
			same(t, h, family[0], w)
			for _, child := range children {
				i := slices.IndexFunc(family, func(f *held) bool { return f.ID == child.ID })
				if i < 0 {
					t.Errorf("subagent %s is missing", child.ID)
					continue
				}
				same(t, child, family[i], w)
			}
			if os.Getenv("DUMP") != "" {
				for _, id := range w.order {
					t.Logf("%s %q", id.Short(), w.data[id])
				}
			}
		})
	}
}

// TestSamples writes sessions of every client and reads them again.
func TestSamples(t *testing.T) {
	root := filepath.Join("..", "..", "..", "testdata")
	found := 0
	for _, dir := range []string{"claude", "codex", "stream", "canonical", "transcript", "chat", "sdk/e2e-jsonl"} {
		err := filepath.WalkDir(filepath.Join(root, filepath.FromSlash(dir)), func(path string, d os.DirEntry, err error) error {
			if ext := filepath.Ext(path); err != nil || d.IsDir() || ext != ".jsonl" && ext != ".ndjson" && ext != ".db" {
				return err
			}
			if found++; filepath.Ext(path) == ".ndjson" && strings.Contains(dir, "sdk") {
				if filepath.Base(path) != "agents.ndjson" {
					return nil
				}
				path = filepath.Dir(path)
			}
			t.Run(filepath.ToSlash(path), func(t *testing.T) { circle(t, path, agentwrite.Options{}) })
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 30 {
		t.Errorf("only %d files found", found)
	}
}

// TestGenerated writes generated sessions of Cursor's own clients.
func TestGenerated(t *testing.T) {
	for seed := range uint64(10) {
		for shape := range graphgen.Shapes {
			p := graphgen.New(seed, shape)
			g, dir := p.Graph(), t.TempDir()
			chat, err := p.WriteChat(t.Context(), dir, g, graphgen.Odd{})
			if err != nil {
				t.Fatal(err)
			}
			t.Run(fmt.Sprint(shape, " ", seed), func(t *testing.T) { circle(t, chat, agentwrite.Options{}) })
		}
	}
}

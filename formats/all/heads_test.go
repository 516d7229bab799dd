package all

import (
	"os"
	"path/filepath"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// TestHeadsAgree: what heads tell without reading is what decoding finds, of
// every session that heads tell of.
func TestHeadsAgree(t *testing.T) {
	compared := 0
	for _, path := range []string{
		"chat/before.db", "chat/after.db",
		"sdk/e2e-sqlite-hot-wal/projects/tmp-e2eout-ws", "sdk/e2e-jsonl", "sdk/gen/sqlite", "sdk/gen/jsonl", "sdk/legacy-1.0.14",
		"sdk/e2e-sqlite-hot-wal/projects/tmp-e2eout-ws/agent-transcripts",
	} {
		// Away from the repository, so that nothing can be left beside it.
		at := filepath.Join(t.TempDir(), filepath.Base(path))
		if err := copied(filepath.Join("..", "..", "testdata", filepath.FromSlash(path)), at); err != nil {
			t.Fatal(err)
		}
		l, err := formats.Locate(at)
		if err != nil {
			t.Fatal(err)
		}
		found, err := Registry().Detect(t.Context(), l)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", path, found, err)
		}
		f := found[0].Format
		if f.Heads == nil || f.Decode == nil {
			t.Errorf("%s: %s has no heads, or cannot decode", path, f.Name)
			continue
		}
		v := formats.View{Note: func(loss.Note) {}, Say: func(string) {}}
		decoded := map[string]session.Head{}
		for s, err := range f.Decode(t.Context(), l, v, session.Selection{}) {
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			for _, err := range s.Messages {
				if err != nil {
					t.Fatalf("%s: %v", path, err)
				}
			}
			decoded[s.ID] = s.Head
		}
		for h, err := range f.Heads(t.Context(), l, v) {
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			d, ok := decoded[h.ID]
			if !ok {
				t.Errorf("%s: %s is listed and not decoded", path, h.ID)
				continue
			}
			compared++
			agree(t, path, h, &d)
		}
	}
	if compared < 9 {
		t.Errorf("only %d heads were compared", compared)
	}
}

// agree compares what a head does tell.
func agree(t *testing.T, path string, h, d *session.Head) {
	t.Helper()
	switch {
	case h.Agent != d.Agent,
		h.Title != "" && h.Title != d.Title,
		h.Workspace != "" && h.Workspace != d.Workspace,
		h.Created.Known() && h.Created != d.Created,
		h.Updated.Known() && h.Updated != d.Updated,
		h.Turns >= 0 && d.Turns >= 0 && h.Turns != d.Turns,
		h.Parent != nil && (d.Parent == nil || h.Parent.Session != d.Parent.Session):
		t.Errorf("%s: the head says\n%+v\nand the session\n%+v", path, *h, *d)
	}
}

func copied(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o666)
}

package mv_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/convert/mv"
)

// TestUnread: what cannot be read, or copied, is named, and does not keep the rest.
func TestUnread(t *testing.T) {
	h := newHome(t)
	h.write(".claude/projects/-home-ann-app/"+one+".jsonl", talk(one, h.old))
	memory := filepath.Dir(h.write(".claude/projects/-home-ann-app/memory/MEMORY.md", "learned\n"))
	link := filepath.Join(memory, "link.md")
	store := h.write(".cursor/projects/home-ann-app-sub/sdk-agent-store/s/index.db", "no database")
	transcript := h.write(".cursor/projects/home-ann-app-sub/agent-transcripts/"+two+".jsonl", "{}\n")
	newer := h.write(".cursor/sdk-agent-store/s/index.db", "no database")
	h.write(".cursor/projects/home-ann-application/sdk-agent-store/s/index.db", "of another project")
	if err := errors.Join(os.Symlink("MEMORY.md", link), os.Mkdir(filepath.Join(h.now, "sub"), 0o700)); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(h.now, "kept", "agents.ndjson")
	line := `{"agentId":"a1","cwd":"` + h.old + `"}` + "\n"
	if err := errors.Join(os.Mkdir(filepath.Dir(text), 0o700), os.WriteFile(text, []byte(line), 0o600), os.WriteFile(filepath.Join(h.now, "kept", "sidecar.ndjson"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	r := h.run(mv.Move, h.options())
	h.is(r, one+".jsonl moved, MEMORY.md moved")
	var left []string
	for _, l := range r.Left {
		left = append(left, l.Path)
	}
	want := []string{link, text, filepath.Dir(store), transcript, filepath.Dir(newer)}
	for _, path := range want {
		if n := strings.Count(strings.Join(left, "\n")+"\n", path+"\n"); n != 1 {
			t.Errorf("%d of %s in %q", n, path, left)
		}
	}
	if len(left) != len(want) {
		t.Errorf("left %q", left)
	}
	if b, err := os.ReadFile(text); string(b) != line || err != nil {
		t.Errorf("text of git changed: %s %v", b, err)
	}
}

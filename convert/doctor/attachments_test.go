package doctor_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestUnknownAttachment: of all kinds of attachments, only the one that no version writes
// is named, with the members of its line that are not known.
func TestUnknownAttachment(t *testing.T) {
	kinds, err := os.ReadFile("../../testdata/claude-attachments/kinds.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	n, parent := 0, "null"
	add := func(rest string) {
		n++
		id := fmt.Sprintf(`"00000000-0000-4000-8000-%012d"`, n)
		fmt.Fprintf(&file, `{"parentUuid":%s,"isSidechain":false,%s,"uuid":%s,"timestamp":"2026-01-02T03:%02d:%02d.000Z","userType":"external","entrypoint":"cli","cwd":"/p","sessionId":"11111111-2222-4333-8444-555555555555","version":"2.1.330","gitBranch":""}`+"\n",
			parent, rest, id, n/60, n%60)
		parent = id
	}
	add(`"type":"user","message":{"role":"user","content":"go"}`)
	for line := range bytes.Lines(kinds) {
		var k struct{ Attachment json.RawMessage }
		if err := json.Unmarshal(line, &k); err != nil {
			t.Fatal(err)
		}
		add(fmt.Sprintf(`"type":"attachment","attachment":%s`, k.Attachment))
	}
	add(`"type":"assistant","requestSessionId":"1","message":{"id":"m","type":"message","role":"assistant","model":"claude-opus-4-5","content":[{"type":"text","text":"done"}]}`)
	home := t.TempDir()
	path := filepath.Join(home, ".claude", "projects", "-p", "11111111-2222-4333-8444-555555555555.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := drift(t.Context(), t, home, 1), []string{"claude-code: 1 record attachment/a_kind_of_tomorrow in system"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

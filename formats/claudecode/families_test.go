package claudecode_test

import (
	"os"
	"path/filepath"
	"testing"

	"rehome/formats"
	"rehome/formats/claudecode"
	"rehome/formats/session"
)

// TestFamilies: subagents follow the session that started them, also where a client stored
// their files among the sessions.
func TestFamilies(t *testing.T) {
	dir := t.TempDir()
	const a, b = "10000000-0000-4000-8000-00000000000a", "20000000-0000-4000-8000-00000000000b"
	for name, line := range map[string]string{
		a:          `"sessionId":"` + a + `"`,
		b:          `"sessionId":"` + b + `"`,
		"agent-a2": `"isSidechain":true,"agentId":"a2","sessionId":"` + b + `"`,
		"agent-a3": `"isSidechain":true,"agentId":"a3","sessionId":"` + a + `"`,
		"agent-a4": `"isSidechain":true,"agentId":"a4","sessionId":"30000000-0000-4000-8000-00000000000c"`,
	} {
		line = `{"type":"user","uuid":"` + name + `","parentUuid":null,"timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","version":"2.0.77",` + line + `,"message":{"role":"user","content":"hi"}}`
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := formats.Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for s, err := range claudecode.Format().Sessions.Decode(t.Context(), l, formats.FullView(1), session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		got += s.ID[len(s.ID)-1:]
	}
	if got != "a3b24" {
		t.Errorf("the order is %s", got)
	}
}

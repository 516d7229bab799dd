package all_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"rehome/formats/session"
)

// TestReadWhileAppending: a line that is read while its client writes the second half of it
// is no broken line.
func TestReadWhileAppending(t *testing.T) {
	const id = "5d0b2b7e-1111-4000-8000-000000000000"
	for format, c := range map[string]struct{ path, first, line string }{
		"claude-code": {
			"projects/-x/" + id + ".jsonl",
			`{"type":"user","uuid":"00000000-0000-4000-8000-000000000001","parentUuid":null,"sessionId":"` + id + `","cwd":"/x","timestamp":"2026-11-01T10:00:00.000Z","message":{"role":"user","content":"one"}}`,
			`{"type":"assistant","uuid":"00000000-0000-4000-8000-000000000002","parentUuid":"00000000-0000-4000-8000-000000000001","sessionId":"` + id + `","message":{"role":"assistant","content":[{"type":"text","text":"two"}]}}`,
		},
		"codex": {
			"sessions/2026/11/01/rollout-2026-11-01T10-00-00-" + id + ".jsonl",
			`{"timestamp":"2026-11-01T10:00:00.000Z","type":"session_meta","payload":{"id":"` + id + `","timestamp":"2026-11-01T10:00:00.000Z","cwd":"/x","originator":"codex_cli_rs","cli_version":"0.120.0"}}`,
			`{"timestamp":"2026-11-01T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"two"}]}}`,
		},
	} {
		counted := 0
		for range 200 {
			dir := t.TempDir()
			path := filepath.Join(dir, filepath.FromSlash(c.path))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			half := c.first + "\n" + c.line[:50]
			begun := time.Now()
			if err := os.WriteFile(path, []byte(half), 0o600); err != nil {
				t.Fatal(err)
			}
			took := make(chan time.Duration, 1)
			go func() {
				time.Sleep(time.Millisecond)
				f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
				if err == nil {
					_, err = f.WriteString(c.line[50:] + "\n")
					f.Close()
				}
				if took <- time.Since(begun); err != nil {
					t.Error(err)
				}
			}()
			o := decodeStore(t, format, dir, session.Selection{})
			if <-took > 10*time.Millisecond {
				continue // the machine was busy: so long a pause is not waited for
			}
			if counted++; o.noted("L305") || o.noted("L301") {
				t.Fatalf("%s: %v", format, o.notes)
			}
			if counted == 20 {
				break
			}
		}
		if counted == 0 {
			t.Errorf("%s: no line was appended in time", format)
		}
	}
}

package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/convert/internal/walk"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// kind is what Claude Code made of an attachment when it resumed a session.
type kind struct {
	Record     bool // it made a message from the record
	Rendered   bool // it sent the text beside the record
	Attachment json.RawMessage
}

// attachmentKinds returns the recorded results, and a session with all attachments: each
// without text and with text.
func attachmentKinds(t *testing.T) (kinds []kind, path string) {
	t.Helper()
	text, err := os.ReadFile("../testdata/claude-attachments/kinds.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	lines := 0
	parent := "null"
	add := func(kind, rest string) {
		lines++
		id := fmt.Sprintf(`"00000000-0000-4000-8000-%012d"`, lines)
		fmt.Fprintf(&file, `{"parentUuid":%s,"isSidechain":false,"type":%q,%s,"uuid":%s,"timestamp":"2026-01-02T03:%02d:%02d.%03dZ","userType":"external","entrypoint":"cli","cwd":"/p","sessionId":"11111111-2222-4333-8444-555555555555","version":"2.1.330","gitBranch":""}`+"\n",
			parent, kind, rest, id, lines/60, lines%60, lines)
		parent = id
	}
	for line := range bytes.Lines(text) {
		var k kind
		if err := json.Unmarshal(line, &k); err != nil {
			t.Fatal(err)
		}
		for form, beside := range []string{"", fmt.Sprintf(`,"rendered":[{"content":"Rendered %d."}],"renderedRole":"user"`, len(kinds))} {
			add("user", fmt.Sprintf(`"message":{"role":"user","content":"Ask %d-%d."}`, len(kinds), form))
			add("attachment", fmt.Sprintf(`"attachment":%s%s`, k.Attachment, beside))
			add("assistant", fmt.Sprintf(`"message":{"id":"msg_%d","type":"message","role":"assistant","model":"claude-opus-4-5","content":[{"type":"text","text":"Answer."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":0,"output_tokens":0}}`, lines))
		}
		kinds = append(kinds, k)
	}
	path = filepath.Join(t.TempDir(), "11111111-2222-4333-8444-555555555555.jsonl")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return kinds, path
}

// told returns what each prompt of a session is told with: the context of its turn.
func told(t *testing.T, reg *formats.Registry, path string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for found, err := range walk.Stores(t.Context(), reg, path, nil, nil, func(walk.Item) {}) {
		if err != nil {
			t.Fatal(err)
		}
		for s, err := range found.Detected[0].Format.Sessions.Decode(t.Context(), found.Loc, formats.View{OnLoss: func(loss.Loss) {}, OnNotice: func(string) {}}, session.Selection{}) {
			if err != nil {
				t.Fatal(err)
			}
			hear(t, s, out)
		}
	}
	return out
}

// hear adds what the prompts of one session are told with.
func hear(t *testing.T, s *session.Session, out map[string]string) {
	t.Helper()
	at, before := "", ""
	for m, err := range s.Messages {
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case *session.Text:
				switch {
				case strings.HasPrefix(p.Text, "Ask "):
					at = p.Text
				case strings.HasPrefix(p.Text, "Answer."):
					out[at], before = before, ""
				default:
					before += p.Text
				}
			case *session.Injected:
				before += p.Text + string(p.Data)
			}
		}
	}
}

// TestAttachments: what Claude Code does not send when it resumes a session is nobody's
// words in any store, and what it sends is there, in the turn that it belongs to.
func TestAttachments(t *testing.T) {
	kinds, path := attachmentKinds(t)
	reg := all.Registry()
	check := func(t *testing.T, got map[string]string) {
		t.Helper()
		unsent := 0
		for i, k := range kinds {
			unknown := strings.Contains(string(k.Attachment), "a_kind_of_tomorrow") // it is not known to be sent
			for form, sent := range []bool{k.Record, k.Rendered && !unknown} {
				is, ok := got[fmt.Sprintf("Ask %d-%d.", i, form)]
				if !ok {
					t.Fatalf("turn %d-%d is missing", i, form)
				}
				if !sent {
					unsent++
				}
				if (is != "") != sent || form == 1 && sent && !strings.Contains(is, fmt.Sprintf("Rendered %d.", i)) {
					t.Errorf("%.200s (with text: %v): the model is told %.200q; Claude Code sends it: %v", k.Attachment, form == 1, is, sent)
				}
			}
		}
		if len(kinds) < 150 || unsent < 100 {
			t.Errorf("%d kinds, and %d unsent attachments", len(kinds), unsent)
		}
	}
	check(t, told(t, reg, path))
	canonical := filepath.Join(t.TempDir(), "c")
	if _, err := Convert(t.Context(), reg, path, canonical, Options{To: "canonical"}); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"claude-code", "cursor-chat", "cursor-sdk", "cursor-ndjson"} {
		t.Run(to, func(t *testing.T) {
			dst := filepath.Join(t.TempDir(), "dst")
			if _, err := Convert(t.Context(), reg, canonical, dst, Options{To: to, Sidecar: "none"}); err != nil {
				t.Fatal(err)
			}
			check(t, told(t, reg, dst))
		})
	}
}

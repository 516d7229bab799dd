package claudecode

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sent is what the client would send of a file: the way from the last prompt or
// answer to the root, as turns of one role each. It shares no code with the
// codec.
func sent(w *written) (turns []map[string]any) {
	byID := map[string]map[string]any{}
	var leaf map[string]any
	for _, l := range w.lines {
		if id, ok := l["uuid"].(string); ok {
			byID[id] = l
		}
		if l["type"] == "user" || l["type"] == "assistant" {
			leaf = l
		}
	}
	var chain []map[string]any
	for l := leaf; l != nil; {
		chain = append(chain, l)
		up, _ := l["parentUuid"].(string)
		l = byID[up]
	}
	slices.Reverse(chain)
	for _, l := range chain {
		m, _ := l["message"].(map[string]any)
		if m == nil {
			continue
		}
		blocks, ok := m["content"].([]any)
		if s, plain := m["content"].(string); plain {
			blocks, ok = []any{map[string]any{"type": "text", "text": s}}, true
		}
		if !ok {
			blocks = nil
		}
		if n := len(turns); n > 0 && turns[n-1]["role"] == m["role"] {
			turns[n-1]["content"] = append(turns[n-1]["content"].([]any), blocks...)
			continue
		}
		turns = append(turns, map[string]any{"role": m["role"], "content": blocks})
	}
	return turns
}

// lint holds what is sent against the rules of the API.
func lint(t *testing.T, w *written) {
	t.Helper()
	id, name := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`), regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	turns := sent(w)
	bad := func(i int, f string, args ...any) { t.Errorf("turn %d: %s", i, fmt.Sprintf(f, args...)) }
	if len(turns) == 0 {
		return // nothing was said
	}
	if turns[0]["role"] != "user" {
		t.Fatal("it does not begin with a user's turn")
	}
	seen := map[string]bool{}
	var open []string
	for i, turn := range turns {
		var uses, results []string
		for _, b := range turn["content"].([]any) {
			b := b.(map[string]any)
			switch b["type"] {
			case "text":
				if strings.TrimSpace(b["text"].(string)) == "" {
					bad(i, "an empty text")
				}
			case "image", "document", "redacted_thinking":
			case "thinking":
				if b["signature"] == nil || b["signature"] == "" {
					bad(i, "thinking without a signature")
				}
			case "tool_use":
				use := b["id"].(string)
				if _, ok := b["input"].(map[string]any); !ok || !id.MatchString(use) || !name.MatchString(b["name"].(string)) || seen[use] || turn["role"] != "assistant" {
					bad(i, "the call %v", b)
				}
				seen[use] = true
				uses = append(uses, use)
			case "tool_result":
				if b["content"] == "" && b["is_error"] == true || b["content"] == nil || turn["role"] != "user" {
					bad(i, "the result %v", b)
				}
				results = append(results, b["tool_use_id"].(string))
			default:
				bad(i, "a block of type %v", b["type"])
			}
		}
		slices.Sort(results)
		slices.Sort(open)
		if !slices.Equal(open, results) {
			bad(i, "calls %v have results %v", open, results)
		}
		open = uses
	}
	if len(open) > 0 {
		t.Errorf("calls %v have no results", open)
	}
}

package codex_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/codex"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// rollout is one that a test writes.
type rollout struct{ lines []string }

func newRollout() *rollout {
	return &rollout{lines: []string{`{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"0199aaaa-0000-7000-8000-000000000009","cwd":"/home/ann/app"}}`}}
}

func (r *rollout) add(kind string, payload map[string]any) {
	b, _ := json.Marshal(map[string]any{"timestamp": fmt.Sprintf("2026-01-01T00:%02d:%02d.000Z", len(r.lines)/60, len(r.lines)%60), "type": kind, "payload": payload})
	r.lines = append(r.lines, string(b))
}

func (r *rollout) event(kind string, more ...any) {
	p := map[string]any{"type": kind}
	for i := 0; i < len(more); i += 2 {
		p[more[i].(string)] = more[i+1]
	}
	r.add("event_msg", p)
}

// item adds what somebody says, as the model is sent it.
func (r *rollout) item(who, words string) {
	switch part := map[string]any{"type": "output_text", "text": words}; who {
	case "thinking":
		r.add("response_item", map[string]any{"type": "reasoning", "summary": []any{map[string]any{"type": "summary_text", "text": words}}})
	case "user":
		part["type"] = "input_text"
		fallthrough
	default:
		r.add("response_item", map[string]any{"type": "message", "role": who, "content": []any{part}})
	}
}

// shown adds what somebody says, as the client showed it.
func (r *rollout) shown(who, words string, newer bool) {
	switch parts := []any{map[string]any{"type": "text", "text": words}}; {
	case newer && who == "user":
		r.event("item_completed", "item", map[string]any{"type": "UserMessage", "id": "i", "content": parts})
	case newer && who == "assistant":
		r.event("item_completed", "item", map[string]any{"type": "AgentMessage", "id": "i", "content": parts})
	case newer:
		r.event("item_completed", "item", map[string]any{"type": "Reasoning", "id": "i", "summary_text": []string{words}, "raw_content": []string{}})
	case who == "user":
		r.event("user_message", "message", words, "kind", "plain")
	case who == "assistant":
		r.event("agent_message", "message", words)
	default:
		r.event("agent_reasoning", "text", words)
	}
}

// read is what a rollout is read as: who says what in the conversation, and beside it.
type read struct {
	live, aside []string
	turns       []int
	losses      map[loss.Code]int64
	account     session.Account
}

func (r *rollout) read(t *testing.T, history bool) (out read) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rollout-2026-01-01T00-00-00-0199aaaa-0000-7000-8000-000000000009.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(r.lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	var log loss.Log
	sel := session.Selection{History: history, Account: new(session.SharedAccount)}
	for s, err := range codex.Format().Sessions.Decode(t.Context(), l, formats.View{OnLoss: log.Add}, sel) {
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		ids := map[string]bool{"": true}
		for _, b := range s.Branches {
			names = append(names, b.Name)
		}
		for m, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			list := &out.live
			if ids[m.ID] = true; m.Branch != "" {
				if list = &out.aside; !slices.Contains(names, m.Branch) {
					t.Errorf("branch %q is not listed", m.Branch)
				}
			} else if m.Turn != nil {
				out.turns = append(out.turns, m.Turn.Number)
			}
			for _, p := range m.Parts {
				switch p := p.(type) {
				case *session.Text:
					*list = append(*list, string(m.Role)+" "+p.Text)
				case *session.Thinking:
					*list = append(*list, "thinking "+p.Text)
				case *session.ToolCall:
					*list = append(*list, "call "+string(p.Input))
				case *session.ToolResult:
					*list = append(*list, "result "+string(p.Value))
				case *session.Opaque:
					*list = append(*list, "opaque "+p.Kind)
				}
			}
		}
		for _, b := range s.Branches {
			if !ids[b.From] {
				t.Errorf("branch %s starts at %q", b.Name, b.From)
			}
		}
	}
	out.losses = map[loss.Code]int64{}
	for _, g := range log.Groups() {
		out.losses[g.Code] = g.Count
	}
	if out.account = sel.Account.Total(); out.account.Read != int64(len(r.lines)) || !out.account.Balanced() {
		t.Errorf("%d lines, %+v", len(r.lines), out.account)
	}
	return out
}

// TestEventsAlone: events of a turn that was interrupted, before the client stored what they
// say, are branches.
func TestEventsAlone(t *testing.T) {
	r := newRollout()
	r.item("user", "first")
	r.shown("user", "first", false)
	r.item("assistant", "one")
	r.shown("assistant", "one", false)
	r.shown("user", "first", false) // again, and never sent
	r.shown("thinking", "a thought", false)
	r.shown("assistant", "two", false)
	r.event("turn_aborted", "reason", "interrupted")
	r.item("user", "third")
	r.shown("user", "third", true)
	r.event("user_message", "message", "", "images", []string{"data:image/png;base64,aGk="})
	got := r.read(t, false)
	if want := []string{"user first", "assistant one", "user third"}; !slices.Equal(got.live, want) {
		t.Errorf("the conversation is %q", got.live)
	}
	if want := []string{"user first", "thinking a thought", "assistant two"}; !slices.Equal(got.aside, want) || got.losses[loss.EventUnsent] != 4 {
		t.Errorf("beside it are %q, %v", got.aside, got.losses)
	}
}

// TestRepeatsCompared: what a record is known to repeat is compared, and kept if nothing else
// says it.
func TestRepeatsCompared(t *testing.T) {
	for _, same := range []bool{true, false} {
		words := map[bool]string{true: "the last answer", false: "another answer"}[same]
		rules := map[bool]string{true: "Keep answers short.", false: "Keep answers long."}[same]
		r := newRollout()
		r.event("task_started", "turn_id", "t1")
		r.item("user", "# AGENTS.md instructions for /home/ann/app\n\n<INSTRUCTIONS>\nKeep answers short.\n</INSTRUCTIONS>")
		r.add("world_state", map[string]any{"full": true, "state": map[string]any{"agents_md": map[string]any{"directory": "/home/ann/app", "text": rules + "\n"}}})
		r.item("user", "go")
		r.item("assistant", "the last answer")
		r.shown("assistant", "the last answer", false)
		r.event("task_complete", "turn_id", "t1", "last_agent_message", words)
		got := r.read(t, false)
		live, aside := []string{"user go", "assistant the last answer"}, []string(nil)
		if !same {
			live, aside = append([]string{"opaque world_state"}, live...), []string{"assistant another answer"}
		}
		if !slices.Equal(got.live, live) || !slices.Equal(got.aside, aside) || got.losses[loss.EventUnsent] != int64(len(aside)) {
			t.Errorf("the same %v: the conversation is %q, beside it is %q, %v", same, got.live, got.aside, got.losses)
		}
	}
}

// TestEventsOfCalls: what an event says of a call becomes the value of its result, or is kept.
func TestEventsOfCalls(t *testing.T) {
	r := newRollout()
	r.item("user", "go")
	r.add("response_item", map[string]any{"type": "function_call", "name": "shell", "call_id": "c1", "arguments": "{}"})
	r.event("exec_command_end", "call_id", "c1", "stdout", "wet", "exit_code", 1)
	r.add("response_item", map[string]any{"type": "function_call_output", "call_id": "c1", "output": "w"})
	r.event("exec_command_end", "call_id", "c1", "stdout", "late")
	r.event("web_search_end", "call_id", "c2", "query", "stairs")
	r.add("response_item", map[string]any{"type": "web_search_call", "action": map[string]any{"type": "search", "query": "stairs"}})
	r.event("web_search_end", "call_id", "c3", "query", "rain")
	r.event("image_generation_end", "call_id", "c4", "result", "aGk=")
	got := r.read(t, false)
	if want := []string{"user go", "call {}", `result {"call_id":"c1","exit_code":1,"stdout":"wet","type":"exec_command_end"}`, "opaque exec_command_end",
		`call {"query":"stairs","type":"search"}`}; !slices.Equal(got.live, want) {
		t.Errorf("the conversation is %q", got.live)
	}
	if want := []string{"opaque web_search_end", "opaque image_generation_end"}; !slices.Equal(got.aside, want) {
		t.Errorf("beside it are %q", got.aside)
	}
}

// TestTurnsTakenBack: they are left out and named, or branches.
func TestTurnsTakenBack(t *testing.T) {
	r := newRollout()
	for _, words := range []string{"keep", "drop", "drop too", "end"} {
		r.event("task_started", "turn_id", words)
		r.item("user", words)
		r.shown("user", words, true)
		r.item("assistant", "re: "+words)
		r.shown("assistant", "alone: "+words, true)
		r.event("task_complete", "turn_id", words)
		if strings.HasPrefix(words, "drop") {
			r.event("thread_rolled_back", "num_turns", 1)
		}
	}
	live := []string{"user keep", "assistant re: keep", "user end", "assistant re: end"}
	for _, history := range []bool{false, true} {
		got := r.read(t, history)
		want := []string{"assistant alone: keep", "assistant alone: end"}
		if history {
			want = []string{"assistant alone: keep", "user drop", "assistant re: drop", "assistant alone: drop", "user drop too", "assistant re: drop too",
				"assistant alone: drop too", "assistant alone: end"}
		}
		if !slices.Equal(got.live, live) || !slices.Equal(got.turns, []int{1, 2}) || !slices.Equal(got.aside, want) {
			t.Errorf("history %v: %q, %v, beside it %q", history, got.live, got.turns, got.aside)
		}
		if n := got.losses[loss.TurnRolledBack]; history != (n == 0) {
			t.Errorf("history %v: %d turns are reported", history, n)
		}
	}
}

// TestEveryWord generates rollouts as clients write them, with items left out: all that
// anybody says arrives once where the model is sent it, and once beside it if only an event
// says it.
func TestEveryWord(t *testing.T) {
	for seed := range uint64(1000) {
		rnd := rand.New(rand.NewPCG(seed, 35))
		r := newRollout()
		var live, aside []string
		marked, newer, late := rnd.IntN(2) > 0, rnd.IntN(2) > 0, rnd.IntN(2) > 0
		for turn := range 1 + rnd.IntN(4) {
			if marked {
				r.event("task_started", "turn_id", fmt.Sprint(turn))
			}
			var held []string // items that the client writes after all events of a response
			for step := range 1 + rnd.IntN(5) {
				who := []string{"assistant", "thinking"}[rnd.IntN(2)]
				if step == 0 {
					who = "user"
				}
				words := []string{"yes", "", fmt.Sprintf("%d.%d says \"so\"\n\tand 你好 ", turn, step), "go on"}[rnd.IntN(4)]
				if step == 0 && words == "" {
					words = "and?"
				}
				hasItem := step == 0 && !marked || rnd.IntN(4) > 0
				if hasItem {
					live = append(live, who+" "+words)
				} else if words != "" {
					aside = append(aside, who+" "+words)
				}
				if hasItem && who == "user" {
					r.item(who, words)
				}
				r.shown(who, words, newer)
				if hasItem && who != "user" && late {
					held = append(held, who, words)
				} else if hasItem && who != "user" {
					r.item(who, words)
				}
			}
			for i := 0; i < len(held); i += 2 {
				r.item(held[i], held[i+1])
			}
			r.event([]string{"turn_aborted", "task_complete"}[rnd.IntN(2)])
		}
		got := r.read(t, true)
		if !slices.Equal(got.live, live) || !slices.Equal(slices.Sorted(slices.Values(got.aside)), slices.Sorted(slices.Values(aside))) {
			t.Fatalf("seed %d:\n%s\nthe conversation is\n%q, want\n%q\nbeside it are\n%q, want\n%q", seed, strings.Join(r.lines, "\n"), got.live, live, got.aside, aside)
		}
	}
}

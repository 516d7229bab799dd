package codex_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// canonical returns the canonical lines of a rollout.
func (r *rollout) canonical(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rollout-2026-01-01T00-00-00-0199aaaa-0000-7000-8000-000000000009.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(r.lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text, _ := told(t, path)
	return text
}

// TestSettings: what a client states of a thread and a turn repeats is not kept twice; anything else
// is, at every depth.
func TestSettings(t *testing.T) {
	r := newRollout()
	settings := func(model string, more ...any) {
		s := map[string]any{"model": model, "cwd": "/home/ann/app", "collaboration_mode": map[string]any{"mode": "plan"}}
		for i := 0; i < len(more); i += 2 {
			s[more[i].(string)] = more[i+1]
		}
		r.event("thread_settings_applied", "thread_id", "t", "thread_settings", s)
	}
	turn := func(model string) {
		r.event("task_started", "turn_id", model)
		r.add("turn_context", map[string]any{"model": model, "cwd": "/home/ann/app", "collaboration_mode": map[string]any{"mode": "plan"}})
		r.item("user", "Hello, "+model)
		r.event("task_complete")
	}
	settings("one")
	turn("one")
	settings("two", "speed", "high")
	turn("two")
	settings("three")
	r.event("token_count", "info", map[string]any{"last_token_usage": map[string]any{"total_tokens": 4, "dream_tokens": 77}}, "rate_limits", map[string]any{"primary": map[string]any{"used_percent": 3, "color": "red"}})
	text := r.canonical(t)
	for what, n := range map[string]int{
		`"thread_settings_applied.thread_settings.model","raw":"three"`: 1,
		`"thread_settings_applied.thread_settings.model"`:               1,
		`"thread_settings_applied.thread_settings.speed","raw":"high"`:  1,
		`"thread_settings_applied.thread_settings.cwd"`:                 0,
		`"thread_settings_applied.thread_settings.collaboration_mode"`:  0,
		`"token_count.info.last_token_usage.dream_tokens","raw":77`:     1,
		`"token_count.rate_limits.primary.color","raw":"red"`:           1,
		`used_percent`: 0,
	} {
		if got := strings.Count(text, what); got != n {
			t.Errorf("%s: %d times instead of %d in\n%s", what, got, n, text)
		}
	}
}

// TestStates: a state of the world is kept if the client did not tell the model what is in it, one
// word or many.
func TestStates(t *testing.T) {
	for name, one := range map[string]struct {
		local map[string]any
		kept  bool
	}{
		"told":        {map[string]any{"cwd": "/home/ann/app", "shell": "bash", "status": "available"}, false},
		"other shell": {map[string]any{"cwd": "/home/ann/app", "shell": "fish", "status": "available"}, true},
		"new member":  {map[string]any{"shell": "bash", "color": "green"}, true},
	} {
		r := newRollout()
		r.item("user", "<environment_context>\n<cwd>/home/ann/app</cwd>\n<shell>bash</shell>\n</environment_context>")
		r.add("world_state", map[string]any{"full": true, "state": map[string]any{"environments": map[string]any{"environments": map[string]any{"local": one.local}}}})
		r.item("user", "Hello.")
		text := r.canonical(t)
		if kept := strings.Contains(text, "fish") || strings.Contains(text, "green"); kept != one.kept {
			t.Errorf("%s: kept: %v in\n%s", name, kept, text)
		}
	}
}

package convert_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/formats/all"
	"rehome/formats/session"

	"rehome/formats"
)

// prompts returns what the user said in a session, and the texts of the answers.
func said(t *testing.T, path, format string) (out []string) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	for s, err := range all.Registry().Lookup(format).Sessions.Decode(t.Context(), l, formats.View{OnNotice: func(string) {}}, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		for m, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range m.Parts {
				if text, ok := p.(*session.Text); ok {
					out = append(out, fmt.Sprint(m.Role)+" "+text.Text)
				}
			}
		}
	}
	return out
}

// TestBack: a session of Claude Code is continued in the SDK; its new turns come back,
// once, and are taken out again.
func TestBack(t *testing.T) {
	h := newSDKHome(t)
	projects := filepath.Join(h.home, ".claude", "projects", "-work")
	original := filepath.Join(projects, filepath.Base(h.source))
	before, err := os.ReadFile(h.source)
	if err == nil {
		err = os.MkdirAll(projects, 0o700)
	}
	if err == nil {
		err = os.WriteFile(original, before, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSuffix(filepath.Base(h.source), ".jsonl")
	copied := h.expect(h.opts, convert.Placed)
	from := convert.BackSource{Path: h.store(), Format: "cursor-sdk", ID: copied.Session}
	to := convert.BackSource{Path: original, Format: "claude-code", ID: id}
	back := func(o convert.MigrateOptions) convert.Migrated {
		t.Helper()
		done, err := convert.Back(t.Context(), all.Registry(), from, to, o)
		if err != nil {
			t.Fatal(err)
		}
		return done.Migrated[0]
	}
	if m := back(h.opts); m.Status != convert.Same || m.Turns != 0 {
		t.Errorf("nothing new: %+v", m)
	}

	// Two turns more in the SDK.
	grow(t, h.source)
	grow(t, h.source)
	update := h.opts
	update.Update = true
	h.expect(update, convert.Updated)
	want := said(t, h.source, "claude-code")
	dry := h.opts
	dry.DryRun = true
	if m := back(dry); m.Status != convert.Checked || m.Turns != 2 {
		t.Errorf("dry: %+v", m)
	}
	if now, _ := os.ReadFile(original); !bytes.Equal(now, before) {
		t.Fatal("a dry run changed the original")
	}
	if m := back(h.opts); m.Status != convert.Updated || m.Turns != 2 || m.Undo == 0 {
		t.Errorf("back: %+v", m)
	}
	now, err := os.ReadFile(original)
	if err != nil || !bytes.HasPrefix(now, before) {
		t.Fatalf("the original's lines changed: %v", err)
	}
	if got := said(t, original, "claude-code"); !slices.Equal(got, want) {
		t.Errorf("the original says\n%q\nwant\n%q", got, want)
	}
	if m := back(h.opts); m.Status != convert.Same {
		t.Errorf("again: %+v", m)
	}

	// Undone, until the client continues it.
	if r := h.undo(""); !slices.Equal(r.Restored, []string{original}) || len(r.Kept) > 0 {
		t.Errorf("undone: %+v", r)
	}
	if now, _ := os.ReadFile(original); !bytes.Equal(now, before) {
		t.Error("undone, the original is not as it was")
	}
	back(h.opts)
	grow(t, original)
	if r := h.undo(""); len(r.Kept) != 1 || len(r.Restored) > 0 {
		t.Errorf("undone though it was continued: %+v", r)
	}

	// Continued in both.
	if err := os.WriteFile(original, before, 0o600); err != nil {
		t.Fatal(err)
	}
	growBy(t, original, "something else")
	if _, err := convert.Back(t.Context(), all.Registry(), from, to, h.opts); err == nil || !strings.Contains(err.Error(), id) || !strings.Contains(err.Error(), copied.Session) || !strings.Contains(err.Error(), "were continued after turn 2") {
		t.Errorf("continued in both: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(projects, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// TestBackWithTools: the turns that come back have answers and tool calls.
func TestBackWithTools(t *testing.T) {
	h := newSDKHome(t)
	projects := filepath.Join(h.home, ".claude", "projects", "-work")
	original := filepath.Join(projects, filepath.Base(h.source))
	if err := os.MkdirAll(projects, 0o700); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(h.source)
	if err != nil {
		t.Fatal(err)
	}
	// The longest beginning with one turn.
	lines := bytes.SplitAfter(content, []byte("\n"))
	begin := []byte(nil)
	for n := range lines {
		if err := os.WriteFile(original, bytes.Join(lines[:n], nil), 0o600); err != nil {
			t.Fatal(err)
		}
		if n > 0 && turnsOf(t, original) == 1 {
			begin = bytes.Join(lines[:n], nil)
		}
	}
	if err := os.WriteFile(original, begin, 0o600); err != nil || len(begin) == 0 {
		t.Fatal(err, len(begin))
	}
	copied := h.expect(h.opts, convert.Placed)
	done, err := convert.Back(t.Context(), all.Registry(), convert.BackSource{Path: h.store(), Format: "cursor-sdk", ID: copied.Session},
		convert.BackSource{Path: original, Format: "claude-code", ID: strings.TrimSuffix(filepath.Base(h.source), ".jsonl")}, h.opts)
	if err != nil {
		t.Fatal(err)
	}
	if m := done.Migrated[0]; m.Turns != 1 || m.Messages < 2 {
		t.Errorf("%+v", m)
	}
	if got, want := said(t, original, "claude-code"), said(t, h.store(), "cursor-sdk"); !slices.Equal(got[len(got)-3:], want[len(want)-3:]) {
		t.Errorf("the original ends\n%q\nwant\n%q", got[len(got)-3:], want[len(want)-3:])
	}
}

func turnsOf(t *testing.T, path string) (n int) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	for s, err := range all.Registry().Lookup("claude-code").Sessions.Decode(t.Context(), l, formats.View{OnNotice: func(string) {}}, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		for m, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			if m.Turn != nil {
				n++
			}
		}
	}
	return n
}

package sdkwrite_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/sdkwrite"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// turns lists the turns of the first session in a draft: its fields that runs hold.
func turns(t *testing.T, dir string) (out []string, all *session.Session) {
	t.Helper()
	decode(t, "cursor-ndjson", dir, func(s *session.Session) {
		if all != nil {
			return
		}
		all = s
		for m, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			if u := m.Turn; u != nil {
				out = append(out, fmt.Sprintf("%d %s|%s%s|%s %s|%v %d", u.Number, u.Kind, u.Model, extras(u), u.Status, u.Error, u.Usage != nil, m.At.Millis()))
			}
		}
	})
	return out, all
}

func extras(u *session.Turn) (out string) {
	for _, x := range u.Extras {
		out += fmt.Sprintf(" %s %s", x.Name, x.Raw)
	}
	return out
}

// TestTurns: what a turn says of itself comes back with it. Turns that were under way have
// ended, and commands of the user are no runs.
func TestTurns(t *testing.T) {
	ask := func(at int64, u session.Turn, parts ...session.Part) *session.Message {
		return &session.Message{ID: fmt.Sprint("m", at), Role: session.User, At: session.Stored(at), Turn: &u, Parts: parts}
	}
	text := func(s string) session.Part { return &session.Text{Text: s} }
	image := &session.Media{Mime: "image/png", Data: []byte("png")}
	s := talk("turns", nil,
		&session.Message{ID: "s", Role: session.System, At: session.Stored(500), Parts: []session.Part{text("be good")}},
		ask(1000, session.Turn{Model: "m1", Extras: []session.Extra{{Name: "model.params", Raw: session.Raw(`[{"id":"x","value":"y"}]`)}}, Usage: &session.Usage{Input: 1, Output: 2, CacheRead: -1, CacheWrite: -1, Reasoning: -1, Total: 3}}, text("one")),
		answer("yes", 1500),
		ask(2000, session.Turn{Status: "error", Error: "no network"}, text("two")),
		ask(3000, session.Turn{Status: "cancelled", ID: "x"}, text("two")),
		ask(4000, session.Turn{Kind: "shell"}, text("ls")),
		ask(5000, session.Turn{Status: "running", RequestID: "r", Extras: []session.Extra{{Name: "model.params", Raw: session.Raw("[1]")}}}, image),
		answer("an image", 5500),
		ask(6000, session.Turn{RequestID: "r", Mode: "plan"}, text("last")),
		&session.Message{ID: "late", Role: session.Assistant, Parts: []session.Part{text("without a time")}},
	)
	s.Mode, s.Status, s.Title = "plan", "running", "Ti\ttle"
	got, all := turns(t, draft(t, s))
	want := []string{`1 |m1 model.params [{"id":"x","value":"y"}]|finished |true 1000`, "2 ||error no network|false 2000", "3 ||cancelled |false 3000", "4 shell|| |false 4000", "5 | turnNumber 4|cancelled |false 5000", "6 | turnNumber 5|finished |false 6000"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if all.Title != s.Title || all.Mode != "plan" || all.Status != "idle" || all.Workspace != "/w" {
		t.Errorf("%+v", all)
	}
}

// TestLosses: what runs and agents do not hold is reported, and the writer declares it.
func TestLosses(t *testing.T) {
	var codes []loss.Code
	w := sdkwrite.Writer()
	sink := w.New().(formats.FamilySink)
	first := prompt("look", 1000)
	first.Turn.ID, first.Turn.Status = "t1", "running"
	s := talk("l", nil, first, &session.Message{ID: "a", Role: session.Assistant, Parts: []session.Part{&session.Text{Text: "yes"}}})
	s.Status = "running"
	b := formats.SessionBuild{Path: filepath.Join(t.TempDir(), "draft"), OnLoss: func(l loss.Loss) { codes = append(codes, l.Code) }}
	if _, err := sink.Put(t.Context(), s, b); err != nil {
		t.Fatal(err)
	}
	if err := sink.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []loss.Code{loss.TurnRecord, loss.TimeUnknown, loss.SessionMetadata, loss.TitleFromPrompt}; !slices.Equal(codes, want) {
		t.Errorf("%v, want %v", codes, want)
	}
	for _, code := range codes {
		if !slices.Contains(w.Losses, code) {
			t.Errorf("%s is not declared", code)
		}
	}
}

// TestNUL: the SDK reads titles, results and errors only up to a NUL, so none is written.
// What is changed is reported: a title and an error, but not a result, which repeats what
// the state holds exactly.
func TestNUL(t *testing.T) {
	failed := prompt("a\x00b", 2000)
	failed.Turn.Status, failed.Turn.Error = "error", "no\x00network"
	for _, c := range []struct {
		title, want string
		lost        []loss.Code
	}{
		{"ti\x00tle", "ti\uFFFDtle", []loss.Code{loss.TextRepaired, loss.TextRepaired}},
		{"", "a\uFFFDb", []loss.Code{loss.TextRepaired, loss.TitleFromPrompt}},
	} {
		s := talk("nul", nil, failed, answer("x\x00y", 2500))
		s.Title = c.title
		var lost []loss.Code
		sink := sdkwrite.Writer().New().(formats.FamilySink)
		path := filepath.Join(t.TempDir(), "draft")
		d, err := sink.Put(t.Context(), s, formats.SessionBuild{Path: path, OnLoss: func(l loss.Loss) { lost = append(lost, l.Code) }})
		if err = errors.Join(err, sink.Finish(t.Context()), d.Verify(t.Context())); err != nil {
			t.Fatal(err)
		}
		list, all := turns(t, path)
		answers := 0
		decode(t, "cursor-ndjson", path, func(s *session.Session) {
			for m, err := range s.Messages {
				if err != nil || m.Role != session.Assistant {
					continue
				}
				if answers++; m.Parts[0].(*session.Text).Text != "x\x00y" {
					t.Errorf("%s", session.AppendMessage(nil, m))
				}
			}
		})
		if answers != 1 {
			t.Errorf("%d answers", answers)
		}
		if want := []string{"1 ||error no\uFFFDnetwork|false 2000"}; all.Title != c.want || !slices.Equal(list, want) || !slices.Equal(lost, c.lost) {
			t.Errorf("title %q, turns %q, losses %q", all.Title, list, lost)
		}
		got := files(t, path)
		for _, name := range []string{"agents.ndjson", "runs.ndjson"} {
			if strings.Contains(got[name], `\u0000`) {
				t.Errorf("NUL in %s", got[name])
			}
		}
		if !strings.Contains(got["runs.ndjson"], `"result":"x y"`) || !strings.Contains(got["run_events.ndjson"], `x\u0000y`) {
			t.Errorf("the result is not as it should be: %s%s", got["runs.ndjson"], got["run_events.ndjson"])
		}
	}
}

// TestBesides: a run that no state has is written as one, in its place among the others, and
// none of it is sent. Other branches are left out.
func TestBesides(t *testing.T) {
	beside := func(m *session.Message, branch string) *session.Message {
		m.Branch = branch
		return m
	}
	stopped, call := prompt("two", 2000), answer("half", 2500)
	stopped.Turn.Status, stopped.Turn.ID = "cancelled", "r2"
	call.Parts = append(call.Parts, &session.Thinking{Text: "why"}, &session.ToolCall{ID: "c", Name: "odd", Args: session.Raw(`{"a":1}`)}, &session.Media{Mime: "image/png"})
	result := &session.Message{ID: "r", Role: session.Tool, Parts: []session.Part{&session.ToolResult{Call: "c", Value: session.Raw(`{"status":"success","value":{}}`)}}}
	s := talk("besides", nil, prompt("one", 1000), answer("yes", 1500), prompt("three", 3000), answer("no", 3500),
		beside(prompt("undone", 1700), "branch-1"), beside(stopped, "run-2"), beside(call, "run-2"), beside(result, "run-2"))
	s.Agent, s.Branches = session.CursorSDK, []session.Branch{{Name: "branch-1", From: "a yes"}, {Name: "run-2", From: "a yes"}, {Name: "run-9", From: "a yes"}}
	losses := map[loss.Code]int{}
	sink := sdkwrite.Writer().New().(formats.FamilySink)
	path := filepath.Join(t.TempDir(), "draft")
	d, err := sink.Put(t.Context(), s, formats.SessionBuild{Path: path, OnLoss: func(l loss.Loss) { losses[l.Code]++ }})
	if err = errors.Join(err, sink.Finish(t.Context()), d.Verify(t.Context())); err != nil {
		t.Fatal(err)
	}
	if losses[loss.BranchLeft] != 1 || losses[loss.PartOpaque] != 1 {
		t.Errorf("%v", losses)
	}
	var got []string
	decode(t, "cursor-ndjson", path, func(s *session.Session) {
		got = append(got, fmt.Sprint(s.Branches[0].Name, " of ", len(s.Branches)))
		for m, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			said := m.Branch + " " + string(m.Role)
			if m.Turn != nil {
				said += fmt.Sprintf(" %d %s %s", m.Turn.Number, m.Turn.Status, extras(m.Turn))
			}
			for _, p := range m.Parts {
				said += fmt.Sprintf(" %T", p)
			}
			got = append(got, said)
		}
	})
	want := []string{"run-2 of 1", " user 1 finished  *session.Text", " assistant *session.Text", " user 2 finished  turnNumber 4 *session.Text", " assistant *session.Text",
		"run-2 user 2 cancelled  *session.Text", "run-2 assistant *session.Text *session.Thinking *session.ToolCall", "run-2 tool *session.ToolResult"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

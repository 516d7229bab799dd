package search

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/formatstest/idegen"
	"rehome/formats/session"
)

// listed lists the samples of clients, and a store of the IDE.
func listed(t *testing.T) []sessions.Listed {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "User")
	if err := idegen.New(3, 30).Write(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	l, err := sessions.List(t.Context(), all.Registry(), sessions.Options{Paths: []string{dir, "../../testdata/claude/config", "../../testdata/chat", "../../testdata/codex/home", "../../testdata/sdk/e2e-jsonl", "../../testdata/sdk/e2e-sqlite-hot-wal"}})
	if err != nil || len(l.Sessions) < 20 {
		t.Fatalf("%d sessions, %v", len(l.Sessions), err)
	}
	return l.Sessions
}

// run searches and returns the hits, a line each.
func run(t *testing.T, list []sessions.Listed, o Options, words ...string) ([]string, *Report) {
	t.Helper()
	if o.Query == nil {
		var err error
		if o.Query, err = NewQuery(words, nil, SmartCase); err != nil {
			t.Fatal(err)
		}
	}
	var out []string
	r, err := Run(t.Context(), all.Registry(), list, o, func(h *Hit) bool {
		out = append(out, fmt.Sprintf("%s %s %d %s %s: %s", h.Session.Agent, h.Session.ID, h.Turn, h.Kind, h.Message, h.Text))
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return out, r
}

// TestSameAsDecoding: searching stored bytes first finds what decoding everything finds,
// with any number of workers, and decodes less.
func TestSameAsDecoding(t *testing.T) {
	list := listed(t)
	anything, err := NewQuery(nil, []string{`\pL{4,}`}, SmartCase)
	if err != nil {
		t.Fatal(err)
	}
	hits, _ := run(t, list, Options{Query: anything, Context: true})
	words := map[string]bool{}
	for _, h := range hits {
		_, text, _ := strings.Cut(h, ": ")
		for _, w := range regexp.MustCompile(`[\pL\pN_]+`).FindAllString(text, -1) {
			words[strings.ToLower(w)] = true
		}
	}
	sorted := slices.Sorted(maps.Keys(words))
	if len(sorted) < 200 {
		t.Fatalf("%d words", len(sorted))
	}
	decoded, stores := 0, 0
	for i := 0; i < len(sorted); i += len(sorted) / 25 {
		terms := []string{sorted[i]}
		if i%2 > 0 {
			terms = append(terms, sorted[i*7%len(sorted)])
		}
		want, _ := run(t, list, Options{Context: true, decodeAll: true}, terms...)
		got, r := run(t, list, Options{Context: true, Jobs: 1 + i%3}, terms...)
		if !slices.Equal(got, want) {
			t.Errorf("%q: %d matches, and %d if everything is decoded", terms, len(got), len(want))
		}
		decoded, stores = decoded+r.Decoded, stores+r.Stores
	}
	if decoded == 0 || decoded*2 > stores {
		t.Errorf("%d of %d stores were decoded", decoded, stores)
	}
}

// TestRunStops: a search ends early when its consumer or its context does.
func TestRunStops(t *testing.T) {
	list := listed(t)
	q, err := NewQuery([]string{"the"}, nil, SmartCase)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if _, err := Run(t.Context(), all.Registry(), list, Options{Query: q}, func(*Hit) bool { n++; return n < 3 }); err != nil || n != 3 {
		t.Errorf("%d matches, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := Run(ctx, all.Registry(), list, Options{Query: q}, func(*Hit) bool { cancel(); return true }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	all, _ := run(t, list, Options{Query: q})
	first, _ := run(t, list, Options{Query: q, First: true})
	seen := map[string]bool{}
	for _, h := range first {
		id := strings.Join(strings.Fields(h)[:2], " ")
		if seen[id] {
			t.Errorf("%s is found twice", id)
		}
		seen[id] = true
	}
	if len(first) == 0 || len(first) >= len(all) {
		t.Errorf("%d sessions, %d matches", len(first), len(all))
	}
}

// TestRequest finds a turn by the id of its request.
func TestRequest(t *testing.T) {
	list := listed(t)
	found := 0
	for _, s := range list {
		if s.Agent != session.CursorIDE {
			continue
		}
		for _, id := range requests(t, &s) {
			q, err := NewRequestQuery(id)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := run(t, list, Options{Query: q}); len(got) == 0 || !strings.Contains(got[0], s.ID) {
				t.Errorf("request %s of %s: %q", id, s.ID, got)
			}
			found++
		}
		if found > 5 {
			break
		}
	}
	if found == 0 {
		t.Error("no requests")
	}
	if got, _ := run(t, list, Options{Query: &Query{request: "none", terms: nil}, decodeAll: true}); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// requests returns the ids of the requests of a session.
func requests(t *testing.T, s *sessions.Listed) (out []string) {
	loc, err := formats.Locate(s.Sources[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	for one := range all.Registry().Lookup(s.Sources[0].Format).Sessions.Decode(t.Context(), loc, formats.FullView(1), session.Selection{IDs: []string{s.ID}}) {
		for m := range one.Messages {
			if m != nil && m.Turn != nil && m.Turn.RequestID != "" {
				out = append(out, m.Turn.RequestID)
			}
		}
	}
	return out
}

// TestDeltas: in either store of the SDK a word is found that begins in one event of a run
// and ends in another. Only the agent that has it is decoded, and none for a word that is
// nowhere.
func TestDeltas(t *testing.T) {
	dir := t.TempDir()
	lines, root := filepath.Join(dir, "lines"), filepath.Join(dir, "root")
	writeDeltas(t, lines, map[string][]string{"a": {"a nee", "dle in", " hay"}, "b": {"a knitting nee", "dlework"}})
	if _, err := convert.Convert(t.Context(), all.Registry(), lines, root, convert.Options{To: "cursor-sdk"}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{lines, root} {
		l, err := sessions.List(t.Context(), all.Registry(), sessions.Options{Paths: []string{path}})
		if err != nil || len(l.Sessions) != 2 {
			t.Fatalf("%d sessions, %v", len(l.Sessions), err)
		}
		for _, c := range []struct{ word, found string }{{"needle in", "a"}, {"needle", "a b"}, {"needlework", "b"}, {"hay", "a"}, {"needles", ""}, {"xylophones", ""}} {
			q, err := NewQuery([]string{c.word}, nil, SmartCase)
			if err != nil {
				t.Fatal(err)
			}
			got, r := run(t, l.Sessions, Options{Query: q})
			if len(got) != len(strings.Fields(c.found)) || r.Decoded != min(len(got), 1) {
				t.Errorf("%s: %s: %q, %+v", path, c.word, got, r)
			}
			s := &searcher{ctx: t.Context(), o: Options{Query: q}, listed: map[string]bool{}, out: &Report{}}
			s.plan(all.Registry(), l.Sessions)
			ids, err := s.candidates(s.stores[0])
			for i, id := range ids {
				ids[i] = id[len(id)-1:]
			}
			slices.Sort(ids)
			if strings.Join(ids, " ") != c.found && c.word != "needle in" || err != nil {
				t.Errorf("%s: %s: %q can match, %v", path, c.word, ids, err)
			}
		}
	}
	for _, path := range []string{"../../testdata/sdk/e2e-jsonl", "../../testdata/sdk/e2e-sqlite-hot-wal"} {
		l, err := sessions.List(t.Context(), all.Registry(), sessions.Options{Paths: []string{path}})
		if err != nil {
			t.Fatal(err)
		}
		if got, r := run(t, l.Sessions, Options{}, "xylophones"); len(got) != 0 || r.Decoded != 0 || r.Stores == 0 {
			t.Errorf("%s: %q, %+v", path, got, r)
		}
	}
}

// TestNotSent: a prompt whose run was cancelled is found, and said to be of no turn.
func TestNotSent(t *testing.T) {
	l, err := sessions.List(t.Context(), all.Registry(), sessions.Options{Paths: []string{"../../testdata/sdk/play/jsonl"}})
	if err != nil {
		t.Fatal(err)
	}
	q, err := NewQuery([]string{"play: stall"}, nil, SmartCase)
	if err != nil {
		t.Fatal(err)
	}
	var got []*Hit
	if _, err := Run(t.Context(), all.Registry(), l.Sessions, Options{Query: q}, func(h *Hit) bool {
		got = append(got, h)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Kind != "prompt" || got[0].Branch == "" || got[0].Turn != 0 {
		t.Errorf("%+v", got)
	}
}

// writeDeltas writes a store of lines with an agent for each letter, and what its run said
// in deltas.
func writeDeltas(t *testing.T, dir string, said map[string][]string) {
	t.Helper()
	lines := map[string]string{}
	for _, letter := range slices.Sorted(maps.Keys(said)) {
		agent, run1 := "agent-00000000-0000-4000-8000-00000000000"+letter, "run-00000000-0000-4000-8000-00000000000"+letter
		lines["agents.ndjson"] += `{"agentId":"` + agent + `","cwd":"/w","status":"idle","name":"","createdAt":1,"updatedAt":2}` + "\n"
		lines["runs.ndjson"] += `{"runId":"` + run1 + `","agentId":"` + agent + `","turnNumber":1,"status":"finished","createdAt":1,"updatedAt":2,"startedAt":1}` + "\n"
		for i, text := range said[letter] {
			lines["run_events.ndjson"] += fmt.Sprintf(`{"runId":"%[1]s","seq":%[2]d,"offset":"%[2]d","eventType":"run_stream_event","payload":{"schemaVersion":1,"type":"sdk_message","agentId":"%[3]s","runId":"%[1]s","message":{"type":"assistant","agent_id":"%[3]s","run_id":"%[1]s","message":{"role":"assistant","content":[{"type":"text","text":"%[4]s"}]}}},"createdAt":"2026-11-20T09:03:59.864Z"}`+"\n", run1, i+1, agent, text)
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range lines {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUnreadable: a store that is gone or damaged is reported, and the others are
// searched.
func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"0a000000-0000-4000-8000-000000000001", "0a000000-0000-4000-8000-000000000002"} {
		line := `{"type":"user","uuid":"` + id + `","sessionId":"` + id + `","cwd":"/w","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"a needle in hay"}}` + "\n"
		if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var list []sessions.Listed
	for _, f := range []string{"1", "2"} {
		l, err := sessions.List(t.Context(), all.Registry(), sessions.Options{Paths: []string{filepath.Join(dir, "0a000000-0000-4000-8000-00000000000"+f+".jsonl")}})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, l.Sessions...)
	}
	if got, r := run(t, list, Options{}, "NEEDLE"); len(got) != 0 || r.Decoded != 0 || r.Stores != 2 {
		t.Errorf("%q, %+v", got, r)
	}
	if err := os.Remove(list[0].Sources[0].Path); err != nil {
		t.Fatal(err)
	}
	got, r := run(t, list, Options{}, "needle", "hay") // the titles are listed already

	if len(got) != 3 || len(r.Unread) != 1 || r.Unread[0].Path != list[0].Sources[0].Path || r.Decoded != 1 {
		t.Errorf("%q, %+v", got, r)
	}
}

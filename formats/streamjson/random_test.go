package streamjson_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/formatstest"
	"rehome/formats/formatstest/streamgen"
	"rehome/formats/session"
	"rehome/formats/streamjson"
	"rehome/golden"
)

// made writes a capture of several made-up sessions, their runs mixed.
func made(t testing.TB, seed uint64) (path string, sessions []*streamgen.Session) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 5))
	var runs [][]string
	style := streamgen.Style{Partial: seed%2 == 0, Noise: seed%3 == 0, CRLF: seed%5 == 0}
	for n := range 1 + rng.IntN(3) {
		s := streamgen.Make(rng, n)
		sessions = append(sessions, s)
		runs = append(runs, streamgen.Runs(rng, s, style))
	}
	var text strings.Builder
	order := []*streamgen.Session{}
	began := map[int]bool{}
	for len(began) < len(runs) || left(runs) > 0 {
		i := rng.IntN(len(runs))
		if len(runs[i]) == 0 {
			continue
		}
		if !began[i] {
			began[i] = true
			order = append(order, sessions[i])
		}
		text.WriteString(runs[i][0])
		runs[i] = runs[i][1:]
	}
	path = filepath.Join(t.TempDir(), "capture.jsonl")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, order
}

func left(runs [][]string) (n int) {
	for _, r := range runs {
		n += len(r)
	}
	return n
}

// plain spells a message without what the generator does not say.
func plain(m *session.Message) string {
	c := *m
	c.ID, c.At, c.End, c.Extras, c.Origin = "", session.Stamp{}, session.Stamp{}, nil, nil
	if m.Turn != nil {
		turn := *m.Turn
		turn.Start, turn.End, turn.Extras = session.Stamp{}, session.Stamp{}, nil
		c.Turn = &turn
	}
	c.Parts = nil
	for _, p := range m.Parts {
		switch t := p.(type) {
		case *session.Text:
			p = &session.Text{Text: t.Text}
		case *session.Thinking:
			p = &session.Thinking{Text: t.Text}
		case *session.ToolCall:
			p = &session.ToolCall{ID: t.ID, Name: t.Name, Kind: t.Kind, Args: t.Args}
		case *session.ToolResult:
			p = &session.ToolResult{Call: t.Call, Status: t.Status, Error: t.Error, Value: t.Value}
		case *session.Opaque:
			continue // noise
		}
		c.Parts = append(c.Parts, p)
	}
	if len(c.Parts) == 0 && c.Turn == nil {
		return ""
	}
	return string(session.AppendMessage(nil, &c)) + "\n"
}

// TestRandom makes sessions up, writes them as captures, and reads them back.
func TestRandom(t *testing.T) {
	for seed := range uint64(150) {
		path, sessions := made(t, seed)
		l, err := formats.Locate(path)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		sel := session.Selection{Account: new(session.SharedAccount)}
		for s, err := range streamjson.Format().Sessions.Decode(t.Context(), l, formats.View{}, sel) {
			if err != nil {
				t.Fatal(err)
			}
			if n >= len(sessions) {
				t.Fatalf("seed %d: more sessions than were made", seed)
			}
			want := sessions[n]
			n++
			if s.ID != want.ID || s.Workspace != want.Workspace || s.Model != want.Model || s.Head.Turns != want.Turns || s.Title != want.Title {
				t.Errorf("seed %d: %+v, want %+v", seed, s.Head, want.Head)
			}
			same(t, seed, s, want)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if tally := sel.Account.Total(); n != len(sessions) || !tally.Balanced() || tally.Read != int64(bytes.Count(raw, []byte("\n"))) {
			t.Errorf("seed %d: %d of %d sessions, %+v", seed, n, len(sessions), tally)
		}
		if seed%5 == 0 {
			formatstest.Scanned(t, streamjson.Format(), path)
		}
	}
}

func same(t *testing.T, seed uint64, s *session.Session, want *streamgen.Session) {
	t.Helper()
	var got, should strings.Builder
	for m, err := range s.Messages {
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString(plain(m))
	}
	for _, m := range want.Messages {
		should.WriteString(plain(m))
	}
	if got.String() != should.String() {
		t.Fatalf("seed %d, %s:\n%s", seed, s.ID, golden.Diff([]byte(should.String()), []byte(got.String())))
	}
}

package streamjson_test

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/session"
	"rehome/formats/streamjson"
)

// TestLive reads captures through a pipe: the same is told as of a file, but
// that results stand at the end of their runs.
func TestLive(t *testing.T) {
	for seed := range uint64(60) {
		path, sessions := made(t, seed)
		if len(sessions) > 1 {
			continue // on a pipe, mixed sessions are told in pieces
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range sessions[0].Messages {
			if m.Turn != nil {
				m.Turn = &session.Turn{Number: m.Turn.Number, Model: m.Turn.Model}
			}
		}
		sel := session.Selection{Account: new(session.SharedAccount)}
		n := 0
		for s, err := range streamjson.Format().Sessions.Stream(t.Context(), bytes.NewReader(raw), formats.View{}, sel) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			same(t, seed, s, sessions[0])
		}
		if tally := sel.Account.Total(); n != 1 || !tally.Balanced() || tally.Read != count(raw) {
			t.Errorf("seed %d: %d sessions, %+v", seed, n, tally)
		}
	}
}

// TestLiveSamples puts the samples through a pipe: whatever they hold, every
// line is accounted for.
func TestLiveSamples(t *testing.T) {
	for _, path := range files(t) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var text []byte
		sel := session.Selection{Account: new(session.SharedAccount)}
		for s, err := range streamjson.Format().Sessions.Stream(t.Context(), bytes.NewReader(raw), formats.View{}, sel) {
			if err != nil {
				t.Fatal(err)
			}
			text = lines(t, text, s)
		}
		if tally := sel.Account.Total(); !tally.Balanced() || tally.Read != count(raw) {
			t.Errorf("%s: %+v", path, tally)
		}
		if strings.Contains(path, "partial") && !bytes.Contains(text, []byte(`"kind":"result/success"`)) {
			t.Errorf("%s: the result is lost:\n%s", path, text)
		}
	}
}

// TestLiveAsItComes holds the client back: what it has said must be out before
// it goes on.
func TestLiveAsItComes(t *testing.T) {
	r, w := io.Pipe()
	say := func(line string) { go func() { _, _ = io.WriteString(w, line+"\n") }() }
	say(`{"type":"system","subtype":"init","cwd":"/home/ann","session_id":"s","model":"M"}` + "\n" + `{"type":"user","message":{"role":"user","content":"hello"},"session_id":"s"}`)
	var got []string
	for s, err := range streamjson.Format().Sessions.Stream(t.Context(), r, formats.View{}, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		if s.ID != "s" || s.Title != "hello" || s.Workspace != "/home/ann" || s.Model != "M" {
			t.Errorf("%+v", s)
		}
		for m, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(m.Role))
			switch len(got) {
			case 1:
				say(`{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"readToolCall":{"args":{}}},"session_id":"s"}` + "\n" +
					`{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"readToolCall":{"args":{},"result":{"success":{}}}},"session_id":"s"}` + "\n" +
					`{"type":"assistant","message":{"role":"assistant","content":"done"},"session_id":"s"}`)
			case 3:
				say(`{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"s"}`)
			case 4:
				go w.Close()
			}
		}
	}
	if want := "user assistant tool assistant system"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLivePassing goes on to the next session when nobody walks the first, or
// walks only a part of it.
func TestLivePassing(t *testing.T) {
	raw, err := os.ReadFile(samples + "/sessions.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, walk := range []int{0, 1, 99} {
		var ids []string
		for s, err := range streamjson.Format().Sessions.Stream(t.Context(), bytes.NewReader(raw), formats.View{}, session.Selection{}) {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, s.ID[len(s.ID)-1:])
			n := 0
			for range s.Messages {
				if n++; n >= walk {
					break
				}
			}
		}
		if got := strings.Join(ids, ""); got != "1212" {
			t.Errorf("%d messages of each: sessions %s", walk, got)
		}
	}
	for s, err := range streamjson.Format().Sessions.Stream(t.Context(), bytes.NewReader(raw), formats.View{}, session.Selection{IDs: []string{"5e550000-0000-4000-8000-000000000002"}}) {
		if err != nil || !strings.HasSuffix(s.ID, "2") {
			t.Error(s, err)
		}
	}
}

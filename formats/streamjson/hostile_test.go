package streamjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/streamjson"
)

// written lays a capture down.
func written(t testing.TB, data []byte) *formats.Location {
	t.Helper()
	path := filepath.Join(t.TempDir(), "capture.jsonl")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// walked decodes anything: what comes of it is JSON, has a name of its own, and
// the books balance over all lines.
func walked(t testing.TB, data []byte) string {
	t.Helper()
	l := written(t, data)
	var notes loss.Log
	sel := session.Selection{Account: new(session.SharedAccount)}
	var text []byte
	var ids []string
	for s, err := range streamjson.Format().Sessions.Decode(t.Context(), l, formats.View{OnLoss: notes.Add}, sel) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, s.ID)
		text = checked(t, text, s)
	}
	tally := sel.Account.Total()
	if n := count(data); tally.Read != n || !tally.Balanced() {
		t.Fatalf("%d lines, %+v", n, tally)
	}
	var heads []string
	for h, err := range streamjson.Format().Sessions.Heads(t.Context(), l, formats.View{}) {
		if err != nil {
			t.Fatal(err)
		}
		heads = append(heads, h.ID)
	}
	if fmt.Sprintf("%q", heads) != fmt.Sprintf("%q", ids) {
		t.Fatalf("%q are listed, %q decoded", heads, ids)
	}
	return string(ledger(text, &notes))
}

func checked(t testing.TB, text []byte, s *session.Session) []byte {
	t.Helper()
	line := session.AppendHead(nil, s)
	if !json.Valid(line) {
		t.Fatalf("no JSON: %s", line)
	}
	text = append(append(text, line...), '\n')
	seen := map[string]bool{}
	turn := 0
	for m, err := range s.Messages {
		if err != nil {
			t.Fatal(err)
		}
		line := session.AppendMessage(nil, m)
		if !json.Valid(line) || bytes.IndexByte(line, '\n') >= 0 {
			t.Fatalf("no line of JSON: %s", line)
		}
		if seen[m.ID] {
			t.Fatalf("two messages are named %s", m.ID)
		}
		seen[m.ID] = true
		if m.Turn != nil {
			if turn++; m.Turn.Number != turn || m.Role != session.User {
				t.Fatalf("turn %d stands on a message of %s as number %d", turn, m.Role, m.Turn.Number)
			}
		}
		text = append(append(text, line...), '\n')
	}
	return text
}

func count(data []byte) int64 {
	n := int64(bytes.Count(data, []byte("\n")))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// TestCut cuts every sample at each line and near each line's ends: a stream
// can stop anywhere.
func TestCut(t *testing.T) {
	for _, path := range files(t) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range raw {
			if c == '\n' {
				for _, cut := range []int{i - 20, i, i + 1, i + 9} {
					walked(t, raw[:min(max(cut, 0), len(raw))])
				}
			}
		}
	}
}

// TestOutcome: a run failed if its result says so. A word that nobody has
// described is no failure.
func TestOutcome(t *testing.T) {
	for result, want := range map[string]string{
		`"subtype":"success","is_error":false`:                   `"status":"finished"`,
		`"subtype":"success","is_error":true,"result":"quota"`:   `"status":"error","error":"quota"`,
		`"subtype":"error_max_turns","is_error":false`:           `"status":"error"`,
		`"subtype":"paused","is_error":false,"result":"So far."`: `"status":"paused"`,
	} {
		got := walked(t, []byte(`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"go"}]},"session_id":"s"}`+"\n"+`{"type":"result",`+result+`,"duration_ms":1,"session_id":"s"}`+"\n"))
		if !strings.Contains(got, want) || strings.Contains(got, "error") != strings.Contains(want, "error") {
			t.Errorf("%s: no %s in\n%s", result, want, got)
		}
	}
}

// TestStranger puts a member that nobody knows into every object of every
// sample. Each must come back, or be in the report.
func TestStranger(t *testing.T) {
	for _, path := range files(t) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var out []byte
		n := 0
		for line := range bytes.Lines(raw) {
			if json.Valid(bytes.TrimPrefix(line, []byte("\ufeff"))) {
				line, n = invaded(line, n)
			}
			out = append(out, line...)
		}
		text := walked(t, out)
		for i := range n {
			if !strings.Contains(text, fmt.Sprintf("stranger-%d!", i)) {
				at := bytes.Index(out, fmt.Appendf(nil, "stranger-%d!", i))
				t.Errorf("%s: lost in silence: %s", filepath.Base(path), out[max(0, at-120):min(len(out), at+40)])
			}
		}
		if n == 0 && !strings.Contains(path, "pretty") {
			t.Errorf("%s: nobody invaded", path)
		}
	}
}

// invaded adds a member to each object of a line.
func invaded(line []byte, n int) ([]byte, int) {
	var out []byte
	inside := false
	for i, c := range line {
		out = append(out, c)
		switch {
		case c == '"' && !(inside && escaped(line, i)):
			inside = !inside
		case c == '{' && !inside:
			out = fmt.Appendf(out, `"stranger-%d":"stranger-%d!"`, n, n)
			n++
			if line[i+1] != '}' {
				out = append(out, ',')
			}
		}
	}
	return out, n
}

func escaped(line []byte, i int) bool {
	n := 0
	for i--; line[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}

// TestEarly stops in the middle of a session.
func TestEarly(t *testing.T) {
	l, err := formats.Locate(samples + "/sessions.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for s, err := range streamjson.Format().Sessions.Decode(t.Context(), l, formats.View{}, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		for range s.Messages {
			n++
			break
		}
	}
	if n != 2 {
		t.Errorf("%d sessions", n)
	}
	for s, err := range streamjson.Format().Sessions.Decode(t.Context(), l, formats.View{}, session.Selection{IDs: []string{"5e550000-0000-4000-8000-000000000002"}}) {
		if err != nil || s.Title != "in the second" {
			t.Error(s, err)
		}
	}
}

// TestChanged shortens a file while it is read.
func TestChanged(t *testing.T) {
	raw, err := os.ReadFile(samples + "/runs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{0, 300, 900} {
		l := written(t, raw)
		var last error
		for s, err := range streamjson.Format().Sessions.Decode(t.Context(), l, formats.View{}, session.Selection{}) {
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(l.Path, size); err != nil {
				t.Fatal(err)
			}
			for _, last = range s.Messages {
			}
		}
		var e *formats.Error
		if !errors.Is(last, formats.ErrBusy) || !errors.As(last, &e) || e.At != l.Path {
			t.Errorf("cut to %d bytes: %v", size, last)
		}
	}
}

// TestChangedAndStopped: what became of a result line while its file was read is
// an error, and a consumer that stops at the first thing it is given hears
// nothing more.
func TestChangedAndStopped(t *testing.T) {
	raw, err := os.ReadFile(samples + "/plain.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	l := written(t, raw)
	for s, err := range streamjson.Format().Sessions.Decode(t.Context(), l, formats.View{}, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(l.Path, bytes.Replace(raw, []byte(`"type":"result"`), []byte(`"type":"answer"`), 1), 0o600); err != nil {
			t.Fatal(err)
		}
		for m, err := range s.Messages {
			if !errors.Is(err, formats.ErrBusy) {
				t.Errorf("%+v, error %v", m, err)
			}
			break
		}
	}
}

// TestGrowing leaves what was added while a file was read for another time.
func TestGrowing(t *testing.T) {
	raw, err := os.ReadFile(samples + "/plain.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	l := written(t, raw)
	for s, err := range streamjson.Format().Sessions.Decode(t.Context(), l, formats.View{}, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(l.Path, append(raw, raw...), 0o600); err != nil {
			t.Fatal(err)
		}
		if text := lines(t, nil, s); bytes.Count(text, []byte("\n")) != 3 {
			t.Errorf("%s", text)
		}
	}
}

// TestNothing is about files in which no session is.
func TestNothing(t *testing.T) {
	for _, text := range []string{"", "\n\n", "hello\n", `{"level":"info"}` + "\n\nx"} {
		if got := walked(t, []byte(text)); strings.Contains(got, `"type":"session"`) || strings.TrimSpace(text) != "" && !strings.Contains(got, "unreadable") {
			t.Errorf("%q: %s", text, got)
		}
		sel := session.Selection{Account: new(session.SharedAccount)}
		for s, err := range streamjson.Format().Sessions.Stream(t.Context(), strings.NewReader(text), formats.View{}, sel) {
			t.Error(s, err)
		}
		if tally := sel.Account.Total(); tally.Read != count([]byte(text)) || !tally.Balanced() {
			t.Errorf("%q: %+v", text, tally)
		}
	}
}

// TestBounds holds giants: many results that wait for one message, much noise,
// endless pieces.
func TestBounds(t *testing.T) {
	const id = `"session_id":"s"`
	user := `{"type":"user","message":{"role":"user","content":"go"},` + id + `}` + "\n"
	big := strings.Repeat("x", 300<<10)
	var calls strings.Builder
	for i := range 12 {
		fmt.Fprintf(&calls, `{"type":"tool_call","subtype":"started","call_id":"c%d","tool_call":{"readToolCall":{"args":{}}},"model_call_id":"m",%s}`+"\n", i, id)
		fmt.Fprintf(&calls, `{"type":"tool_call","subtype":"completed","call_id":"c%d","tool_call":{"readToolCall":{"args":{},"result":{"success":{"content":"%s"}}}},"model_call_id":"m",%s}`+"\n", i, big, id)
	}
	if got := strings.Count(walked(t, []byte(user+calls.String())), `"role":"assistant"`); got != 3 {
		t.Errorf("%d messages for 12 calls of 300 KB", got)
	}
	noise := strings.Repeat(strings.Repeat("z", 1<<20)+"\n", 40)
	if got := strings.Count(walked(t, []byte(user+noise)), `"role":"assistant"`); got < 2 || got > 5 {
		t.Errorf("%d messages for 40 MB of noise", got)
	}
	long := walked(t, []byte(user+strings.Repeat("y", 65<<20)+"\n"+`{"type":"result","subtype":"success","is_error":false,"result":"",`+id+`}`))
	if !strings.Contains(long, "unreadable L304: 1 at capture.jsonl:2") || !strings.Contains(long, `"status":"finished"`) {
		t.Errorf("%.2000s", long)
	}
}

// TestBuildLog: a capture in the log of a build, with a moment in front of every
// line, is the capture.
func TestBuildLog(t *testing.T) {
	each := func(data []byte, lead string) (out []byte) {
		for line := range bytes.Lines(data) {
			out = append(append(out, lead...), line...)
		}
		return out
	}
	for _, path := range files(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte("\n  ")) || strings.Contains(path, "noise") {
			continue // an object over several lines, and lines that are none
		}
		for _, lead := range []string{"2026-11-20T12:00:00.0000000Z ", "2026-11-20T12:00:00+01:00 "} {
			logged := each(data, lead)
			if m, err := streamjson.Format().Probe(t.Context(), written(t, logged)); err != nil || m.Score < 70 {
				t.Errorf("%s: %+v, %v", path, m, err)
			}
			got := strings.ReplaceAll(walked(t, logged), `"`+lead, `"`) // lines that are no JSON keep theirs
			if want := walked(t, data); got != want {
				t.Errorf("%s: in a log it is\n%s\nnot\n%s", path, got, want)
			}
		}
	}
	const noise = "2026-11-20T12:00:00Z ##[group]Run agent\n2026-11-20 {\"type\":\"x\"}\n2026-11-20T12:00:00Z {torn\n"
	got := walked(t, append([]byte(noise), `2026-11-20T12:00:00Z {"type":"system","subtype":"init","session_id":"s"}`...))
	for line := range strings.Lines(noise) {
		if raw, _ := json.Marshal(strings.TrimSuffix(line, "\n")); !strings.Contains(got, string(raw)) {
			t.Errorf("no %s in\n%s", raw, got)
		}
	}
}

func TestProbe(t *testing.T) {
	for text, want := range map[string]int{
		`{"type":"system","subtype":"init","session_id":"s"}`:                                              90,
		"npm warn\n\n" + `{"level":"info"}` + "\n" + `{"type":"system","subtype":"init","session_id":"s"}`: 90,
		`{"type":"result","subtype":"success","duration_ms":1,"result":"x","session_id":"s"}`:              85,
		`{"type":"result","subtype":"success","duration_ms":1,"result":"` + strings.Repeat("x", 99999):     85,
		"{\n \"type\":\"result\",\n \"duration_ms\":1,\n \"session_id\":\"s\"\n}\n":                        85,
		`{"type":"user","message":{"role":"user","content":[]},"session_id":"s"}`:                          70,
		`{"type":"user","message":{"role":"user","content":[]},"uuid":"u","sessionId":"s"}`:                0, // another client's
		`{"type":"user","message":{"role":"user","content":"` + strings.Repeat("y", 99999):                 0, // whose it is stands behind it
		`{"role":"user","message":{"content":[]}}`:                                                         0,
		`{"type":"session","version":1,"id":"x","agent":"cursor-cli"}`:                                     0,
		"":            0,
		"words\n":     0,
		"{}":          0,
		"\x00\x01{":   0,
		`{"type":1}`:  0,
		"{\n\n":       0,
		"[{}]":        0,
		`"type"`:      0,
		"{\"a\":1}\n": 0,
	} {
		m, err := streamjson.Format().Probe(t.Context(), written(t, []byte(text)))
		if err != nil || m.Score != want || want > 0 && len(m.Evidence) == 0 {
			t.Errorf("%.80q: %+v, %v; want %d", text, m, err, want)
		}
	}
	dir, err := formats.Locate(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := streamjson.Format().Probe(t.Context(), dir); m.Score != 0 {
		t.Error("a folder was recognized")
	}
}

// TestLongHeads lists a long file by its ends.
func TestLongHeads(t *testing.T) {
	line := func(id, text string) string {
		return `{"type":"assistant","message":{"role":"assistant","content":"` + text + `"},"session_id":"` + id + `","timestamp_ms":1767225600000}` + "\n"
	}
	data := `{"type":"user","message":{"role":"user","content":"first words"},"session_id":"a"}` + "\n" + strings.Repeat(line("a", strings.Repeat("x", 1000)), 9000) + line("b", "end")
	var said string
	var got []string
	for h, err := range streamjson.Format().Sessions.Heads(t.Context(), written(t, []byte(data)), formats.View{OnNotice: func(s string) { said = s }}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %q %d %v", h.ID, h.Title, h.Turns, h.Updated.Known()))
	}
	if want := `a "first words" -1 true, b "" -1 true`; strings.Join(got, ", ") != want || said == "" {
		t.Errorf("%q (%q), want %q", got, said, want)
	}
}

// FuzzDecode reads anything as a capture, from a file and through a pipe.
func FuzzDecode(f *testing.F) {
	for _, path := range files(f) {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		walked(t, data)
		sel := session.Selection{Account: new(session.SharedAccount)}
		for s, err := range streamjson.Format().Sessions.Stream(t.Context(), bytes.NewReader(data), formats.View{}, sel) {
			if err != nil {
				t.Fatal(err)
			}
			checked(t, nil, s)
		}
		if tally := sel.Account.Total(); tally.Read != count(data) || !tally.Balanced() {
			t.Fatalf("%d lines through a pipe, %+v", count(data), tally)
		}
	})
}

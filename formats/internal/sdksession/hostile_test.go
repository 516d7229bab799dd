package sdksession

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/transcript"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// FuzzEvents feeds lines of events, three to a run, to a merge whose graph says
// some of what they may say.
func FuzzEvents(f *testing.F) {
	for _, dir := range []string{"e2e-jsonl", "gen/jsonl"} {
		file, err := os.Open("../../../testdata/sdk/" + dir + "/run_events.ndjson")
		if err != nil {
			f.Fatal(err)
		}
		in := bufio.NewScanner(file)
		for in.Scan() {
			f.Add(in.Bytes())
		}
		file.Close()
	}
	for _, m := range []string{says("one"), asks("p"), thinks("x"), thought, calls("c1", running), calls("c1", worked), `"type":"task","text":"t"`, `"type":"usage","usage":{"inputTokens":-5}`} {
		line := eventLine("a", "r", 1, m)
		f.Add([]byte(line + "\n" + strings.Replace(line, `"seq":1`, `"seq":2`, 1) + "\n" + line))
	}
	f.Add([]byte(`{"runId":"r","seq":1e3,"payload":[[[[` + "\n" + `{"runId":"r","seq":-0,"payload":{"type":"result","status":"X"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &fake{graphs: map[string]*fakeGraph{"a": {}}}
		s.add(sdkdoc.Agent, anAgent)
		s.graphs["a"].turn("q1", "p", "one", "two + call:c1", "result:c1", "think:x")
		s.run("a", "r", 1, `,"requestId":"q1","result":"two"`)
		for line := range bytes.SplitSeq(b, []byte("\n")) {
			x := NewIndex()
			if fit, _, err := rawjson.Line(line); err == nil && x.Add(sdkdoc.Event, fit, Place{}) {
				s.add(sdkdoc.Event, string(line))
			}
		}
		s.tell(t)
		for sess, err := range s.store().Sessions(t.Context(), session.Selection{}) {
			if err != nil {
				t.Fatal(err)
			}
			head := session.AppendHead(nil, sess)
			for m, err := range sess.Messages {
				if err != nil {
					t.Fatal(err)
				}
				head = session.AppendMessage(head[:0], m)
				if bytes.IndexByte(head, '\n') >= 0 {
					t.Errorf("a line end in a message: %q", head)
				}
			}
		}
	})
}

// flipping is a transcript that its client writes anew after the first read.
type flipping struct {
	was, is string
	read    bool
}

func (f *flipping) ReadAt(p []byte, at int64) (int, error) {
	text := f.is
	if !f.read {
		f.read, text = true, f.was
	}
	return strings.NewReader(text).ReadAt(p, at)
}

// TestRewrittenTranscript: the session is busy, not broken, whichever source it
// is told from.
func TestRewrittenTranscript(t *testing.T) {
	user := `{"role":"user","message":{"content":"hi"}}` + "\n"
	blank := strings.Repeat(" ", len(user)-1) + "\n"
	for _, texts := range [][2]string{{blank + blank, user + user}, {blank + user, user + user}, {user + user, blank + user}} {
		for _, events := range [][]string{nil, {says("a")}} {
			f := &fake{transcripts: map[string]string{"agent-transcripts/a/a.jsonl": texts[0]}}
			f.add(sdkdoc.Agent, anAgent)
			f.run("a", "r", 1, `,"status":"finished","startedAt":1`, events...)
			f.run("a", "q", 2, `,"status":"finished","startedAt":2`, events...)
			s := f.store()
			s.Open = func(transcript.File) (*io.SectionReader, func() error, error) {
				return io.NewSectionReader(&flipping{was: texts[0], is: texts[1]}, 0, int64(2*len(user))), func() error { return nil }, nil
			}
			for one, err := range s.Sessions(t.Context(), session.Selection{}) {
				if err != nil {
					t.Fatal(err)
				}
				var last error
				for _, err := range one.Messages {
					last = err
				}
				if last != nil && !errors.Is(last, formats.ErrBusy) || last == nil && events == nil {
					t.Errorf("%q: %v", texts, last)
				}
			}
		}
	}
}

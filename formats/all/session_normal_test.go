package all_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/formatstest"
	"rehome/formats/formatstest/graphgen"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// decoded is all that came out of one store.
type decoded struct {
	graphgen.Session          // of each session: deep enough to compare
	lines            []string // the canonical spelling
	normal           []string // what is compared
}

type outcome struct {
	sessions []decoded
	notes    []loss.Loss
	tally    session.Account
	errs     []error
}

// text is everything that was said, for looking for marks.
func (o *outcome) text() string {
	var b strings.Builder
	for _, s := range o.sessions {
		b.WriteString(strings.Join(s.lines, "\n") + "\n")
	}
	return b.String()
}

func (o *outcome) noted(words string) bool {
	for _, n := range o.notes {
		if string(n.Code) == words || strings.Contains(n.At.String(), words) {
			return true
		}
	}
	return false
}

// decodeStore walks every session of a store to its end.
func decodeStore(t *testing.T, format, path string, sel session.Selection) *outcome {
	t.Helper()
	f := all.Registry().Lookup(format)
	if f.Sessions == nil {
		t.Fatalf("%s cannot decode", format)
	}
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	out := &outcome{}
	sel.Account = &session.SharedAccount{}
	view := formats.View{OnLoss: func(n loss.Loss) { out.notes = append(out.notes, n) }, OnNotice: func(string) {}}
	for s, err := range f.Sessions.Decode(t.Context(), l, view, sel) {
		if err != nil {
			out.errs = append(out.errs, err)
			if s == nil {
				break
			}
			continue
		}
		out.sessions = append(out.sessions, walk(t.Context(), out, s))
	}
	if f.Sessions.Scan != nil && !sel.History && len(sel.IDs) == 0 {
		formatstest.Scanned(t, f, path)
	}
	out.tally = sel.Account.Total()
	return out
}

func walk(_ context.Context, out *outcome, s *session.Session) decoded {
	d := decoded{}
	d.Session.Session = *s
	d.lines = append(d.lines, string(session.AppendHead(nil, s)))
	ids := map[string]bool{}
	for m, err := range s.Messages {
		if err != nil {
			out.errs = append(out.errs, err)
			break
		}
		if m.ID == "" || ids[m.ID] {
			out.errs = append(out.errs, fmt.Errorf("session %s: message id %q is empty or not the only one", s.ID, m.ID))
		}
		ids[m.ID] = true
		d.lines = append(d.lines, string(session.AppendMessage(nil, m)))
		d.normal = append(d.normal, normalMessage(m))
	}
	if s.Files != nil {
		for f, err := range s.Files {
			if err != nil {
				out.errs = append(out.errs, err)
				break
			}
			d.lines = append(d.lines, string(session.AppendFile(nil, f)))
			d.normal = append(d.normal, string(session.AppendFile(nil, &session.File{Path: f.Path, Before: f.Before, After: f.After})))
		}
	}
	return d
}

// expectedLines spells a session of the generator as walk does.
func expectedLines(s *graphgen.Session) (out []string) {
	for _, m := range s.List {
		out = append(out, normalMessage(m))
	}
	for _, f := range s.Snaps {
		out = append(out, string(session.AppendFile(nil, f)))
	}
	return out
}

// normalMessage is what two containers of one session must agree on: not the
// ids and origins, which name records; not the extras, which other tests look
// into; not where a part came from; and of times those that both can state.
func normalMessage(m *session.Message) string {
	n := session.Message{Role: m.Role, Simulated: m.Simulated, Archived: m.Archived, Branch: m.Branch}
	if m.Turn != nil {
		t := *m.Turn
		t.Extras, t.Start, t.End = nil, stated(t.Start), stated(t.End)
		n.Turn = &t
	}
	for _, p := range m.Parts {
		n.Parts = append(n.Parts, normalPart(p))
	}
	return string(session.AppendMessage(nil, &n))
}

// stated forgets whether a moment was worked out.
func stated(s session.Stamp) session.Stamp {
	if !s.Known() {
		return s
	}
	return session.Stored(s.Millis())
}

func normalPart(p session.Part) session.Part {
	switch p := p.(type) {
	case *session.Text:
		return &session.Text{Text: p.Text}
	case *session.Injected:
		return &session.Injected{Tag: p.Tag, Text: strings.Trim(p.Text, "\n"), Data: normalRaw(p.Data)}
	case *session.Thinking:
		return &session.Thinking{Text: p.Text, Signature: p.Signature, Redacted: p.Redacted, Data: p.Data, Millis: p.Millis}
	case *session.ToolCall:
		c := &session.ToolCall{ID: p.ID, Name: p.Name, Kind: p.Kind, Input: normalRaw(p.Input), Args: normalRaw(p.Args), Start: stated(p.Start), End: stated(p.End), Child: p.Child}
		if c.Args == nil { // the model's name is all there is, if a table does not tell the kind
			c.Kind, c.Start, c.End = "", session.Stamp{}, session.Stamp{}
		}
		if strings.HasPrefix(p.Kind, "tool-") && c.Args != nil { // a kind that no table has keeps its bytes, however they are spelled
			c.Args = session.Raw(`"bytes"`)
		}
		if p.From == "events" { // their times are those of the events
			c.Start, c.End = session.Stamp{}, session.Stamp{}
		}
		return c
	case *session.ToolResult:
		r := &session.ToolResult{Call: p.Call, Status: p.Status, Error: p.Error, Value: normalRaw(p.Value)}
		if p.Status == "" && r.Value != nil { // a kind that no table has
			r.Value = session.Raw(`"bytes"`)
		}
		for _, c := range p.Content {
			r.Content = append(r.Content, normalPart(c))
		}
		return r
	case *session.Media:
		return &session.Media{Mime: p.Mime, Data: p.Data}
	case *session.Summary:
		return &session.Summary{Text: p.Text}
	case *session.Boundary:
		return &session.Boundary{Archived: p.Archived}
	}
	return p
}

// normalRaw keeps the tokens of JSON and their order, and forgets how strings
// are escaped.
func normalRaw(r session.Raw) session.Raw {
	if len(r) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(r))
	d.UseNumber()
	var out []string
	for {
		tok, err := d.Token()
		if err != nil {
			break
		}
		b, _ := json.Marshal(tok)
		out = append(out, string(b))
	}
	b, _ := json.Marshal(strings.Join(out, " "))
	return b
}

var markPattern = regexp.MustCompile(`tk[0-9]+x`)

// lostMarks are the marks of what was written that are nowhere in what was read.
func lostMarks(written []byte, read string) (out []string) {
	seen := map[string]bool{}
	for _, m := range markPattern.FindAllString(read, -1) {
		seen[m] = true
	}
	for _, m := range markPattern.FindAllString(string(written), -1) {
		if !seen[m] {
			seen[m] = true
			out = append(out, m)
		}
	}
	return out
}

// around shows where a mark stands.
func around(written []byte, mark string) string {
	i := bytes.Index(written, []byte(mark))
	return fmt.Sprintf("%s: ...%q...", mark, written[max(0, i-60):min(len(written), i+40)])
}

// compareLines reports the first lines that differ.
func compareLines(t *testing.T, what string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := "(nothing)", "(nothing)"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			at := 0
			for at < min(len(g), len(w)) && g[at] == w[at] {
				at++
			}
			at = max(0, at-150)
			t.Errorf("%s: message %d of %d, %d wanted:\n got %s\nwant %s", what, i, len(got), len(want), clip(g, at), clip(w, at))
			return
		}
	}
}

func clip(s string, from int) string {
	if len(s) > from+700 {
		s = s[:from+700] + "..."
	}
	if from > 0 {
		return "..." + s[min(from, len(s)):]
	}
	return s
}

func chatStore(t *testing.T, p *graphgen.Plan, g *graphgen.Graph, o graphgen.Odd) string {
	t.Helper()
	at, err := p.WriteChat(t.Context(), filepath.Join(t.TempDir(), "chats"), g, o)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func sdkStore(t *testing.T, p *graphgen.Plan, g *graphgen.Graph, o graphgen.Odd) graphgen.Places {
	t.Helper()
	at, err := p.WriteSDK(t.Context(), filepath.Join(t.TempDir(), "project"), g, o)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func lineStore(t *testing.T, p *graphgen.Plan, g *graphgen.Graph) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), "lines")
	if err := p.WriteLines(at, g); err != nil {
		t.Fatal(err)
	}
	return at
}

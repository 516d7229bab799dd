package formatstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/schemas"
)

// sessionLaws are the promises of formats whose sessions can be decoded.
var sessionLaws = []law{
	{"sessions", sessions},
	{"written", written},
	{"sessions survive", sessionsSurvive},
	{"sessions abandoned", sessionsAbandoned},
	{"sessions cancelled", sessionsCancelled},
	{"heads", heads},
	{"selection", selection},
	{"scanned", scanned},
	{"leaves", leavesArrive},
	{"sessions truncated", sessionsTruncated},
	{"sessions stopped", sessionsStopped},
}

// talk is everything that a decoder yields, each session in its canonical
// lines. It can be compared and printed.
type talk struct {
	heads    []session.Head
	sessions [][]string
	failed   []error
	notes    []string
	account  session.Account
}

// silent returns a view that reports losses and notices to nobody.
func silent() formats.View {
	return formats.View{OnLoss: func(loss.Loss) {}, OnNotice: func(string) {}}
}

func (t *talk) lines() (out []string) {
	for _, s := range t.sessions {
		out = append(out, s...)
	}
	return append(out, t.notes...)
}

// decode reads all sessions of the store at path.
func decode(ctx context.Context, f *formats.Format, path string, v formats.View, sel session.Selection) (*talk, error) {
	out, account := &talk{}, &session.SharedAccount{}
	sel.Account = account
	l, err := formats.Locate(path)
	if err != nil {
		return nil, err
	}
	v.Secrets, v.OnOmit, v.OnNotice = formats.WithholdSecrets, func(store.SidecarItem) {}, func(string) {}
	v.OnLoss = func(n loss.Loss) {
		if len(n.Args) != len(n.Code.Definition().Args) {
			panic(fmt.Sprintf("%s with the arguments %q", n.Code, n.Args))
		}
		out.notes = append(out.notes, fmt.Sprintf("%v %v: %s", n.Kind(), n.At, strings.Join(append([]string{string(n.Code)}, n.Args...), " ")))
	}
	for s, err := range f.Sessions.Decode(ctx, l, v, sel) {
		if err == nil {
			var lines []string
			if lines, err = spell(s); err == nil {
				out.heads, out.sessions = append(out.heads, s.Head), append(out.sessions, lines)
				continue
			}
		}
		if s == nil || ctx.Err() != nil {
			out.account = account.Total()
			return out, err
		}
		out.failed = append(out.failed, err)
	}
	out.account = account.Total()
	return out, ctx.Err()
}

func spell(s *session.Session) ([]string, error) {
	lines := []string{string(session.AppendHead(nil, s))}
	if s.Messages != nil {
		for m, err := range s.Messages {
			if err != nil {
				return lines, err
			}
			lines = append(lines, string(session.AppendMessage(nil, m)))
		}
	}
	if s.Files != nil {
		for f, err := range s.Files {
			if err != nil {
				return lines, err
			}
			lines = append(lines, string(session.AppendFile(nil, f)))
		}
	}
	return lines, nil
}

func mustDecode(t *testing.T, c Case, path string, v formats.View, sel session.Selection) *talk {
	t.Helper()
	out, err := decode(t.Context(), c.Format, path, v, sel)
	if err = errors.Join(append(out.failed, err)...); err != nil {
		t.Fatalf("%s: %v", c.Format.Name, err)
	}
	return out
}

// sessions: decoding twice gives the same valid sessions, families together, and every
// record is accounted for.
func sessions(t *testing.T, c Case, s source) {
	live := map[bool][]string{}
	for _, history := range []bool{false, true} {
		first := mustDecode(t, c, s.path, formats.View{Jobs: 1}, session.Selection{History: history})
		again := mustDecode(t, c, s.path, formats.View{Jobs: 8}, session.Selection{History: history})
		if d := rowDifference(first.lines(), again.lines()); d != "" {
			t.Errorf("decoded again: %s", d)
		}
		if !first.account.Balanced() || first.account != again.account {
			t.Errorf("account not balanced: %+v, again %+v", first.account, again.account)
		}
		if n, known := count(t, c, s); known && first.account.Read != n {
			t.Errorf("%d records accounted for, %d in the store", first.account.Read, n)
		}
		seen, family := map[string]bool{}, map[string]bool{}
		for i, lines := range first.sessions {
			h := first.heads[i]
			if h.Parent != nil && slices.ContainsFunc(first.heads[i:], func(o session.Head) bool { return o.Agent == h.Agent && o.ID == h.Parent.Session && o.ID != h.ID }) {
				t.Errorf("session %q comes before its parent", h.ID)
			}
			if h.Parent == nil || !family[h.Agent+"/"+h.Parent.Session] {
				clear(family)
				if h.Parent != nil && seen[h.Agent+"/"+h.Parent.Session] {
					t.Errorf("session %q is not with its parent", h.ID)
				}
			}
			family[h.Agent+"/"+h.ID] = true
			if key := h.Agent + "/" + h.ID; seen[key] {
				t.Errorf("two sessions are %s", key)
			} else {
				seen[key] = true
			}
			inFolder(t, c, first.heads, h)
			linked(t, c, first, h)
			live[history] = append(live[history], spoken(lines)...)
			numbered(t, lines)
			placed(t, c.Format.Name, lines)
			wellSpelled(t, c, s, lines)
		}
	}
	if d := rowDifference(live[false], live[true]); d != "" {
		t.Errorf("what is live depends on whether abandoned turns are read: %s", d)
	}
}

// spoken returns the live messages. A record that nobody said can be in a branch instead, where
// what it belongs to is.
func spoken(lines []string) (out []string) {
	for _, line := range lines {
		var m struct {
			Type, Branch string
			Parts        []struct{ Type string }
		}
		if json.Unmarshal([]byte(line), &m) != nil || m.Type != "message" || m.Branch != "" || len(m.Parts) == 1 && m.Parts[0].Type == "opaque" {
			continue
		}
		out = append(out, line)
	}
	return out
}

// inFolder: a subagent works in the folder of a workspace if its parent does. The records of
// the IDE say so of some subagents alone.
func inFolder(t *testing.T, c Case, heads []session.Head, h session.Head) {
	t.Helper()
	if h.Parent == nil || h.Workspace != "" || c.Format.Name == "cursor-ide" {
		return
	}
	for _, of := range heads {
		if of.Agent == h.Agent && of.ID == h.Parent.Session && of.Workspace != "" {
			t.Errorf("session %q has no workspace, and its parent has %q", h.ID, of.Workspace)
		}
	}
}

// linked: a session that a subagent names as its parent names the subagent. A rollout of Codex
// names none.
func linked(t *testing.T, c Case, all *talk, h session.Head) {
	t.Helper()
	if h.Parent == nil || h.Parent.Session == h.ID || c.Format.Name == "codex" {
		return
	}
	i := slices.IndexFunc(all.heads, func(of session.Head) bool { return of.Agent == h.Agent && of.ID == h.Parent.Session })
	if i < 0 {
		return
	}
	var of struct{ Children []session.Link }
	if err := json.Unmarshal([]byte(all.sessions[i][0]), &of); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(of.Children, func(l session.Link) bool { return l.Session == h.ID }) {
		t.Errorf("session %q does not name %q, which it started", h.Parent.Session, h.ID)
	}
}

func wellSpelled(t *testing.T, c Case, s source, lines []string) {
	t.Helper()
	judge, err := schemas.NewLines("canonical-1")
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for n, line := range lines {
		if err := judge.Validate([]byte(line)); err != nil {
			t.Errorf("line %d is not as the schema says: %v\n%.500s", n+1, err, line)
		}
		if rest, ok := strings.CutPrefix(line, `{"type":"message","id":"`); ok {
			id, _, _ := strings.Cut(rest, `"`)
			if id == "" || ids[id] {
				t.Errorf("line %d: its message has no id of its own: %q", n+1, id)
			}
			ids[id] = true
		}
		for _, secret := range s.Secrets {
			if strings.Contains(line, secret) {
				t.Errorf("line %d holds a secret", n+1)
			}
		}
	}
}

// count is how many records of sessions a store holds, by its raw reader: rows of tables,
// lines of files, and plain files as one each. (Those of the fixtures have one
// line; a decoder may count lines.)
func count(t *testing.T, c Case, s source) (n int64, known bool) {
	t.Helper()
	if c.Format.Records == nil || s.Real {
		return 0, false
	}
	if c.Format.Records.Kinds[0].Name == formats.PlainFiles {
		return countLines(t, s.path), true
	}
	raw := mustRead(t, c.Format, s.path, formats.View{Kind: c.Format.Records.Kinds[0].Name})
	for i, set := range raw.schema.Sets {
		if set.Kind == store.Plain {
			n++
			continue
		}
		n += raw.summary[i].Rows
	}
	return n - s.Foreign, true
}

// countLines counts the lines in a folder's files that are not empty.
func countLines(t *testing.T, dir string) (n int64) {
	t.Helper()
	for name, data := range tree(t, dir) {
		if !strings.HasSuffix(name, ".jsonl") {
			continue
		}
		for line := range strings.Lines(string(data)) {
			if strings.TrimSpace(line) != "" {
				n++
			}
		}
	}
	return n
}

// sessionsAbandoned: a consumer that stops early in each session still gets the
// next one, and nothing stays open.
func sessionsAbandoned(t *testing.T, c Case, s source) {
	whole := mustDecode(t, c, s.path, formats.View{}, session.Selection{})
	l, err := formats.Locate(s.path)
	if err != nil {
		t.Fatal(err)
	}
	for _, most := range []int{0, 1, 3} {
		n := 0
		for one, err := range c.Format.Sessions.Decode(t.Context(), l, silent(), session.Selection{}) {
			if err != nil {
				t.Fatal(err)
			}
			if n < len(whole.heads) && one.ID != whole.heads[n].ID {
				t.Errorf("session %d is %q, want %q", n+1, one.ID, whole.heads[n].ID)
			}
			n++
			if left := most; left > 0 {
				for _, err := range one.Messages {
					if err != nil {
						t.Fatal(err)
					}
					if left--; left == 0 {
						break
					}
				}
			}
		}
		if n != len(whole.sessions) {
			t.Errorf("%d sessions after %d messages of each, want %d", n, most, len(whole.sessions))
		}
		for range c.Format.Sessions.Decode(t.Context(), l, silent(), session.Selection{}) {
			break
		}
	}
}

// sessionsCancelled: a run that its consumer cancels yields no further session, and
// ends with the context's error; so does one that is cancelled when the decoder asks.
func sessionsCancelled(t *testing.T, c Case, s source) {
	total := len(mustDecode(t, c, s.path, formats.View{}, session.Selection{}).sessions)
	for _, after := range []int{0, 1, 2} {
		if n, err := decodeUntil(t, c, s, after); n < total && !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled after %d messages: %d of %d sessions, error %v", after, n, total, err)
		}
	}
	cancelAnywhere(t, func(ctx context.Context) error {
		_, err := decode(ctx, c.Format, s.path, formats.View{}, session.Selection{})
		return err
	})
}

// decodeUntil cancels a run after a number of messages. It returns how many sessions
// were yielded until then, and how the run ended.
func decodeUntil(t *testing.T, c Case, s source, after int) (sessions int, err error) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l, err := formats.Locate(s.path)
	if err != nil {
		t.Fatal(err)
	}
	if after == 0 {
		cancel()
	}
	n := 0
	for one, err := range c.Format.Sessions.Decode(ctx, l, silent(), session.Selection{}) {
		if err != nil {
			return sessions, err
		}
		if ctx.Err() != nil {
			t.Errorf("session %q is yielded after it was cancelled", one.ID)
		}
		if sessions++; one.Messages == nil {
			continue
		}
		for _, err := range one.Messages {
			if err != nil {
				return sessions, err
			}
			if n++; n == after {
				cancel()
			}
		}
	}
	return sessions, nil
}

// sessionsTruncated: on a source truncated anywhere, the decoder does not
// panic; its errors name a place, and its account is balanced.
func sessionsTruncated(t *testing.T, c Case, s source) {
	eachCut(t, s, func(what, path, _ string) {
		var got *talk
		err := addressed(t, what, func() (err error) {
			got, err = decode(t.Context(), c.Format, path, formats.View{}, session.Selection{})
			return err
		})
		if err == nil && got != nil && len(got.failed) == 0 && !got.account.Balanced() {
			t.Errorf("%s: account not balanced: %+v", what, got.account)
		}
	})
}

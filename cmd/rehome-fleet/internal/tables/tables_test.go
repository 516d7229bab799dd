package tables

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"rehome/convert"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/session"
	"rehome/internal/fsx"
)

const testdata = "../../../../testdata/"

// write writes tables, and fails the test if that fails.
func write(t *testing.T, src string, o Options) (string, *Report) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tables")
	rep, err := Write(t.Context(), all.Registry(), src, dir, Meta{Machine: "m 1", Unit: "u"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return dir, rep
}

func read[R any](t *testing.T, dir, table string) []R {
	t.Helper()
	rows, err := parquet.ReadFile[R](filepath.Join(dir, table+Suffix))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestWrite writes the samples of all clients: the tables agree with each other and with
// the report, the same sessions give the same bytes, and the source does not change.
func TestWrite(t *testing.T) {
	for _, src := range []string{"chat/after.db", "claude/config", "codex/home", "stream", "transcript/projects", "sdk", "canonical"} {
		t.Run(filepath.Base(src), func(t *testing.T) {
			before, err := fsx.DigestTree(testdata + src)
			if err != nil {
				t.Fatal(err)
			}
			dir, rep := write(t, testdata+src, Options{})
			again, _ := write(t, testdata+src, Options{Jobs: 1})
			if !fsx.SameTree(dir, again) {
				t.Error("the same sessions give other bytes")
			}
			if after, _ := fsx.DigestTree(testdata + src); after != before {
				t.Error("the source changed")
			}
			if left, _ := os.ReadDir(filepath.Dir(dir)); len(left) != 1 {
				t.Errorf("left behind: %v", left)
			}
			sessions, messages, calls := read[Session](t, dir, "sessions"), read[Message](t, dir, "messages"), read[ToolCall](t, dir, "tool_calls")
			turns, results, losses := read[Turn](t, dir, "turns"), read[ToolResult](t, dir, "tool_results"), read[Loss](t, dir, "losses")
			var sum Session
			for _, s := range sessions {
				sum.Turns += s.Turns
				sum.Messages += s.Messages
				sum.ToolCalls += s.ToolCalls
				sum.LossesReported += s.LossesReported
				if s.SessionID == "" || s.Agent == "" || s.Machine != "m 1" || s.UnitID != "u" || !s.Complete {
					t.Errorf("session %+v", s.Origin)
				}
			}
			var lost int64
			for _, l := range losses {
				if l.SessionID != "" {
					lost += l.Count
				}
			}
			have := []int{len(sessions), int(sum.Turns), int(sum.Messages), int(sum.ToolCalls), len(results), len(losses)}
			for i, n := range []int{len(sessions), len(turns), len(messages), len(calls), len(results), len(losses)} {
				if name := Names()[i]; n != have[i] || int64(n) != rep.Rows(name) {
					t.Errorf("%s: %d rows, counted %d, reported %d", name, n, have[i], rep.Rows(name))
				}
			}
			if len(messages) == 0 || lost != sum.LossesReported {
				t.Errorf("%d messages, %d losses of %d", len(messages), lost, sum.LossesReported)
			}
			if !slices.IsSortedFunc(sessions, func(a, b Session) int { return strings.Compare(a.SessionID, b.SessionID) }) {
				t.Error("sessions are not sorted")
			}
		})
	}
}

// TestNoText plants words in every string of a session, and finds them only where there
// may be ids and names.
func TestNoText(t *testing.T) {
	src := plant(t)
	dir, _ := write(t, src, Options{})
	full := strings.Join(words(t, dir), "\n")
	for _, want := range []string{"planted title", "planted text", "planted args", "planted result", "/planted/folder"} {
		if !strings.Contains(full, want) {
			t.Errorf("the tables lack %q", want)
		}
	}
	dir, _ = write(t, src, Options{NoText: true})
	for _, word := range words(t, dir) {
		if strings.Contains(word, "planted") {
			t.Errorf("left: %q", word)
		}
	}
	for _, name := range Names() { // with what is in the footer
		if raw, err := os.ReadFile(filepath.Join(dir, name+Suffix)); err != nil || bytes.Contains(raw, []byte("planted")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	calls := read[ToolCall](t, dir, "tool_calls")
	if len(calls) != 1 || calls[0].Name != Other || calls[0].ArgsBytes == 0 || calls[0].SessionID != "session-1" {
		t.Errorf("%+v", calls)
	}
	dir, _ = write(t, testdata+"codex/home", Options{NoText: true})
	losses := read[Loss](t, dir, "losses")
	for _, l := range losses {
		if l.What != "" || l.Store != "" || l.Address != "" || len(l.Places) > 0 || l.Code == "" {
			t.Errorf("%+v", l)
		}
	}
	if len(losses) == 0 {
		t.Error("no losses")
	}
}

// TestBare has values that are left in tables without text, and others that a user could
// have chosen. Each column of strings says what it holds.
func TestBare(t *testing.T) {
	for class, list := range map[string]string{
		"id":    "toolu_01XyZabcdefghijklmnopqrs call_AbCdEfGhIjKlMnOpQrStUvWx line-12.3 agent-a1b2c3d 0332872f7813b990-2 1.0 run-20e6a8c5-f477-49e2-bdf4-80e4af9617e6 toolu_bdrk_01AbCdEfGhIjKlMnOpQr call_1\nfc_1",
		"name":  "Bash apply_patch tool-77 branch-2 codex acceptEdits timeout semSearch",
		"model": "claude-opus-4-5-20250929 gpt-5.2-codex us.anthropic.claude-sonnet-4-20250514-v1:0 composer-2.5 gpt-4o qwen3-coder-480b-a35b o3-mini claude-opus-4-5[1m] gemini-2.5-flash-lite",
	} {
		c := column{bare: class}
		for _, s := range strings.Split(list, " ") {
			if got := c.withoutText(s); got != s {
				t.Errorf("%s: %q became %q", class, s, got)
			}
		}
	}
	if got := modelOf("Claude 4.5 Sonnet"); got == Other {
		t.Error(got)
	}
	for _, s := range []string{"fix-the-acme-merger", "/home/ann/app", `C:\Users\ann`, "修复登录页面的错误", "ann@acme.example", "acme-1", "ft:gpt-4o:acme::1a2b", "gpt-acme", "arn:aws:bedrock:123456789012", "mcp", "call_1\nacme", "session-acme", "hunter2"} {
		for class, want := range map[string]string{"id": "", "name": Other, "model": Other, "": ""} {
			if got := (&column{bare: class}).withoutText(s); got != want && s != "mcp" {
				t.Errorf("%s: %q became %q", class, s, got)
			}
		}
	}
	if got := nameOf("mcp__acme__search"); got != "mcp" {
		t.Error(got)
	}
	for _, list := range []*columns{columnsOf[Session](), columnsOf[Turn](), columnsOf[Message](), columnsOf[ToolCall](), columnsOf[ToolResult](), columnsOf[Loss]()} {
		for _, c := range list.list {
			text := c.kind.Kind() == reflect.String || c.kind.Kind() == reflect.Slice
			if text && c.private == (c.bare != "") || !text && c.bare != "" {
				t.Errorf("%s: private %v, bare %q", c.name, c.private, c.bare)
			}
		}
	}
}

// TestChosenIDs has sessions with ids that are titles: without text they are numbered, and
// name each other as before.
func TestChosenIDs(t *testing.T) {
	dir := t.TempDir()
	for i, id := range []string{"planted b", "planted a", "0199aaaa-0000-7000-8000-000000000001"} {
		s := &session.Session{Head: session.Head{ID: id, Agent: "codex", Parent: &session.Link{Session: "planted b"}}}
		if i == 0 {
			s.Parent.Session = "planted none"
		}
		if err := os.Rename(lines(t, s), filepath.Join(dir, fmt.Sprint(i, ".jsonl"))); err != nil {
			t.Fatal(err)
		}
	}
	out, _ := write(t, dir, Options{NoText: true})
	got := ""
	for _, s := range read[Session](t, out, "sessions") {
		got += s.SessionID + "<" + s.ParentSession + " "
	}
	if got != "0199aaaa-0000-7000-8000-000000000001<session-2 session-1<session-2 session-2< " {
		t.Error(got)
	}
}

// words returns all strings in all cells.
func words(t *testing.T, dir string) (out []string) {
	for _, name := range Names() {
		raw, err := os.ReadFile(filepath.Join(dir, name+Suffix))
		if err != nil {
			t.Fatal(err)
		}
		f, err := parquet.OpenFile(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range f.RowGroups() {
			rows := g.Rows()
			buf := make([]parquet.Row, 10)
			for {
				n, err := rows.ReadRows(buf)
				for _, row := range buf[:n] {
					for _, v := range row {
						if v.Kind() == parquet.ByteArray {
							out = append(out, v.String())
						}
					}
				}
				if err != nil {
					break
				}
			}
			rows.Close()
		}
	}
	return out
}

// plant writes a session with words that are recognized in every string.
func plant(t *testing.T) string {
	n := 0
	mark := func(v reflect.Value) {}
	mark = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			n++
			v.SetString(fmt.Sprintf("planted %d", n))
		case reflect.Slice:
			if v.Type() == reflect.TypeFor[[]string]() {
				v.Set(reflect.ValueOf([]string{"planted a", "planted b"}))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					mark(v.Field(i))
				}
			}
		}
	}
	s, m := &session.Session{}, &session.Message{Turn: &session.Turn{}}
	text, thinking, call, result := &session.Text{}, &session.Thinking{}, &session.ToolCall{}, &session.ToolResult{}
	context, summary, media := &session.Injected{}, &session.Summary{}, &session.Media{}
	for _, one := range []any{s, m, m.Turn, text, thinking, call, result, context, summary, media} {
		mark(reflect.ValueOf(one).Elem())
	}
	s.ID, s.Agent, s.Title, s.Workspace, s.Parent, s.Todos, s.Plan = "planted id", "planted-id-agent", "planted title", "/planted/folder", &session.Link{Session: "planted parent", Call: "planted call", Title: "planted child"}, []session.Todo{{ID: "1", Content: "planted todo"}}, "planted plan"
	m.Role, m.ID, m.Turn.Number, m.Branch = session.User, "planted-id-message", 1, ""
	text.Text, call.Name, call.ID, call.Args, call.Kind = "planted text", "tool-id-name", "planted-id-call", session.Raw(`{"a":"planted args"}`), "planted-id-kind"
	result.Call, result.Value, result.Content = call.ID, session.Raw(`"planted value"`), []session.Part{&session.Text{Text: "planted result"}}
	call.Input, context.Data = session.Raw(`"planted input"`), session.Raw(`"planted data"`)
	m.Parts = []session.Part{text, thinking, call, result, context, summary, media}
	return lines(t, s, m)
}

// lines writes a session with one message as canonical text.
func lines(t *testing.T, s *session.Session, all ...*session.Message) string {
	b := append(session.AppendHead(nil, s), '\n')
	for _, m := range all {
		b = append(session.AppendMessage(b, m), '\n')
	}
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOddities has lone surrogates, NUL, and times that no reader can show.
func TestOddities(t *testing.T) {
	s := &session.Session{Head: session.Head{ID: "s", Agent: "codex", Created: session.Stored(1<<62 + 1), Updated: session.Stored(-62135596800000)}}
	m := &session.Message{ID: "m", Role: session.User, At: session.Stored(-62135596800001), Parts: []session.Part{
		&session.Text{Text: "a\xed\xa0\x80\xed\xa0\x80b\x00"}, &session.Text{Text: ""}, &session.Text{Text: "c"},
	}}
	dir, rep := write(t, lines(t, s, m), Options{})
	rows, sessions, losses := read[Message](t, dir, "messages"), read[Session](t, dir, "sessions"), read[Loss](t, dir, "losses")
	if len(rows) != 1 || rows[0].Text != "a��b\x00\n\nc" || rows[0].SentAt != nil || rows[0].TextBytes != 10 {
		t.Errorf("%+v", rows)
	}
	if s := sessions[0]; s.InvalidTimes != 2 || s.CreatedAt != nil || s.UpdatedAt == nil || *s.UpdatedAt != -62135596800000 || s.LossesReported != 1 {
		t.Errorf("%+v", s)
	}
	for path, want := range map[string]fs.FileMode{dir: 0o700 | fs.ModeDir, filepath.Join(dir, "messages.parquet"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want && runtime.GOOS != "windows" {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if len(losses) != 1 || losses[0].Code != "L301" || losses[0].Count != 1 || len(rep.Losses) != 1 {
		t.Errorf("%+v, %+v", losses, rep.Losses)
	}
}

// TestEmpty writes tables without rows.
func TestEmpty(t *testing.T) {
	dir, rep := write(t, lines(t, &session.Session{Head: session.Head{ID: "s", Agent: "codex"}}), Options{})
	if rep.Rows("sessions") != 1 || len(read[Turn](t, dir, "turns")) != 0 {
		t.Errorf("%+v", rep)
	}
}

// TestRepair compares repaired strings.
func TestRepair(t *testing.T) {
	for in, want := range map[string]string{"\xed\xa0\x80": "�", "\xed\xa0": "��", "a\xff\xfeb": "a��b", "\xed\x9f\xbf\xed\xbf\xbf": "퟿�", "�": "�"} {
		if got := repair(in); got != want || !utf8.ValidString(got) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestCalls has calls without results, with several, and with the same id: whether the
// results are looked up or not, the rows are the same, in the order of the calls.
func TestCalls(t *testing.T) {
	rows := func(size int) (out []ToolCall) {
		var all []*session.Message
		for i, part := range strings.Fields("c:a c:b c:b r:b r:x c:d r:d r:b r:b c:e r:d") {
			kind, id, _ := strings.Cut(part, ":")
			m := &session.Message{ID: fmt.Sprint(i), Role: session.Assistant, Parts: []session.Part{&session.ToolCall{ID: id, Name: "n", Args: session.Raw(`"` + strings.Repeat("x", size) + `"`)}}}
			if kind == "r" {
				m.Parts = []session.Part{&session.ToolResult{Call: id, Status: "success", Content: []session.Part{&session.Text{Text: strings.Repeat("y", i)}}}}
			}
			all = append(all, m)
		}
		b := &builder{set: &set{calls: nil}}
		b.pending = calls{
			put: func(row *ToolCall) error {
				row.Args, row.ArgsBytes = "", 0
				out = append(out, *row)
				return nil
			},
			lookup: func(f func(*session.Message) error) error {
				for _, m := range all {
					if err := f(m); err != nil {
						return err
					}
				}
				return nil
			},
		}
		for i, m := range all {
			row := &Message{Place: Place{Seq: int64(i)}}
			switch p := m.Parts[0].(type) {
			case *session.ToolCall:
				if err := b.call(row, 0, p); err != nil {
					t.Fatal(err)
				}
			case *session.ToolResult:
				if err := b.pending.answer(p.Call, answer{p.Status, p.Error, textOf(p).size}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := b.pending.end(); err != nil {
			t.Fatal(err)
		}
		return out
	}
	small, large := rows(1), rows(maxPending/3)
	if !reflect.DeepEqual(small, large) {
		t.Errorf("%+v\n%+v", small, large)
	}
	got := ""
	for _, r := range small {
		if got += fmt.Sprint(r.CallID, r.Seq); r.Answered {
			got += fmt.Sprint("=", *r.ResultBytes)
		}
		got += " "
	}
	if got != "a0 b1=3 b2=7 d5=6 e9 " {
		t.Error(got)
	}
}

// TestPlace stops a run at each rename: there is the old folder, or the new one.
func TestPlace(t *testing.T) {
	src, reg := testdata+"chat/after.db", all.Registry()
	for _, c := range []struct {
		replace bool
		fail    int // the rename that fails; 0 = none
		want    string
	}{
		{false, 0, "exists: old"}, {true, 0, "new, old in bak-2"}, {true, 1, "failed: old"}, {true, 2, "failed: old"},
	} {
		dir := filepath.Join(t.TempDir(), "tables")
		for path, text := range map[string]string{dir: "old", dir + ".bak-1": "older"} {
			if err := errors.Join(os.Mkdir(path, 0o700), os.WriteFile(filepath.Join(path, "f"), []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		n := 0
		rep, err := writeWith(t.Context(), reg, src, dir+"/", Meta{}, Options{Replace: c.replace}, func(from, to string) error {
			if err := fsx.Move(from, to); errors.Is(err, fs.ErrExist) {
				return err
			} else if n++; n == c.fail {
				return errors.Join(errors.New("broken"), fsx.Move(to, from))
			} else {
				return err
			}
		})
		if err == nil && rep.Backup != dir+".bak-2" {
			t.Errorf("backup %s", rep.Backup)
		}
		got := ""
		switch {
		case errors.Is(err, formats.ErrExists):
			got = "exists: "
		case err != nil:
			got = "failed: "
		}
		if _, err := os.Stat(filepath.Join(dir, "turns.parquet")); err == nil {
			got += "new"
		}
		if b, err := os.ReadFile(filepath.Join(dir, "f")); err == nil {
			got += string(b)
		}
		if b, err := os.ReadFile(filepath.Join(dir+".bak-2", "f")); err == nil {
			got += ", " + string(b) + " in bak-2"
		}
		left, _ := os.ReadDir(filepath.Dir(dir))
		if want := 2 + strings.Count(c.want, "bak"); got != c.want || len(left) != want {
			t.Errorf("%s, want %s (%v); %v", got, c.want, err, left)
		}
	}
}

// TestRefused are targets and sources that do not work.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "src"), os.DirFS(testdata+"chat")); err != nil {
		t.Fatal(err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx      context.Context
		src, dir string
		meta     Meta
		want     string
	}{
		{t.Context(), "src", "src/out", Meta{}, "source and target overlap"},
		{t.Context(), "src/after.db", "src", Meta{}, "source and target overlap"},
		{t.Context(), "src", "no/out", Meta{}, "no such file or directory"},
		{t.Context(), "none", "out", Meta{}, "no such file or directory"},
		{t.Context(), "src", "out", Meta{Machine: "\xff"}, "must be UTF-8"},
		{canceled, "src", "out", Meta{}, "canceled"},
	} {
		_, err := Write(c.ctx, all.Registry(), filepath.Join(dir, c.src), filepath.Join(dir, c.dir), c.meta, Options{Replace: true})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), formats.StagingMark) {
			t.Errorf("%s: %v, want %s", c.src, err, c.want)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// TestPart has a store that cannot be read beside one that can.
func TestPart(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.CopyFS(dir, os.DirFS(testdata+"chat")), os.WriteFile(filepath.Join(dir, "store.db"), []byte(strings.Repeat("x", 5000)), 0o600)); err != nil {
		t.Fatal(err)
	}
	_, rep := write(t, dir, Options{})
	if rep.Complete() || rep.missing() != "1 store could not be read" || rep.Rows("sessions") == 0 {
		t.Errorf("%+v", rep)
	}
}

// TestRedact finds a planted secret in no cell, and its placeholder in place of it.
func TestRedact(t *testing.T) {
	key := "ghp_" + "Zx8Kq2Vb7Nn4Lm1Pw9Rt3Yc6Hd5Jf0Gs2AaQ"
	s := &session.Session{Head: session.Head{ID: "s", Agent: "codex", Title: "use " + key}}
	m := &session.Message{ID: "m", Role: session.User, Parts: []session.Part{&session.Text{Text: "the key is " + key + "."}}}
	src := lines(t, s, m)
	for want, o := range map[bool]Options{true: {}, false: {Redact: &convert.Redaction{}}} {
		dir, rep := write(t, src, o)
		if all := strings.Join(words(t, dir), "\n"); strings.Contains(all, key) != want || (len(rep.Redacted) == 0) != want {
			t.Errorf("%v: %s; %+v", want, all, rep.Redacted)
		}
	}
}

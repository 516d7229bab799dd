package convert_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// begun is a session that one client has, and another one continues.
const begun = `{"type":"session","version":1,"id":"10000000-0000-4000-8000-00000000000a","agent":"%s","workspace":"%s","title":"t","todos":[{"id":"1","content":"old","status":"pending"}]}
{"type":"message","id":"m0","role":"system","parts":[{"type":"text","text":"be good"}]}
{"type":"message","id":"m1","role":"user","turn":{"number":1},"parts":[{"type":"text","text":"first"}]}
{"type":"message","id":"m2","role":"assistant","parts":[{"type":"text","text":"one"}]}
{"type":"message","id":"m3","role":"user","turn":{"number":2},"parts":[{"type":"text","text":"first"}]}
{"type":"message","id":"m4","role":"assistant","parts":[{"type":"text","text":"wait"},{"type":"tool_call","id":"toolu_01","name":"Bash","input":{"command":"ls"}}]}
`

// claudeFile is a file to which Claude Code adds lines.
type claudeFile struct {
	t          *testing.T
	path       string
	session, n string
	out        *os.File
	parent     any
	lines      int
}

// continued adds what words say to a file of Claude Code.
func continued(t *testing.T, path string, words ...string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := &claudeFile{t: t, path: path, session: strings.TrimSuffix(filepath.Base(path), ".jsonl")}
	for line := range strings.Lines(string(text)) {
		f.lines++
		if _, after, ok := strings.Cut(line, `"uuid":"`); ok {
			f.parent = after[:36]
		}
	}
	if f.out, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0); err != nil {
		t.Fatal(err)
	}
	defer f.out.Close()
	for _, word := range words {
		kind, text, _ := strings.Cut(word, ":")
		f.do(kind, text)
	}
}

func (f *claudeFile) do(kind, text string) {
	f.n = fmt.Sprintf("%06d", f.lines)
	call, kid := "toolu_"+f.n, "ab"+f.n
	called := func(name, input, result string) {
		f.line(`"type":"assistant"`, `"message":{"id":"msg_`+f.n+`","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"`+call+`","name":"`+name+`","input":`+input+`}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`)
		f.line(`"type":"user"`, `"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"`+call+`","content":"ok"}]}`, `"toolUseResult":`+result)
	}
	switch kind {
	case "ask":
		f.line(`"type":"user"`, `"message":{"role":"user","content":"`+text+`"}`)
	case "say":
		f.line(`"type":"assistant"`, `"message":{"id":"msg_`+f.n+`","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"`+text+`"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`)
	case "think":
		f.line(`"type":"assistant"`, `"message":{"id":"msg_`+f.n+`","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"thinking","thinking":"`+text+`","signature":"c2ln"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`)
	case "show": // what is no image
		f.line(`"type":"user"`, `"message":{"role":"user","content":[{"type":"text","text":"`+text+`"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]}`)
	case "meta": // as the client does when a turn was interrupted
		f.line(`"type":"user"`, `"message":{"role":"user","content":"`+text+`"}`, `"isMeta":true`)
	case "attach": // a record of the client, and one that it sends
		f.line(`"type":"attachment"`, `"attachment":{"type":"skill_listing","content":"`+text+`","skillCount":1}`)
		f.line(`"type":"attachment"`, `"attachment":{"type":"unheard_of","text":"`+text+`"}`)
	case "compact":
		f.parent = nil
		f.line(`"type":"system"`, `"subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":{"trigger":"manual","preTokens":100}`)
		f.line(`"type":"user"`, `"message":{"role":"user","content":"`+text+`"}`, `"isCompactSummary":true`)
	case "todo":
		list := `[{"content":"` + text + `","status":"in_progress","activeForm":"x"}]`
		called("TodoWrite", `{"todos":`+list+`}`, `{"oldTodos":[],"newTodos":`+list+`}`)
	case "task":
		called("Task", `{"description":"look","prompt":"look around","subagent_type":"Explore"}`, `{"status":"completed","prompt":"look around","agentId":"`+kid+`","content":[{"type":"text","text":"ok"}]}`)
		dir := filepath.Join(strings.TrimSuffix(f.path, ".jsonl"), "subagents")
		inner := &claudeFile{t: f.t, session: f.session, n: f.n, lines: f.lines + 1000}
		err := os.MkdirAll(dir, 0o700)
		if err == nil {
			inner.out, err = os.Create(filepath.Join(dir, "agent-"+kid+".jsonl"))
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "agent-"+kid+".meta.json"), []byte(`{"agentType":"Explore","description":"look","toolUseId":"`+call+`"}`), 0o600)
		}
		if err != nil {
			f.t.Fatal(err)
		}
		defer inner.out.Close()
		inner.line(`"agentId":"`+kid+`","type":"user"`, `"message":{"role":"user","content":"look around"}`)
		inner.line(`"agentId":"`+kid+`","type":"assistant"`, `"message":{"id":"msg_s","type":"message","role":"assistant","model":"claude-haiku-4-5","content":[{"type":"text","text":"`+text+`"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`)
	}
}

func (f *claudeFile) line(members ...string) {
	f.t.Helper()
	f.lines++
	parent, _ := json.Marshal(f.parent)
	id := fmt.Sprintf("40000000-0000-4000-8000-%012d", f.lines)
	side := "false"
	if strings.HasPrefix(members[0], `"agentId"`) {
		side = "true"
	}
	if _, err := fmt.Fprintf(f.out, `{"parentUuid":%s,"isSidechain":%s,"cwd":"/w","sessionId":"%s","version":"2.1.328",%s,"uuid":"%s","timestamp":"2026-11-21T12:%02d:%02d.000Z"}`+"\n", parent, side, f.session, strings.Join(members, ","), id, f.lines/60%60, f.lines%60); err != nil {
		f.t.Fatal(err)
	}
	f.parent = id
}

// circle is a session of one client that was migrated to another one.
type circle struct {
	t              *testing.T
	home, cwd      string
	opts           convert.MigrateOptions // to the first client
	original, copy convert.BackSource
}

// dirOf returns where a client is looked for.
func (c *circle) dirOf(client string) string {
	if h := all.Registry().Lookup(client).Home; h.Folder != "" {
		return filepath.Join(c.home, map[string]string{"claude-code": ".claude", "cursor-chat": ".cursor"}[client])
	}
	return c.home
}

func (c *circle) migrate(from convert.BackSource, to string, update bool) convert.BackSource {
	c.t.Helper()
	o := convert.MigrateOptions{To: to, Dir: c.dirOf(to), Cwd: c.cwd, UndoDir: filepath.Join(c.home, "earlier"), Update: update}
	src := convert.MigrateSource{Path: from.Path}
	if from.ID != "" {
		src.Sessions = []string{from.ID}
	}
	done, err := convert.Migrate(c.t.Context(), all.Registry(), []convert.MigrateSource{src}, o)
	if err != nil || len(done.Migrated) != 1 || done.Migrated[0].Err() != nil {
		c.t.Fatalf("to %s: %+v, %v", to, done, err)
	}
	return convert.BackSource{Path: done.Migrated[0].File, Format: to, ID: done.Migrated[0].Session}
}

// newCircle makes a session of one client, and its copy in another one.
func newCircle(t *testing.T, agent, first, second string) *circle {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &circle{t: t, home: filepath.Join(dir, "home"), cwd: filepath.Join(dir, "work")}
	text := filepath.Join(dir, "text.jsonl")
	if err := errors.Join(os.Mkdir(c.home, 0o700), os.Mkdir(c.cwd, 0o700), os.WriteFile(text, fmt.Appendf(nil, begun, agent, filepath.ToSlash(c.cwd)), 0o600)); err != nil {
		t.Fatal(err)
	}
	c.opts = convert.MigrateOptions{To: first, Dir: c.dirOf(first), UndoDir: filepath.Join(c.home, "undo")}
	c.original = c.migrate(convert.BackSource{Path: text}, first, false)
	c.copy = c.migrate(c.original, second, false)
	return c
}

func (c *circle) back() convert.Migrated {
	c.t.Helper()
	dry := c.opts
	dry.DryRun = true
	before := c.state()
	would, err := convert.Back(c.t.Context(), all.Registry(), c.copy, c.original, dry)
	if err != nil {
		c.t.Fatal(err)
	}
	if now := c.state(); now != before {
		c.t.Errorf("a dry run changed\n%s\nto\n%s", before, now)
	}
	done, err := convert.Back(c.t.Context(), all.Registry(), c.copy, c.original, c.opts)
	if err != nil {
		c.t.Fatal(err)
	}
	m := done.Migrated[0]
	if w := would.Migrated[0]; w.Turns != m.Turns || w.Messages != m.Messages || w.Subagents != m.Subagents {
		c.t.Errorf("a dry run said %+v, the run %+v", w, m)
	}
	return m
}

// state describes everything that the original's client has.
func (c *circle) state() string {
	c.t.Helper()
	to := filepath.Dir(c.original.Path)
	if c.original.Format != "claude-code" {
		to = filepath.Join(c.t.TempDir(), "text")
		o := convert.Options{To: "archive", Sidecar: "none", WithSecrets: true}
		if _, err := convert.Convert(c.t.Context(), all.Registry(), c.original.Path, to, o); err != nil {
			c.t.Fatal(err)
		}
	}
	var out strings.Builder
	err := filepath.WalkDir(to, func(p string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		fmt.Fprintf(&out, "%s\n%s\n", p[len(to):], b)
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return out.String()
}

// spoken describes what was said in a session and its subagents, and their calls.
func spoken(t *testing.T, of convert.BackSource) (out []string) {
	t.Helper()
	l, err := formats.Locate(of.Path)
	if err != nil {
		t.Fatal(err)
	}
	note := func(one loss.Loss) {
		left := one.Code == loss.StrayBlob && strings.HasSuffix(t.Name(), "todo") // the list that another one replaced
		if one.Code != loss.CallUnanswered && !left {
			t.Errorf("%s: %s", of.Path, one.Code)
		}
	}
	for s, err := range all.Registry().Lookup(of.Format).Sessions.Decode(t.Context(), l, formats.View{OnNotice: func(string) {}, OnLoss: note}, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		who := ""
		if s.Parent != nil {
			who = fmt.Sprintf("under %t ", s.Parent.Call != "")
		}
		err := session.Each(t.Context(), s.Messages, func(m *session.Message) error {
			for _, p := range m.Parts {
				switch p := p.(type) {
				case *session.Text:
					if m.Role != session.System {
						out = append(out, who+string(m.Role)+" "+p.Text)
					}
				case *session.Thinking:
					out = append(out, who+"thinks "+p.Text)
				case *session.ToolCall:
					out = append(out, who+"calls "+p.Kind)
				case *session.Summary:
					out = append(out, who+"sums up "+p.Text)
				case *session.Media:
					out = append(out, who+"shows "+p.Mime)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, todo := range s.Todos {
			out = append(out, "todo "+todo.Content+" "+todo.Status)
		}
	}
	return out
}

// growths are the ways in which a copy is continued, and what the original has of it in
// the end.
func growths() map[string]struct {
	words []string
	turns int64
	want  []string
} {
	return map[string]struct {
		words []string
		turns int64
		want  []string
	}{
		"turns":     {[]string{"ask:first", "say:a", "ask:b", "think:hm", "say:c"}, 2, []string{"user first", "assistant a", "user b", "thinks hm", "assistant c"}},
		"subagent":  {[]string{"ask:a", "task:found", "say:b"}, 1, []string{"user a", "calls task", "assistant b", "under true user look around", "under true assistant found"}},
		"todo":      {[]string{"ask:a", "todo:new", "say:b"}, 1, []string{"user a", "calls updateTodos", "assistant b", "todo new in_progress"}},
		"same turn": {[]string{"meta:go on", "say:a"}, 0, []string{"user go on", "assistant a"}},
		"compacted": {[]string{"compact:so far"}, 0, []string{"sums up so far"}},
		"later":     {[]string{"ask:a", "say:b", "compact:so far", "ask:c", "say:d"}, 2, []string{"user a", "assistant b", "sums up so far", "user c", "assistant d"}},
		"no image":  {[]string{"show:look", "say:a"}, 1, []string{"user look", "shows image/png", "assistant a"}},
		"context":   {[]string{"meta:only context"}, 0, nil},
	}
}

// TestBackToCursor: whatever a copy in Claude Code is continued with comes back to a chat
// and to an agent, once; what they had stays as it was, and undo restores it.
func TestBackToCursor(t *testing.T) {
	for to, agent := range map[string]string{"cursor-chat": "cursor-cli", "cursor-sdk": "cursor-sdk"} {
		for name, g := range growths() {
			if to == "cursor-sdk" && (name == "turns" || name == "later") {
				continue // as in a chat, and TestBackInto
			}
			t.Run(to+" "+name, func(t *testing.T) {
				c := newCircle(t, agent, to, "claude-code")
				if m := c.back(); m.Status != convert.Same {
					t.Errorf("nothing new: %+v", m)
				}
				was, before := spoken(t, c.original), c.state()
				continued(t, c.copy.Path, g.words...)
				m := c.back()
				if g.want == nil {
					if m.Status != convert.Same {
						t.Errorf("%+v", m)
					}
					return
				}
				if m.Status != convert.Updated || m.Turns != g.turns || m.Undo == 0 {
					t.Errorf("%+v", m)
				}
				want := slices.DeleteFunc(slices.Clone(was), func(s string) bool { return s == "todo old pending" })
				if !slices.Contains(g.words, "todo:new") {
					want = was
				}
				if got := inOrder(spoken(t, c.original)); !slices.Equal(got, inOrder(append(slices.Clone(want), g.want...))) {
					t.Errorf("got\n%s\nwant, besides\n%s\n\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), strings.Join(g.want, "\n"))
				}
				now, blobs := c.state(), 0
				for line := range strings.Lines(before) {
					if isBlob(line) {
						if blobs++; !strings.Contains(now, line) {
							t.Errorf("a blob is not what it was: %.80s", line)
						}
					}
				}
				if blobs == 0 {
					t.Error("no blobs were compared")
				}
				if m := c.back(); m.Status != convert.Same {
					t.Errorf("again: %+v", m)
				}
				continued(t, c.copy.Path, "ask:last", "say:end")
				if m := c.back(); m.Status != convert.Updated || m.Turns != 1 {
					t.Errorf("a second time: %+v", m)
				}
				for range 2 {
					r, err := convert.Undo(t.Context(), all.Registry(), convert.UndoOptions{Dir: c.opts.UndoDir})
					if err != nil || len(r.Kept) > 0 {
						t.Errorf("undo: %+v, %v", r, err)
					}
				}
				if now := c.state(); now != before {
					t.Errorf("undone, it is\n%s\nand was\n%s", now, before)
				}
			})
		}
	}
}

// TestBackCounts: what the client adds to a prompt is no message that anybody wrote.
func TestBackCounts(t *testing.T) {
	c := newCircle(t, "cursor-cli", "cursor-chat", "claude-code")
	continued(t, c.copy.Path, "attach:a", "ask:first", "attach:b", "meta:aside", "say:one", "attach:c")
	if m := c.back(); m.Status != convert.Updated || m.Turns != 1 || m.Messages != 2 {
		t.Errorf("one prompt and one answer: %d turns, %d messages", m.Turns, m.Messages)
	}
}

// isBlob reports whether a line of an archive is a blob.
func isBlob(line string) bool {
	_, rest, ok := strings.Cut(line, `,"`)
	return ok && len(rest) > 64 && rest[64] == '"' && strings.Trim(rest[:64], "0123456789abcdef") == ""
}

func inOrder(list []string) []string { return slices.Sorted(slices.Values(list)) }

// TestBackToClaude: the same from a chat or an agent to Claude Code.
func TestBackToClaude(t *testing.T) {
	for _, from := range []string{"cursor-chat", "cursor-sdk"} {
		for name, g := range growths() {
			if from == "cursor-sdk" && name != "subagent" {
				continue // it has the same state
			}
			if name == "no image" || g.want == nil {
				continue
			}
			t.Run(from+" "+name, func(t *testing.T) {
				c := newCircle(t, "claude-code", "claude-code", from)
				before, err := os.ReadFile(c.original.Path)
				if err != nil {
					t.Fatal(err)
				}
				was := spoken(t, c.original)
				// What the other client would add comes from Claude Code, too.
				side := strings.TrimSuffix(c.original.Path, ".jsonl")
				continued(t, c.original.Path, g.words...)
				c.migrate(c.original, from, true)
				if err := errors.Join(os.WriteFile(c.original.Path, before, 0o600), os.RemoveAll(side)); err != nil {
					t.Fatal(err)
				}
				if m := c.back(); m.Status != convert.Updated || m.Turns != g.turns || m.Undo == 0 {
					t.Errorf("%+v", m)
				}
				want := slices.Clone(g.want)
				for i, w := range want {
					want[i] = strings.Replace(w, "thinks hm", "assistant <thinking>\nhm\n</thinking>", 1) // without its signature
				}
				want = slices.DeleteFunc(want, func(s string) bool { return strings.HasPrefix(s, "todo") })
				if got := inOrder(spoken(t, c.original)); !slices.Equal(got, inOrder(append(slices.Clone(was), want...))) {
					t.Errorf("got\n%s\nwant, besides\n%s\n\n%s", strings.Join(got, "\n"), strings.Join(was, "\n"), strings.Join(want, "\n"))
				}
				if m := c.back(); m.Status != convert.Same {
					t.Errorf("again: %+v", m)
				}
				if r, err := convert.Undo(t.Context(), all.Registry(), convert.UndoOptions{Dir: c.opts.UndoDir}); err != nil || len(r.Kept) > 0 {
					t.Errorf("undo: %+v, %v", r, err)
				}
				if now, err := os.ReadFile(c.original.Path); err != nil || string(now) != string(before) {
					t.Errorf("undone, it is\n%s", now)
				}
				if _, err := os.Stat(side); err == nil {
					t.Error("undone, its side folder is left")
				}
			})
		}
	}
}

// TestBackRefused: a chat that was continued itself, or that its client has open, is left as
// it is.
func TestBackRefused(t *testing.T) {
	c := newCircle(t, "cursor-cli", "cursor-chat", "claude-code")
	continued(t, c.copy.Path, "ask:a", "say:b")
	before := c.state()
	store := filepath.Join(c.original.Path, "store.db")
	refused := func(want string) {
		t.Helper()
		for _, dry := range []bool{true, false} {
			o := c.opts
			o.DryRun = dry
			if _, err := convert.Back(t.Context(), all.Registry(), c.copy, c.original, o); err == nil || !strings.Contains(err.Error(), want) || formats.Hint(err) == "" {
				t.Errorf("%v, want %s", err, want)
			}
		}
		if records, err := convert.UndoRecords(c.opts.UndoDir); err != nil || len(records) > 0 {
			t.Errorf("%v, %v are left", records, err)
		}
	}
	sqlite(t, store, "UPDATE blobs SET id='x'||id WHERE rowid=1")
	refused("incomplete")
	sqlite(t, store, "UPDATE blobs SET id=substr(id, 2) WHERE rowid=1")
	if now := c.state(); now != before {
		t.Fatal("the chat was not restored")
	}
	other := newCircle(t, "cursor-cli", "cursor-chat", "claude-code")
	continued(t, other.copy.Path, "ask:elsewhere", "say:no")
	if m := other.back(); m.Status != convert.Updated {
		t.Fatalf("%+v", m)
	}
	c.original, c.opts = other.original, other.opts
	before = c.state()
	if _, err := convert.Back(t.Context(), all.Registry(), c.copy, c.original, c.opts); err == nil || !strings.Contains(err.Error(), "were continued after turn 2") {
		t.Errorf("continued in both: %v", err)
	}
	if now := c.state(); now != before {
		t.Error("the chat has changed")
	}
}

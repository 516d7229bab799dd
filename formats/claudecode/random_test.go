package claudecode

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/toolmap"
	"rehome/formats/session"
)

// maker makes sessions that no client would write, and that all could.
type maker struct {
	*rand.Rand
	calls []string
	n     int
}

func (r *maker) chance(percent int) bool { return r.IntN(100) < percent }

func pick[T any](r *maker, list ...T) T { return list[r.IntN(len(list))] }

func (r *maker) text() string {
	r.n++
	return pick(r, fmt.Sprintf("word %d", r.n), "", " \n", "<tag>\n"+fmt.Sprint(r.n)+"\n</tag>", "\x00\u2028", "\xff\xed\xa0\xbd", strings.Repeat("long ", r.IntN(500)), "\ufeff", `"\`+"\r\n")
}

func (r *maker) raw() session.Raw {
	return session.Raw(pick(r, "", "null", "{}", "[]", `"x"`, "1", `{"path":"/a","old_string":"x","new_string":""}`, `{"path":"/a","streamContent":"z"}`, `{"command":"ls","pattern":"x","url":"u","globPattern":"*","prompt":"p","query":"q"}`,
		`{"edits":[{"old_string":"a","new_string":"b"}],"file_path":"f"}`, `{"todos":[{"content":"c"}]}`, `{"todos":[{"id":"1"}]}`, `{"toolName":"a b","providerIdentifier":"é","args":[1]}`, `{"target_file":"t","contents":""}`, `{"path":5,"command":{}}`))
}

func (r *maker) value() session.Raw {
	return session.Raw(pick(r, "", "null", `"words"`, `{"success":{}}`, `{"success":{"beforeFullFileContent":"a\nb","afterFullFileContent":"a\nc"}}`, `{"success":{"afterFullFileContent":""}}`, `{"success":{"diffString":"@@ -1 +1 @@\n-a\n+b"}}`,
		`{"failure":{"stdout":"o","stderr":"e","exitCode":1}}`, `{"success":{"content":"c","totalLines":-1,"readRange":{"startLine":9}}}`, `{"diff":{"chunks":[{"diffString":"-a\n+b","oldStart":3}]}}`, "[1,2]", `{"success":{"files":["x"]},"error":5}`))
}

func (r *maker) id() string {
	id := pick(r, fmt.Sprintf("call_%d", r.IntN(40)), fmt.Sprintf("a\nb%d", r.IntN(9)), "", "same", strings.Repeat("y", 60+r.IntN(10)), "é:"+fmt.Sprint(r.IntN(5)))
	r.calls = append(r.calls, id)
	return id
}

func (r *maker) part(image []byte) session.Part {
	switch r.IntN(12) {
	case 0, 1, 2:
		return &session.Text{Text: r.text()}
	case 3:
		return &session.Injected{Tag: pick(r, "", "rule", "user info"), Text: r.text(), Data: r.raw()}
	case 4:
		return &session.Thinking{Text: r.text(), Signature: pick(r, "", "c2ln"), Redacted: r.chance(20), Data: pick(r, "", "x")}
	case 5, 6, 7:
		kinds := toolmap.Kinds()
		return &session.ToolCall{ID: r.id(), Name: pick(r, "Shell", "my tool", "", "mcp_x_y", "Write", "mcp__a__b"), Kind: pick(r, "", "edit", "edit", "shell", "mcp", kinds[r.IntN(len(kinds))]), Input: r.raw(), Args: r.raw(), Child: pick(r, "", "kid")}
	case 8, 9:
		id := "nobody's"
		if len(r.calls) > 0 && r.chance(95) {
			id = r.calls[len(r.calls)-1-r.IntN(min(4, len(r.calls)))]
		}
		out := &session.ToolResult{Call: id, Error: r.chance(20), Value: r.value()}
		for range r.IntN(3) {
			out.Content = append(out.Content, pick[session.Part](r, &session.Text{Text: r.text()}, &session.Media{Mime: "image/png", Data: image}, &session.Opaque{Raw: session.Raw("1")}))
		}
		return out
	case 10:
		return pick[session.Part](r, &session.Media{Data: image}, &session.Media{Mime: "image/png", Data: []byte("no")}, &session.Media{URI: "u"}, &session.Media{Mime: "a/b", Data: []byte("%PDF-1")}, &session.Media{Data: []byte("text")}, &session.Opaque{Kind: "k", Raw: session.Raw("{}")})
	}
	if r.chance(40) {
		return pick[session.Part](r, &session.Boundary{Archived: 3}, &session.Summary{Text: r.text()})
	}
	return &session.Text{Text: r.text()}
}

func (r *maker) session(image []byte) ([]*session.Message, session.Head) {
	var list []*session.Message
	for i := range r.IntN(30) {
		m := &session.Message{ID: fmt.Sprint("m", i), Role: pick(r, session.User, session.Assistant, session.Assistant, session.Tool, session.System), Simulated: r.chance(10), Model: pick(r, "", "gpt-5", "claude-opus-4-5")}
		if r.chance(70) {
			m.At = pick(r, session.Stored(int64(r.IntN(1e6))), session.Inferred(1.7e12), session.Stored(-5), session.Stored(1<<61))
		}
		if r.chance(20) {
			m.Turn = &session.Turn{Number: i}
		}
		for range r.IntN(5) {
			m.Parts = append(m.Parts, r.part(image))
		}
		list = append(list, m)
	}
	head := session.Head{ID: fmt.Sprint("s", r.IntN(5)), Agent: pick(r, session.CursorCLI, session.CursorIDE, session.ClaudeCode), Title: r.text(), Workspace: pick(r, "", "/home/ann/é", "/a/"), Created: pick(r, session.Stamp{}, session.Stored(1e12))}
	if r.chance(20) {
		head.Parent = &session.Link{Session: "up"}
	}
	return list, head
}

// TestRandom: whatever is written, the API takes it, every call comes back, and
// what decodes can be written again.
func TestRandom(t *testing.T) {
	image := picture(t)
	for seed := range uint64(150) {
		r := &maker{Rand: rand.New(rand.NewPCG(seed, 7))}
		list, head := r.session(image)
		b := formats.SessionBuild{FullHistory: r.chance(20), DropThinking: r.chance(20), Cwd: pick(r, "", "/cwd")}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := encoded(t, &session.Session{Head: head, Messages: stream(list...)}, b)
			lint(t, w)
			l, err := formats.Locate(w.path)
			if err != nil {
				t.Fatal(err)
			}
			again := 0
			for s, err := range Format().Sessions.Decode(t.Context(), l, formats.View{}, session.Selection{}) {
				if err != nil {
					t.Fatal(err)
				}
				again++
				lint(t, encoded(t, s, formats.SessionBuild{}))
			}
			if again != 1 {
				t.Errorf("%d sessions came back", again)
			}
		})
	}
}

// TestVerify: a file that was spoilt anywhere is found out.
func TestVerify(t *testing.T) {
	w := encoded(t, chat(say(session.User, words("go")), say(session.Assistant, words("now"), calling("a", "Shell")), say(session.Tool, resulting("a", "x"))), formats.SessionBuild{})
	good, err := os.ReadFile(w.path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{`"content":"go"`, `"content":" "`}, {`"id":"a"`, `"id":"a b"`}, {`"name":"Bash"`, `"name":"my tool"`}, {`"input":{`, `"input":[],"x":{`},
		{`"tool_use_id":"a"`, `"tool_use_id":"b"`}, {`"type":"tool_result"`, `"type":"tool_result","extra":1`}, {`"parentUuid":null`, `"parentUuid":"x"`},
		{`"isSidechain":false`, `"isSidechain":true`}, {`"text":"now"`, `"text":""`}, {`.001Z`, `.000Z`}, {`"type":"system"`, `"type":"odd"`}, {`"lines":4`, `"lines":5`},
		{`"aiTitle":"A title"`, `"aiTitle":""`}, {"\n", "\n\n"}, {`"input_tokens":0`, `"input_tokens":1`}, {`"sessionId":"`, `"sessionId":"x`}, {"}\n{\"type\":\"ai-title\"", "}{\"type\":\"ai-title\""},
	} {
		bad := strings.Replace(string(good), c[0], c[1], 1)
		if bad == string(good) {
			if c[0] != `"type":"system"` {
				t.Errorf("there is no %s", c[0])
			}
			continue
		}
		if err := os.WriteFile(w.path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := w.draft.Verify(t.Context()); err == nil || formats.Hint(err) == "" {
			t.Errorf("%s for %s is not found: %v", c[1], c[0], err)
		}
	}
	for cut := 0; cut < len(good); cut += 13 {
		if err := os.WriteFile(w.path, good[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := w.draft.Verify(t.Context()); err == nil {
			t.Errorf("cut off at %d it passes", cut)
		}
	}
}

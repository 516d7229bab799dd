package claudecode

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// stream is a list as a decoder hands it out.
func stream(list ...*session.Message) iter.Seq2[*session.Message, error] {
	return func(yield func(*session.Message, error) bool) {
		for _, m := range list {
			if !yield(m, nil) {
				return
			}
		}
	}
}

type written struct {
	path  string
	draft *formats.Draft
	lines []map[string]any
	notes []loss.Loss
}

// blocks are the blocks of content that the model is sent, with their role.
func (w *written) blocks() (out []map[string]any) {
	for _, l := range w.lines {
		m, _ := l["message"].(map[string]any)
		if m == nil {
			continue
		}
		switch c := m["content"].(type) {
		case string:
			out = append(out, map[string]any{"role": m["role"], "type": "text", "text": c})
		case []any:
			for _, b := range c {
				b := b.(map[string]any)
				b["role"] = m["role"]
				out = append(out, b)
			}
		}
	}
	return out
}

func (w *written) noted(code loss.Code) bool {
	for _, n := range w.notes {
		if n.Code == code {
			return true
		}
	}
	return false
}

// encoded encodes a session and holds it against the rules.
func encoded(t *testing.T, s *session.Session, b formats.SessionBuild) *written {
	t.Helper()
	w := &written{path: filepath.Join(t.TempDir(), "x.jsonl")}
	b.Path, b.OnLoss = w.path, func(n loss.Loss) { w.notes = append(w.notes, n) }
	var err error
	if w.draft, err = Format().Writer.New().Put(context.Background(), s, b); err != nil {
		t.Fatal(err)
	}
	if err := w.draft.Verify(context.Background()); err != nil {
		data, _ := os.ReadFile(w.path)
		t.Fatalf("%v\n%.4000s", err, data)
	}
	data, err := os.ReadFile(w.path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var l map[string]any
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		w.lines = append(w.lines, l)
	}
	return w
}

func say(role session.Role, parts ...session.Part) *session.Message {
	return &session.Message{ID: "m", Role: role, Parts: parts}
}

func words(s string) *session.Text { return &session.Text{Text: s} }

func chat(list ...*session.Message) *session.Session {
	return &session.Session{Head: session.Head{ID: "s1", Agent: session.CursorCLI, Title: "A title", Workspace: "/home/ann/app/"}, Messages: stream(list...)}
}

func TestNativeTools(t *testing.T) {
	for _, c := range []struct {
		name                string
		call                session.ToolCall
		value               string
		tool, input, screen string
	}{
		{"shell", session.ToolCall{Name: "Shell", Kind: "shell", Input: session.Raw(`{"command":"ls -l","description":"look"}`)}, `{"success":{"stdout":"a\nb","stderr":"","exitCode":0}}`,
			"Bash", `{"command":"ls -l","description":"look"}`, `{"stdout":"a\nb","stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}`},
		{"read", session.ToolCall{Kind: "read", Name: "read", Args: session.Raw(`{"path":"/a","offset":3,"limit":2}`)}, `{"success":{"content":"x\ny","totalLines":9}}`,
			"Read", `{"file_path":"/a","offset":3,"limit":2}`, `{"type":"text","file":{"filePath":"/a","content":"x\ny","numLines":2,"startLine":3,"totalLines":9}}`},
		{"replace", session.ToolCall{Kind: "edit", Name: "StrReplace", Input: session.Raw(`{"path":"/a","old_string":"x","new_string":"y"}`)}, `{"success":{"beforeFullFileContent":"x\nz\n","afterFullFileContent":"y\nz\n"}}`,
			"Edit", `{"file_path":"/a","old_string":"x","new_string":"y"}`, `{"filePath":"/a","oldString":"x","newString":"y","originalFile":"x\nz\n","structuredPatch":[{"oldStart":1,"oldLines":2,"newStart":1,"newLines":2,"lines":["-x","+y"," z"]}],"userModified":false,"replaceAll":false}`},
		{"after the fact", session.ToolCall{Kind: "edit", Name: "edit", Args: session.Raw(`{"path":"/a","streamContent":"y"}`)}, `{"success":{"beforeFullFileContent":"1\nx\n2\n","afterFullFileContent":"1\ny\n2\n"}}`,
			"Edit", `{"file_path":"/a","old_string":"x\n","new_string":"y\n"}`, ""},
		{"a new file", session.ToolCall{Kind: "edit", Name: "edit", Args: session.Raw(`{"path":"/a","streamContent":"y"}`)}, `{"success":{"afterFullFileContent":"y\n"}}`,
			"Write", `{"file_path":"/a","content":"y\n"}`, `{"type":"create","filePath":"/a","content":"y\n","structuredPatch":[],"originalFile":null,"userModified":false}`},
		{"write over", session.ToolCall{Kind: "edit", Name: "Write", Input: session.Raw(`{"path":"/a","contents":"y\n"}`)}, `{"success":{"beforeFullFileContent":"x\n","afterFullFileContent":"y\n"}}`,
			"Write", `{"file_path":"/a","content":"y\n"}`, `{"type":"update","filePath":"/a","content":"y\n","structuredPatch":[{"oldStart":1,"oldLines":1,"newStart":1,"newLines":1,"lines":["-x","+y"]}],"originalFile":"x\n","userModified":false}`},
		{"a patch", session.ToolCall{Kind: "edit", Name: "ApplyPatch", Input: session.Raw(`"*** Begin Patch"`)}, `{"success":{"path":"/a","diffString":"@@ -1,2 +1,2 @@\n x\n-y\n+z\n"}}`,
			"Edit", `{"file_path":"/a","old_string":"x\ny","new_string":"x\nz"}`, ""},
		{"a patch, and the file behind it", session.ToolCall{Kind: "edit", Name: "edit_file", Args: session.Raw(`{"relativeWorkspacePath":"/a","contentsAfterEdit":"x\nz\n"}`)}, `{"diff":{"chunks":[{"diffString":" x\n-y\n+z","oldStart":1,"newStart":1}]}}`,
			"Edit", `{"file_path":"/a","old_string":"x\ny","new_string":"x\nz"}`, ""},
		{"the file behind it alone", session.ToolCall{Kind: "edit", Name: "edit_file", Args: session.Raw(`{"relativeWorkspacePath":"/a","contentsAfterEdit":"x\nz\n"}`)}, `{}`,
			"Write", `{"file_path":"/a","content":"x\nz\n"}`, ""},
		{"names of contents", session.ToolCall{Kind: "edit", Name: "edit_file_v2", Args: session.Raw(`{"relativeWorkspacePath":"/a","streamingContent":"sketch"}`)}, `{"beforeContentId":"composer.content.1","afterContentId":"composer.content.2"}`,
			"edit_file_v2", `{"relativeWorkspacePath":"/a","streamingContent":"sketch"}`, ""},
		{"a patch that only the model tells", session.ToolCall{Kind: "edit", Name: "ApplyPatch", Input: session.Raw(`"*** Begin Patch\n*** Update File: /a\n@@ func\n x\n-y\n+z\n*** End Patch"`)}, `{}`,
			"Edit", `{"file_path":"/a","old_string":"x\ny","new_string":"x\nz"}`, `{"filePath":"/a","oldString":"x\ny","newString":"x\nz","originalFile":null,"structuredPatch":[{"oldStart":1,"oldLines":2,"newStart":1,"newLines":2,"lines":[" x","-y","+z"]}],"userModified":false,"replaceAll":false}`},
		{"a patch that adds a file", session.ToolCall{Kind: "edit", Name: "apply_patch", Input: session.Raw(`{"patch":"*** Begin Patch\n*** Add File: /b\n+x\n+y\n*** End Patch"}`)}, `{}`,
			"Write", `{"file_path":"/b","content":"x\ny"}`, ""},
		{"a patch of two files", session.ToolCall{Kind: "edit", Name: "ApplyPatch", Input: session.Raw(`"*** Begin Patch\n*** Update File: /a\n-y\n+z\n*** Update File: /b\n-y\n+z\n"`)}, `{}`,
			"ApplyPatch", `{"input":"*** Begin Patch\n*** Update File: /a\n-y\n+z\n*** Update File: /b\n-y\n+z\n"}`, ""},
		{"several places", session.ToolCall{Kind: "edit", Name: "MultiEdit", Input: session.Raw(`{"file_path":"/a","edits":[{"old_string":"x","new_string":"y"},{"old_string":"1","new_string":""}]}`)}, `{}`,
			"Edit", `{"file_path":"/a","old_string":"x\n1","new_string":"y\n"}`, ""},
		{"a patch of nothing", session.ToolCall{Kind: "edit", Name: "ApplyPatch", Input: session.Raw(`"*** Begin Patch"`)}, `{"error":{"error":"no"}}`,
			"ApplyPatch", `{"input":"*** Begin Patch"}`, ""},
		{"arguments that break off", session.ToolCall{Kind: "edit", Name: "edit_file", Input: session.Raw(`"{\"path\":\"/proj "`), Args: session.Raw(`{"relativeWorkspacePath":"/proj/a"}`)}, `{}`,
			"edit_file", `{"relativeWorkspacePath":"/proj/a"}`, ""},
		{"told by an event alone", session.ToolCall{Kind: "shell", Name: "shell", Args: session.Raw(`{"command":"printf begun"}`)}, `{"status":"success","value":{"exitCode":0,"stdout":"begun","stderr":""}}`,
			"Bash", `{"command":"printf begun"}`, `{"stdout":"begun","stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}`},
		{"grep", session.ToolCall{Kind: "grep", Name: "Grep", Input: session.Raw(`{"pattern":"x","-i":true}`)}, `{"success":{}}`, "Grep", `{"pattern":"x","-i":true}`, ""},
		{"glob", session.ToolCall{Kind: "glob", Name: "Glob", Args: session.Raw(`{"targetDirectory":"/w","globPattern":"*.go"}`)}, `{"success":{"files":["a.go"]}}`,
			"Glob", `{"pattern":"*.go","path":"/w"}`, `{"filenames":["a.go"],"durationMs":0,"numFiles":1,"truncated":false,"totalMatches":1,"countIsComplete":true}`},
		{"ls", session.ToolCall{Kind: "ls", Name: "LS", Input: session.Raw(`{"target_directory":"/a b"}`)}, `{"success":{}}`, "Bash", `{"command":"ls '/a b'","description":"List files"}`, ""},
		{"delete", session.ToolCall{Kind: "delete", Name: "Delete", Input: session.Raw(`{"path":"-x'y"}`)}, `{"success":{}}`, "Bash", `{"command":"rm './-x'\\''y'","description":"Delete a file"}`, ""},
		{"todos", session.ToolCall{Kind: "updateTodos", Name: "TodoWrite", Args: session.Raw(`{"todos":[{"id":"1","content":"do","status":"TO` + `DO_STATUS_IN_PROGRESS"}]}`)}, `{"success":{}}`,
			"TodoWrite", `{"todos":[{"content":"do","status":"in_progress","activeForm":"do"}]}`, ""},
		{"mcp", session.ToolCall{Kind: "mcp", Name: "CallMcpTool", Input: session.Raw(`{"server":"my tracker","toolName":"list it","arguments":{"a":1}}`)}, `{"success":{"content":[{"text":{"text":"3 open"}}]}}`,
			"mcp__my-tracker__list-it", `{"a":1}`, ""},
		{"web", session.ToolCall{Kind: "webSearch", Name: "WebSearch", Args: session.Raw(`{"searchTerm":"go"}`)}, `{"success":{}}`, "WebSearch", `{"query":"go"}`, ""},
		{"task", session.ToolCall{Kind: "task", Name: "Task", Args: session.Raw(`{"description":"d","prompt":"p","subagentType":{"explore":{}}}`), Child: "c"}, `{"success":{}}`,
			"Agent", `{"description":"d","prompt":"p","subagent_type":"explore"}`, ""},
		{"nobody's", session.ToolCall{Kind: "semSearch", Name: "find it!", Args: session.Raw(`{"query":"x"}`)}, `{"success":{"results":"here"}}`, "find-it-", `{"query":"x"}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			call := c.call
			call.ID = "c1"
			w := encoded(t, chat(say(session.User, words("go")), say(session.Assistant, &call), say(session.Tool, &session.ToolResult{Call: "c1", Status: "success", Value: session.Raw(c.value)})), formats.SessionBuild{})
			use := w.blocks()[1]
			input, _ := json.Marshal(use["input"])
			if use["name"] != c.tool || !same(t, string(input), c.input) {
				t.Errorf("%s %s, want %s %s", use["name"], input, c.tool, c.input)
			}
			screen, _ := json.Marshal(w.lines[2]["toolUseResult"])
			if c.screen != "" && !same(t, string(screen), c.screen) {
				t.Errorf("the screen is drawn from\n%s, want\n%s", screen, c.screen)
			}
		})
	}
}

func same(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		t.Fatalf("%s or %s is no JSON", a, b)
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}

// TestBeside: what lies beside a subagent's file says what the facts say of it,
// and names the call that started it unless its session is known to lack it.
func TestBeside(t *testing.T) {
	call, sink := "call\n1", Format().Writer.New()
	put := func(s *session.Session) (beside string) {
		t.Helper()
		at := filepath.Join(t.TempDir(), "x")
		d, err := sink.Put(t.Context(), s, formats.SessionBuild{Path: at})
		if err != nil {
			t.Fatal(err)
		}
		if d.Companion == "" {
			return ""
		}
		got, err := os.ReadFile(at + d.Companion)
		if err != nil || d.Companion != ".meta.json" {
			t.Fatal(d.Companion, err)
		}
		return string(got)
	}
	kid := func(up session.Link) *session.Session {
		return &session.Session{Head: session.Head{ID: "kid", Agent: session.CursorSDK, Title: "Do it\nnow", Parent: &up}}
	}
	explore := session.Link{Session: "up", Call: call, Title: "Look around", Kind: "explore"}
	want := `{"agentType":"explore","description":"Look around","toolUseId":"` + knownCall(call) + `"}`
	if got := put(kid(explore)); !same(t, got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	if got := put(kid(session.Link{Session: "up"})); !same(t, got, `{"agentType":"general-purpose","description":"Do it"}`) {
		t.Errorf("%s", got)
	}
	s := chat(say(session.User, words("go")), say(session.Assistant, &session.ToolCall{ID: call, Name: "Task", Kind: "task", Child: "kid", Args: session.Raw(`{"prompt":"p","description":"d"}`)}), say(session.Tool, resulting(call, "done")))
	if id := encoded(t, s, formats.SessionBuild{}).blocks()[1]["id"]; id != knownCall(call) {
		t.Errorf("the call is %v", id)
	}
	s = chat(say(session.User, words("go")), say(session.Assistant, calling(call, "Task")))
	if s.ID = "up"; put(s) != "" {
		t.Error("a file beside a session that is no subagent")
	}
	if got := put(kid(explore)); !same(t, got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	explore.Call = "other"
	if got := put(kid(explore)); !same(t, got, `{"agentType":"explore","description":"Look around"}`) {
		t.Errorf("a call that the session lacks: %s", got)
	}
}

// TestChanged: an edit of which the source only names the contents is one of
// Claude Code's, as long as they are there.
func TestChanged(t *testing.T) {
	body := func(s string) *session.Body { return &session.Body{Bytes: []byte(s)} }
	for _, c := range []struct {
		name          string
		before, after *session.Body
		failed        bool
		tool, input   string
	}{
		{"an edit", body("1\nx\n2\n"), body("1\ny\n2\n"), false, "Edit", `{"file_path":"/a","old_string":"x\n","new_string":"y\n"}`},
		{"a new file", body(""), body("y\n"), false, "Write", `{"file_path":"/a","content":"y\n"}`},
		{"before is gone", nil, body("y\n"), false, "Write", `{"file_path":"/a","content":"y\n"}`},
		{"both are gone", nil, nil, false, "edit_file_v2", `{"relativeWorkspacePath":"/a"}`},
		{"no text", body("x"), body("\xff"), false, "edit_file_v2", `{"relativeWorkspacePath":"/a"}`},
		{"it failed", body("x"), body("y"), true, "edit_file_v2", `{"relativeWorkspacePath":"/a"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			call := &session.ToolCall{ID: "c1", Kind: "edit", Name: "edit_file_v2", Args: session.Raw(`{"relativeWorkspacePath":"/a"}`)}
			result := &session.ToolResult{Call: "c1", Error: c.failed, Value: session.Raw(`{"beforeContentId":"composer.content.1","afterContentId":"composer.content.2"}`), FileChange: func() (*session.Body, *session.Body) { return c.before, c.after }}
			w := encoded(t, chat(say(session.User, words("go")), say(session.Assistant, call), say(session.Tool, result)), formats.SessionBuild{})
			use := w.blocks()[1]
			if input, _ := json.Marshal(use["input"]); use["name"] != c.tool || !same(t, string(input), c.input) {
				t.Errorf("%s %s, want %s %s", use["name"], input, c.tool, c.input)
			}
			screen, drawn := w.lines[2]["toolUseResult"].(map[string]any)
			if want := c.tool != "edit_file_v2"; drawn != want || want && screen["filePath"] != "/a" {
				t.Errorf("the screen is drawn from %v", screen)
			}
			if !slices.ContainsFunc(w.notes, func(n loss.Loss) bool { return n.Kind() == loss.Reshaped }) {
				t.Error("nothing is noted")
			}
		})
	}
}

// knownCall is the id that is written for a call with an id that the API does not accept.
func knownCall(id string) string {
	sum := sha1.Sum(fmt.Appendf(nil, "rehome/claude-code/1\x004:call%d:%s", len(id), id))
	return "toolu_" + hex.EncodeToString(sum[:])[:24]
}

// TestBrokenPicture: a cut image is replaced by its description.
func TestBrokenPicture(t *testing.T) {
	w := encoded(t, chat(say(session.User, words("see"), &session.Media{Mime: "image/png", Data: picture(t)[:40]})), formats.SessionBuild{})
	if blocks := w.blocks(); len(blocks) != 2 || blocks[1]["type"] != "text" || !w.noted(loss.MediaNamed) {
		t.Errorf("%v, %v", blocks, w.notes)
	}
}

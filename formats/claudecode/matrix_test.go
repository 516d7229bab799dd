package claudecode

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/toolmap"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/golden"
)

// everything is arguments that any tool finds its own among.
const everything = `{"command":"ls","path":"/a/b","pattern":"x","globPattern":"*","searchTerm":"q","url":"https://example.org","prompt":"p","todos":[{"content":"c","status":"pending"}],"providerIdentifier":"s","toolName":"t","args":{"a":1},"contents":"c","content":"c","edits":[{"oldText":"x","newText":"y"}]}`

// fate is what became of one part: how, and as what it arrives.
func fate(t *testing.T, parts ...session.Part) (how, as string) {
	t.Helper()
	return arrival(t, say(session.User, words("go")), &session.Message{ID: "p", Role: roleOf(parts[0]), Parts: parts})
}

func roleOf(p session.Part) session.Role {
	switch p.(type) {
	case *session.Text, *session.Injected, *session.Media, *session.Opaque:
		return session.User
	case *session.Boundary, *session.Summary:
		return session.System
	}
	return session.Assistant
}

// arrival encodes messages and counts what the last one adds to what is sent.
func arrival(t *testing.T, list ...*session.Message) (how, as string) {
	t.Helper()
	before := encoded(t, chat(list[:len(list)-1]...), formats.SessionBuild{})
	w := encoded(t, chat(list...), formats.SessionBuild{})
	lint(t, w)
	worst := loss.Kind(0)
	for _, n := range w.notes {
		switch {
		case n.Code == loss.ArgumentLeft:
			worst = max(worst, loss.Reshaped) // of the call
		case n.Kind() != loss.Inferred:
			worst = max(worst, n.Kind())
		}
	}
	more := w.blocks()[len(before.blocks()):]
	switch {
	case len(more) == 0 && worst == 0:
		t.Errorf("dropped, and not noted: %T", list[len(list)-1].Parts[0])
		fallthrough
	case len(more) == 0:
		how = "dropped"
	case worst == loss.Dropped:
		how = "named in words"
	case worst == loss.Reshaped:
		how = "reshaped"
	default:
		how = "kept"
	}
	for _, b := range more {
		if b["type"] == "tool_use" {
			return how, fmt.Sprintf("tool_use `%s`", b["name"])
		}
	}
	if len(more) > 0 {
		as = fmt.Sprint(more[0]["type"])
	}
	return how, as
}

// TestMatrix writes what becomes of each kind of part and of tool on the way to
// Claude Code, as it is found out by writing them.
func TestMatrix(t *testing.T) {
	var out bytes.Buffer
	row := func(what, how, as string) { fmt.Fprintf(&out, "| %s | %s | %s |\n", what, how, as) }
	out.WriteString("# What reaches Claude Code\n\nThis page lists what happens to each kind of part and tool when a session is migrated to Claude Code. A test writes it: it\nmigrates one of each and looks at what Claude Code would send to the model. [What conversions keep](fidelity.md)\nlists all losses that are reported, and [Recipes](recipes.md#migrate-to-claude-code) says how to migrate.\n\n| result | means |\n|---|---|\n| kept | it arrives as it was |\n| reshaped | it arrives in another form or under another name; the last column says how |\n| named in words | a line of text names it |\n| dropped | it does not arrive |\n\n## Parts\n\n| part | result | arrives as |\n|---|---|---|\n")
	for _, p := range []struct {
		what string
		part session.Part
	}{
		{"prompt", words("x")}, {"context in an envelope", &session.Injected{Tag: "rule", Text: "x"}}, {"record of an attachment", &session.Injected{Tag: "file", Data: session.Raw("{}")}},
		{"image (PNG, JPEG, GIF, WebP)", &session.Media{Mime: "image/png", Data: picture(t)}}, {"PDF", &session.Media{Data: []byte("%PDF-1.4")}}, {"text file", &session.Media{Mime: "text/plain", Name: "a.txt", Data: []byte("x")}},
		{"any other file", &session.Media{Mime: "a/b", Data: []byte{0, 1}}}, {"thinking", &session.Thinking{Text: "x"}}, {"thinking withheld by its provider", &session.Thinking{Redacted: true, Data: "x"}},
		{"summary of compacted turns", &session.Boundary{Archived: 1}}, {"part of an unknown kind", &session.Opaque{Kind: "k", Raw: session.Raw("{}")}},
	} {
		parts := []session.Part{p.part}
		if _, ok := p.part.(*session.Boundary); ok {
			parts = append(parts, &session.Summary{Text: "x"})
		}
		how, as := fate(t, parts...)
		row(p.what, how, as)
	}
	how, as := arrival(t, say(session.User, words("go")), say(session.Assistant, words("x")))
	row("answer", how, as)
	how, as = arrival(t, say(session.User, words("go")), say(session.System, words("x")))
	row("system message", "reshaped", "shown, not sent")
	if how != "dropped" || as != "" {
		t.Errorf("a system message is sent: %s %s", how, as)
	}
	for _, history := range []bool{false, true} {
		s := chat(say(session.User, words("go")), say(session.Assistant, words("x")), on("b", say(session.User, words("else"))))
		if what := "abandoned turn"; history {
			s.Branches = []session.Branch{{Name: "b"}}
			row(what+", with `--history`", "reshaped", "in the file, not sent")
		} else {
			row(what, "dropped", "")
		}
		w := encoded(t, s, formats.SessionBuild{})
		data, err := os.ReadFile(w.path)
		if err != nil || bytes.Contains(data, []byte(`"else"`)) != history || slices.Contains(heard(w), "else") || history != w.noted(loss.BranchHidden) || history == w.noted(loss.TurnAbandoned) {
			t.Errorf("with its history %v: %v %v", history, err, w.notes)
		}
	}
	s := chat(say(session.User, words("go")))
	s.Files = func(yield func(*session.File, error) bool) { yield(&session.File{Path: "/a"}, nil) }
	if w := encoded(t, s, formats.SessionBuild{}); !w.noted(loss.SnapshotDropped) {
		t.Errorf("a snapshot is lost in silence: %v", w.notes)
	}
	row("snapshot of a file", "dropped", "")
	out.WriteString("\n## Tools\n\nEvery call is kept, with its result. Arguments that Claude Code's tool does not take are named as losses (L223) and kept in\nthe member `rehome` of the line, which is not sent. A working directory becomes `cd` before the command. An image in a\nfailed result follows the result, because Claude Code does not send it there. Calls of tools that Claude Code does not\nhave are sent to the model but not shown on the screen.\n\n| tool | result | arrives as |\n|---|---|---|\n")
	for _, kind := range toolmap.Kinds() {
		name := kind
		if names := toolmap.Names(kind); len(names) > 0 {
			name = names[0]
		}
		how, as := fate(t, &session.ToolCall{ID: "c", Name: name, Kind: kind, Args: session.Raw(everything)}, &session.ToolResult{Call: "c", Content: []session.Part{words("came")}, Value: session.Raw(`{"success":{"beforeFullFileContent":"a\n","afterFullFileContent":"b\n"}}`)})
		if !strings.HasPrefix(as, "tool_use") {
			t.Errorf("a call of %s is lost", kind)
		}
		row("`"+kind+"`", how, as)
	}
	path := filepath.Join("..", "..", "docs", "claude-code.md")
	if golden.Updating() {
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if was, err := os.ReadFile(path); err != nil || !bytes.Equal(was, out.Bytes()) {
		t.Errorf("%s is not what is found out now (%v): run make golden\n%s", path, err, out.String())
	}
}

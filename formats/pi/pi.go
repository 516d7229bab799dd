package pi

import (
	"cmp"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/lineclient"
	"rehome/formats/internal/toolmap"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

const (
	name = "pi"
	home = "PI_CODING_AGENT_DIR"
)

// Format is the codec.
func Format() *formats.Format {
	return lineclient.Format(lineclient.Client{
		Name:  name,
		About: "sessions of the Pi coding agent",
		Home: &formats.Home{
			Title:    "Pi",
			Resume:   []string{"pi", "--session"},
			Variable: home,
			Roots: func(m formats.Machine) []string {
				return []string{cmp.Or(m.Env(home), filepath.Join(m.Home, ".pi", "agent"))}
			},
			Parts:        []string{"sessions"},
			SessionFiles: []string{"*/sessions/*/*.jsonl"},
			SideFiles:    []string{".json"},
			Folder:       "sessions",
		},
		Files: []string{"sessions/--*--/*_{id}.jsonl"},
		Head:  lineclient.Head{Kind: "session", ID: "id", Created: "timestamp", Cwd: "cwd"},
		Line:  lineclient.Line{Kind: []string{"type", "message/role"}, ID: "id", Parent: "parentId", Time: "timestamp"},
		Kinds: map[string]lineclient.Kind{
			"session":               {},
			"message system":        {In: "message", Role: session.System, Say: instructions, Once: true},
			"message user":          {In: "message", Role: session.User, Say: content, Prompt: true},
			"message assistant":     {In: "message", Role: session.Assistant, Say: content, Model: "model", Turn: spent, Needs: []string{"usage", "stopReason"}},
			"message toolResult":    {In: "message", Role: session.Tool, Say: result},
			"message bashExecution": {In: "message", Role: session.User, Simulated: true, Say: command, Unsent: aside},
			"message custom":        {In: "message", Role: session.User, Simulated: true, Say: content},
			"message hookMessage":   {In: "message", Role: session.User, Simulated: true, Say: content},
			"custom_message":        {Role: session.User, Simulated: true, Say: content},
			"branch_summary":        {Role: session.User, Simulated: true, Say: summary},
			"compaction":            {Role: session.System, Say: summary, Keeps: "firstKeptEntryId"},
			"context_edit":          {Edits: "targetId", With: "replacement"},
			"session_info":          {Title: "name", Aside: true},
			"model_change":          {Aside: true},
			"thinking_level_change": {Aside: true},
			"custom":                {Own: ours},
			"label":                 {}, "usage": {},
		},
		Move:   &lineclient.Move{Names: map[string][]string{"session": {"cwd"}}, Project: folder},
		Spell:  spelling(),
		Tested: []string{"1.5.2"},
		Fields: strings.Fields(`api cancelled customType deferred details diagnostics display durationMs endTurn errorMessage excludeFromContext exitCode
			fromHook fromId fullOutputPath namespace nestedCalls parentSession provider providerThinkingLevel rawStopReason responseId responseModel
			section stopReason systemMessage textSignature thinkingLevel thoughtSignature timestamp tokensBefore toolName toolsAdded toolsRemoved
			truncated usage version`),
		Consequences: map[string]string{
			"RH492": "Pi refuses the file",
			"RH493": "for Pi the conversation begins here; it sends nothing of what comes before",
			"RH494": "Pi sends a result that the model's provider may refuse",
			"RH495": `Pi sends "No result provided"`,
			"RH496": "Pi ends with an error when it resumes the session",
			"RH497": "Pi reads only the last line with this id",
			"RH498": "Pi lists both, and resumes the one that it finds first",
		},
	})
}

var blocks = map[string]lineclient.Block{
	"text":  lineclient.TextBlock("text"),
	"image": lineclient.ImageBlock("data", "mimeType"),
	"thinking": func(b *lineclient.Fields, _ *lineclient.Record) session.Part {
		t := &session.Thinking{Text: b.Text("thinking"), Redacted: b.Flag("redacted")}
		if t.Redacted {
			t.Data = b.Text("thinkingSignature")
		} else {
			t.Signature = b.Text("thinkingSignature")
		}
		return t
	},
	"toolCall": func(b *lineclient.Fields, r *lineclient.Record) session.Part {
		c := &session.ToolCall{ID: b.Text("id"), Name: b.Text("name"), Input: lineclient.Copy(b.Raw("arguments")), Start: r.Time}
		c.Kind = toolmap.Kind(c.Name)
		return c
	},
}

func content(r *lineclient.Record) []session.Part { return r.Content("content", blocks) }

// instructions are the system prompt, which newer versions write by sections.
func instructions(r *lineclient.Record) []session.Part {
	var out []session.Part
	for _, p := range content(r) {
		if t, ok := p.(*session.Text); !ok || t.Text != "" || len(t.Extras) > 0 {
			out = append(out, p)
		}
	}
	for name, v := range r.Each("sections") {
		t := &session.Text{Text: rawjson.Text(v), Extras: []session.Extra{{Name: "section", Raw: session.AppendString(nil, name)}}}
		if v[0] != '"' { // null takes a section away
			t.Extras[0] = session.Extra{Name: "sections." + name, Raw: lineclient.Copy(v)}
		}
		out = append(out, t)
	}
	return out
}

func result(r *lineclient.Record) []session.Part {
	t := &session.ToolResult{Call: r.Text("toolCallId"), Error: r.Flag("isError"), Status: "success", Content: content(r), Value: lineclient.Copy(r.Raw("details"))}
	if t.Error {
		t.Status = "failed"
	}
	return []session.Part{t}
}

// command is one that the user ran. Pi tells the model of it in words of its own.
func command(r *lineclient.Record) []session.Part {
	return []session.Part{&session.Injected{Tag: "bash-input", Text: r.Text("command")}, &session.Injected{Tag: "bash-stdout", Text: r.Text("output")}}
}

// ours reports a line that rehome wrote for itself.
func ours(r *lineclient.Record) bool { return rawjson.Text(r.Peek("customType")) == mark }

// aside reports a command that the model is not told of.
func aside(r *lineclient.Record) bool { return string(r.Peek("excludeFromContext")) == "true" }

func summary(r *lineclient.Record) []session.Part {
	return []session.Part{&session.Summary{Text: r.Text("summary")}}
}

// endings are how a turn ended, by the reason that its last answer stopped for.
var endings = map[string]string{"stop": "finished", "length": "finished", "error": "error", "aborted": "cancelled"}

func spent(r *lineclient.Record, t *session.Turn) {
	t.Model = cmp.Or(rawjson.Text(r.Peek("model")), t.Model)
	lineclient.Outcome(t, rawjson.Text(r.Peek("stopReason")), endings, rawjson.Text(r.Peek("errorMessage")))
	lineclient.Spend(t, r.Peek("usage"), "input", "output", "cacheRead", "cacheWrite", "reasoning", "totalTokens")
}

// folder is the name of the folder of a project.
func folder(cwd string) string {
	cwd = strings.TrimLeft(cwd, `/\`)
	return "--" + strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(cwd) + "--"
}

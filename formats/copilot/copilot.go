package copilot

import (
	"cmp"
	"io"
	"path"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lineclient"
	"rehome/formats/internal/members"
	"rehome/formats/internal/toolmap"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

const (
	name = "copilot"
	home = "COPILOT_HOME"
)

// Format is the codec.
func Format() *formats.Format {
	f := lineclient.Format(lineclient.Client{
		Name:  name,
		About: "sessions of GitHub Copilot CLI",
		Home: &formats.Home{
			Title:    "Copilot CLI",
			Resume:   []string{"copilot", "--resume"},
			Variable: home,
			Roots:    func(m formats.Machine) []string { return []string{root(m)} },
			MCP: &formats.MCP{
				Files: func(m formats.Machine, _ string) []string { return []string{filepath.Join(root(m), "mcp-config.json")} },
				Key:   "mcpServers",
				Add: &formats.MCPCommand{
					Verb: []string{"mcp", "add"}, Env: "--env", Header: "--header",
					HTTP: []string{"--transport", "http"}, SSE: []string{"--transport", "sse"},
				},
			},
			Parts:        []string{"session-state", "history-session-state"},
			SessionFiles: []string{"*/session-state/*/events.jsonl", "*/session-state/*.jsonl", "*/session-state/*/workspace.yaml", "*/history-session-state/*.json"},
			SideFiles:    []string{".yaml", ".lock", ".md"},
			Folder:       "session-state",
		},
		Files:    []string{"session-state/{id}/events.jsonl", "session-state/{id}.jsonl"},
		Beside:   workspace,
		Head:     lineclient.Head{Kind: "session.start", ID: "sessionId", Created: "startTime", Cwd: "context/cwd"},
		Line:     lineclient.Line{Kind: []string{"type"}, ID: "id", Parent: "parentId", Flat: true, Time: "timestamp"},
		Subagent: agent,
		Kinds:    kinds(),
		Move:     moves(),
		Spell:    spelling(),
		Tested:   []string{"1.0.102", "1.0.12", "0.0.366"},
		Fields:   strings.Fields(fields),
		Consequences: map[string]string{
			"RH127": "older versions, such as 1.0.12, refuse the session",
			"RH131": "older versions, such as 1.0.12, refuse the session; newer ones skip the line",
			"RH134": "older versions, such as 1.0.12, refuse the session; newer ones skip the line",
			"RH136": "older versions, such as 1.0.12, refuse the session",
			"RH145": "older versions, such as 1.0.12, refuse the session",
			"RH492": "the client refuses the session",
			"RH494": "the client leaves the result out",
			"RH495": "the client tells the model that the tool was interrupted",
			"RH496": "the client refuses the session",
			"RH497": "",
			"RH498": "the client lists the one whose folder has the id of the session",
		},
	})
	f.Strays = strays
	return f
}

// root is the folder in which the client keeps everything.
func root(m formats.Machine) string { return cmp.Or(m.Env(home), filepath.Join(m.Home, ".copilot")) }

// fields are members that the tested versions write.
const fields = `alreadyInUse apiCallId asset.description assetId behaviorModelId byteLength compactionAttemptId compactionTokensUsed
	context contextTier conversationTokens copilotVersion delivery description error.code fileEdits intentionSummary
	interactionId messageId messagesRemoved metadata model
	originatingMessageId outcome outputTokens parentAgentTaskId path postCompactionTokens preCompactionMessagesLength preCompactionTokens producer remoteSteerable result.contents result.detailedContent rte shellExecution source success supportedNativeDocumentMimeTypes systemTokens tokenAccountingBasis tokenLimit tokensRemoved toolDefinitionsTokens toolTelemetry toolTitle trigger turnId type version`

// kinds are the events. Those of the model, such as model.messages_snapshot, are the log of a
// compaction, and repeat the conversation.
func kinds() map[string]lineclient.Kind {
	out := map[string]lineclient.Kind{
		"session.start":               {},
		"system.message":              {Role: session.System, Say: system, Once: true},
		"user.message":                {Role: session.User, Say: prompt, Prompt: true, Given: given},
		"system.notification":         {Role: session.User, Simulated: true, Say: notice},
		"assistant.message":           {Role: session.Assistant, Say: answer, Model: "model", Turn: answered, Needs: []string{"messageId", "content"}},
		"tool.execution_complete":     {Role: session.Tool, Say: result, Unsent: ran, Needs: []string{"toolCallId", "success"}},
		"session.compaction_complete": {Role: session.System, Say: summary, Since: "session.compaction_start"},
		"session.binary_asset":        {Named: "assetId"},
		"session.usage_record":        {Aside: true, Turn: spent},
		"session.error":               {Aside: true, Turn: failed},
		"abort":                       {Aside: true, Turn: aborted},
		"hook.end":                    {Own: ours},
	}
	for _, kind := range strings.Fields(`skill.invoked session.import_legacy session.handoff tool.user_requested model.turn_started model.model_call_started
			model.model_call_success model.message model.response model.turn_ended model.messages_snapshot`) {
		out[kind] = lineclient.Kind{}
	}
	for _, kind := range strings.Fields(`assistant.turn_start assistant.turn_end tool.execution_start session.compaction_start session.resume session.info session.warning session.model_change session.mode_changed session.plan_changed
			session.workspace_file_changed session.truncation session.shutdown session.context_changed session.task_complete session.usage_checkpoint
			subagent.started subagent.configured subagent.completed subagent.failed subagent.selected subagent.deselected hook.start assistant.reasoning`) {
		out[kind] = lineclient.Kind{Aside: true}
	}
	for kind, k := range out {
		k.In = "data"
		out[kind] = k
	}
	return out
}

// agent returns the subagent whose event it is: its id, or that of the call that started it,
// which is all that older versions write.
func agent(r *lineclient.Record) (string, session.Link) {
	text := func(name string) string { return rawjson.Text(r.Peek(name)) }
	id, call := r.Around("agentId"), text("parentToolCallId")
	if strings.HasPrefix(r.Kind, "subagent.") {
		call = cmp.Or(call, text("toolCallId"))
	}
	return cmp.Or(id, call), session.Link{Call: call, Title: text("agentDisplayName"), Kind: text("agentName")}
}

func system(r *lineclient.Record) []session.Part {
	if rawjson.Text(r.Peek("role")) == "system" {
		r.Drop("role")
	}
	return []session.Part{&session.Text{Text: r.Text("content")}}
}

// given reports what the client says for the user. What a session tells its subagent is a prompt.
func given(r *lineclient.Record) bool {
	by := rawjson.Text(r.Peek("source"))
	return by != "" && !strings.HasPrefix(by, "agent-")
}

// prompt is what the user typed, with what the client put around it for the model.
func prompt(r *lineclient.Record) (out []session.Part) {
	typed, sent := r.Text("content"), rawjson.Text(r.Peek("transformedContent"))
	before, after, around := strings.Cut(sent, typed)
	if around || typed == "" {
		r.Drop("transformedContent")
	}
	if typed == "" {
		before, after = sent, ""
	}
	if around && before != "" || typed == "" && before != "" {
		out = append(out, &session.Injected{Tag: context, Text: before})
	}
	switch {
	case rawjson.Text(r.Peek("source")) == mark:
		out = append(out, &session.Injected{Tag: context, Text: typed})
	case typed != "":
		out = append(out, &session.Text{Text: typed})
	}
	if around && after != "" {
		out = append(out, &session.Injected{Tag: context, Text: after})
	}
	for a := range rawjson.Elements(r.List("attachments")) {
		out = append(out, attachment(r, a))
	}
	return out
}

// context is the tag of what the client puts around a prompt.
const context = "context"

// attachment is a file, or what the client says of something else.
func attachment(r *lineclient.Record, raw []byte) session.Part {
	f := members.Split(raw, "")
	switch kind := rawjson.Text(f.Peek("type")); kind {
	case "file", "blob":
		return media(r, f)
	default:
		return &session.Opaque{Kind: kind, Raw: members.Bare(kind, raw)}
	}
}

// media is a file whose bytes are in it, or in another event.
func media(r *lineclient.Record, f *members.Fields) *session.Media {
	m := &session.Media{Mime: f.Text("mimeType"), Name: f.Text("displayName")}
	if m.Data = lineclient.Base64(f, "data"); m.Data == nil {
		if asset := r.Find(rawjson.Text(f.Peek("assetId"))); asset != nil {
			m.Data = lineclient.Base64(asset.Fields, "data")
			asset.Drop("assetId", "mimeType", "byteLength", "type")
			m.Extras = asset.Rest("asset.")
		}
	}
	if m.Data == nil {
		m.URI = f.Text("path")
	}
	m.Extras = append(f.Rest(), m.Extras...)
	return m
}

func notice(r *lineclient.Record) []session.Part {
	return []session.Part{&session.Injected{Tag: "notification", Text: r.Text("content")}}
}

func answer(r *lineclient.Record) (out []session.Part) {
	thought, seal := r.Text("reasoningText"), r.Text("reasoningOpaque")
	if thought != "" || seal != "" {
		out = append(out, &session.Thinking{Text: thought, Signature: seal})
	}
	if text := r.Text("content"); text != "" {
		out = append(out, &session.Text{Text: text})
	}
	for raw := range rawjson.Elements(r.List("toolRequests")) {
		f := members.Split(raw, "")
		c := &session.ToolCall{ID: f.Text("toolCallId"), Name: f.Text("name"), Input: lineclient.Copy(f.Raw("arguments")), Start: r.Time}
		c.Kind = toolmap.Kind(c.Name)
		if rawjson.Text(f.Peek("type")) == "function" {
			f.Drop("type")
		}
		c.Extras = f.Rest()
		out = append(out, c)
	}
	r.Drop("parentToolCallId")
	return out
}

// result is what the model was sent, and what the client shows besides.
func result(r *lineclient.Record) []session.Part {
	t := &session.ToolResult{Call: r.Text("toolCallId"), Error: !r.Flag("success"), Status: "success"}
	say := func(f *members.Fields, name string) {
		if text := f.Text(name); text != "" {
			t.Content = append(t.Content, &session.Text{Text: text})
		}
	}
	given := members.Split(r.Members("result"), "result.")
	say(given, "content")
	for raw := range rawjson.Elements(given.List("binaryResultsForLlm")) {
		t.Content = append(t.Content, media(r, members.Split(raw, "")))
	}
	t.Extras = given.Rest()
	if t.Error {
		t.Status = "failed"
		wrong := members.Split(r.Members("error"), "error.")
		say(wrong, "message")
		t.Extras = append(t.Extras, wrong.Rest()...)
	}
	r.Drop("parentToolCallId")
	return []session.Part{t}
}

// ran reports the output of a command that the user ran. The model is not told of it.
func ran(r *lineclient.Record) bool { return string(r.Peek("isUserRequested")) == "true" }

func summary(r *lineclient.Record) []session.Part {
	if text := r.Text("summaryContent"); text != "" {
		return []session.Part{&session.Summary{Text: text}}
	}
	return nil
}

// ours reports the event that rehome wrote for itself.
func ours(r *lineclient.Record) bool { return rawjson.Text(r.Peek("hookType")) == mark }

// mark is the kind of the hook in the event that rehome writes for itself.
const mark = "rehome"

func answered(r *lineclient.Record, t *session.Turn) {
	t.Model = cmp.Or(rawjson.Text(r.Peek("model")), t.Model)
	if t.Status = ""; string(r.Peek("toolRequests")) == "[]" {
		t.Status = "finished"
	}
}

func spent(r *lineclient.Record, t *session.Turn) {
	lineclient.Spend(t, r.Peek("usage"), "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "", "")
}

func failed(r *lineclient.Record, t *session.Turn) {
	t.Status, t.Error = "error", rawjson.Text(r.Peek("message"))
}

func aborted(_ *lineclient.Record, t *session.Turn) { t.Status = "cancelled" }

// workspaceFile is the file about a session, which can be maxWorkspace long.
const (
	workspaceFile = "workspace.yaml"
	maxWorkspace  = 64 << 10
)

// workspace reads the file next to the events, which has the title and the folder of the
// session: lines of a name and a value, some of them quoted.
func workspace(s *jsonl.Store, f *jsonl.File, h *session.Head) {
	file, err := s.Root.Open(path.Join(path.Dir(f.Path), workspaceFile))
	if err != nil {
		return
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxWorkspace))
	if err != nil {
		return
	}
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ": ")
		switch name {
		case "cwd":
			h.Workspace = cmp.Or(lineclient.Unquoted(value), h.Workspace)
		case "name", "summary":
			h.Title = cmp.Or(lineclient.Unquoted(value), h.Title)
		}
	}
}

// moves are where the client keeps the folder of a session. It resumes a session in any folder;
// what it lists of them, and what rehome does with them, goes by these.
func moves() *lineclient.Move {
	context := []string{"data/context/cwd", "data/context/gitRoot"}
	return &lineclient.Move{
		Names:  map[string][]string{"session.start": context, "session.resume": context, "session.context_changed": {"data/cwd", "data/gitRoot"}},
		Beside: map[string][]string{workspaceFile: {"cwd", "git_root"}},
		Locks:  "inuse.*.lock",
	}
}

package codex

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"

	"rehome/formats/internal/members"
	"rehome/formats/internal/rawjson"
	"rehome/formats/internal/toolmap"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/formats/store"
)

func at(e *entry) store.Addr { return store.Addr{File: e.shown} }

// contexts are what the client puts into a user's messages by itself, by how it
// begins. Newer clients also state where each part of a message comes from.
var contexts = [...]struct{ prefix, tag string }{
	{"# AGENTS.md instructions", "AGENTS.md"}, {"<environment_context>", "environment_context"}, {"<user_instructions>", "user_instructions"},
	{"<turn_aborted>", "turn_aborted"}, {"<skill>", "skill"}, {"<user_shell_command>", "user_shell_command"},
	{"<subagent_notification>", "subagent_notification"}, {"<image name=", "image"}, {"</image>", "image"},
}

// injected returns the tag of a text that the user did not type, "" otherwise.
// kind is what the client states of it.
func injected(text, kind string) string {
	for _, c := range contexts {
		if strings.HasPrefix(text, c.prefix) && (c.tag == "image" || !strings.HasPrefix(kind, "user.")) {
			return c.tag
		}
	}
	if kind == "" || kind == "unknown" || strings.HasPrefix(kind, "user.") {
		return ""
	}
	tag, _, _ := strings.Cut(kind, ".")
	return tag
}

// kinds yields the parts of a message with what the client states of each.
func kinds(body []byte) func(yield func(part []byte, kind string) bool) {
	return func(yield func([]byte, string) bool) {
		var stated []string
		for k := range rawjson.Elements(rawjson.Last(rawjson.Last(body, "internal_chat_message_metadata_passthrough"), "content_item_kinds")) {
			stated = append(stated, rawjson.Text(k))
		}
		i := 0
		for part := range rawjson.Elements(rawjson.Last(body, "content")) {
			kind := ""
			if i < len(stated) {
				kind = stated[i]
			}
			if i++; !yield(part, kind) {
				return
			}
		}
	}
}

// prompt returns the first line of what the user typed, "" if the record is no
// prompt.
func (r *record) prompt() string {
	if r.kind != "response_item" || r.sub != "message" || rawjson.Text(rawjson.Last(r.body, "role")) != "user" {
		return ""
	}
	for part, kind := range kinds(r.body) {
		text := strings.TrimSpace(rawjson.Text(rawjson.Last(part, "text")))
		if text != "" && injected(text, kind) == "" {
			text, _, _ = strings.Cut(text, "\n")
			return rule.Clip(strings.TrimSpace(text))
		}
	}
	return ""
}

// message begins a message that is made of a record.
func (d *decoder) message(r *record, role session.Role) *session.Message {
	return &session.Message{ID: r.id, Role: role, At: r.time, Origin: []string{r.at.String()}, Archived: d.n < d.boundary}
}

// hand hands a message out, after the response before it.
func (d *decoder) hand(m *session.Message) {
	d.flush()
	if m.Archived {
		d.archived++
	}
	d.over = d.over || !d.say(m)
}

// flush ends the response that is being read.
func (d *decoder) flush() {
	if m := d.held; m != nil {
		d.held = nil
		d.hand(m)
	}
}

// reply adds a part to the response that is being read.
func (d *decoder) reply(r *record, parts ...session.Part) {
	if d.held == nil {
		d.held = d.message(r, session.Assistant)
		if d.turn > 0 {
			d.held.Model = d.turns[d.turn-1].Model
		}
	} else if d.held.Origin = append(d.held.Origin, r.at.String()); r.time.Known() {
		d.held.End = r.time
	}
	d.held.Parts = append(d.held.Parts, parts...)
}

// split takes a record apart. What is not asked for is kept.
func (d *decoder) split(r *record, names ...string) *members.Object {
	var o members.Object
	o.Split(r.body, "", append(names, "type"))
	if len(r.body) != len(r.line) {
		for n, v := range rawjson.Members(r.line) {
			switch string(n) {
			case "timestamp", "ordinal", "type", "payload":
			default:
				if v = members.Bare(string(n), v); v != nil {
					o.Extras = append(o.Extras, session.Extra{Name: string(n), Raw: v})
				}
			}
		}
	}
	d.account.Converted++
	return &o
}

// opaque keeps a record that is of no known kind.
func (d *decoder) opaque(r *record, kind string, raw []byte) {
	d.account.CarriedRaw++
	m := d.message(r, session.System)
	m.Parts = []session.Part{&session.Opaque{Kind: kind, Raw: members.Bare(kind, raw)}}
	d.hand(m)
}

// meta takes a session_meta. The system prompt is in the first one; one behind
// it is that of a fork.
func (d *decoder) meta(r *record) {
	d.account.Converted++
	var o members.Object
	if d.n > 1 || !o.Split(rawjson.Last(r.body, "base_instructions"), "base_instructions.", []string{"text"}) {
		return
	}
	m := d.message(r, session.System)
	m.Parts, m.Extras = []session.Part{&session.Text{Text: o.Text(0)}}, o.Extras
	d.hand(m)
}

// event takes what the client reports. Most of it repeats an item.
func (d *decoder) event(r *record) {
	item := rawjson.Last(r.body, "item")
	switch kind := rawjson.Text(rawjson.Last(item, "type")); r.sub {
	case "task_started", "turn_started", "task_complete", "turn_complete", "turn_aborted", "token_count", "thread_rolled_back":
		d.account.Converted++
	case "user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content", "mcp_tool_call_end", "exec_command_end", "patch_apply_end",
		"view_image_tool_call", "web_search_end", "image_generation_end", "context_compacted", "thread_settings_applied":
		d.account.Superseded++
	case "item_completed":
		id := rawjson.Text(rawjson.Last(item, "id"))
		said, open := d.waiting[id]
		switch kind {
		case "UserMessage", "AgentMessage", "Reasoning", "ContextCompaction", "ImageView", "WebSearch", "ImageGeneration":
			d.account.Superseded++
		case "CommandExecution", "FileChange", "McpToolCall":
			if !open || said != nil {
				d.account.Superseded++
				return
			}
			d.waiting[id] = members.Bare(kind, item)
			d.account.Converted++
		default:
			d.opaque(r, kind, item)
		}
	default:
		d.opaque(r, r.sub, r.body)
	}
}

// item takes an item of the conversation, as the model was sent it or sent it.
func (d *decoder) item(r *record, begins bool) {
	switch r.sub {
	case "message":
		d.spoken(r, begins)
	case "reasoning":
		d.reasoning(r)
	case "function_call":
		o := d.split(r, "name", "call_id", "arguments")
		d.call(r, o, o.Text(0), o.Text(1), arguments(o.Text(2)))
	case "custom_tool_call":
		o := d.split(r, "name", "call_id", "input")
		d.call(r, o, o.Text(0), o.Text(1), session.AppendString(nil, o.Text(2)))
	case "local_shell_call":
		o := d.split(r, "call_id", "action")
		d.call(r, o, "local_shell", o.Text(0), bytes.Clone(o.Raw(1)))
	case "web_search_call":
		o := d.split(r, "id", "action")
		d.call(r, o, "web_search", o.Text(0), bytes.Clone(o.Raw(1)))
	case "function_call_output", "custom_tool_call_output":
		d.result(r)
	default:
		d.opaque(r, r.sub, r.line)
	}
}

// spoken takes what somebody said.
func (d *decoder) spoken(r *record, begins bool) {
	o := d.split(r, "role", "content")
	role := o.Text(0)
	if o.Raw(1) != nil && o.Raw(1)[0] != '[' {
		o.Keep(1)
	}
	if role == "assistant" {
		parts := d.parts(r, "")
		if len(parts) == 0 {
			parts = append(parts, &session.Text{})
		}
		if t, ok := parts[0].(*session.Text); ok {
			t.Extras = o.Extras
		}
		d.reply(r, parts...)
		return
	}
	m := d.message(r, session.System)
	m.Parts, m.Extras = d.parts(r, role), o.Extras
	if role == "user" {
		m.Role, m.Simulated = session.User, r.prompt() == ""
	}
	if begins {
		m.Turn = d.turns[d.turn-1]
	}
	d.hand(m)
}

// parts returns the parts of a message, or of a result.
func (d *decoder) parts(r *record, role string) (out []session.Part) {
	for b, kind := range kinds(r.body) {
		out = append(out, part(b, kind, role))
	}
	return out
}

func part(b []byte, kind, role string) session.Part {
	text := rawjson.Text(rawjson.Last(b, "text"))
	switch of := rawjson.Text(rawjson.Last(b, "type")); of {
	case "input_text", "output_text", "text":
		if tag := injected(text, kind); tag != "" && role == "user" {
			return &session.Injected{Tag: tag, Text: text}
		}
		return &session.Text{Text: text}
	case "input_image":
		url := rawjson.Text(rawjson.Last(b, "image_url"))
		head, data, ok := strings.Cut(url, ";base64,")
		if raw, err := base64.StdEncoding.DecodeString(data); ok && err == nil {
			return &session.Media{Mime: strings.TrimPrefix(head, "data:"), Data: raw}
		}
		return &session.Media{URI: url}
	default:
		return &session.Opaque{Kind: of, Raw: members.Bare(of, b)}
	}
}

// reasoning takes what the model thought: in words where the provider gives
// them, and sealed, for nobody else to read.
func (d *decoder) reasoning(r *record) {
	o := d.split(r, "summary", "content")
	words := func(list []byte) string {
		var out []string
		for b := range rawjson.Elements(list) {
			out = append(out, rawjson.Text(rawjson.Last(b, "text")))
		}
		return strings.Join(out, "\n\n")
	}
	t := &session.Thinking{Text: words(o.Raw(1))}
	if t.Text == "" {
		t.Text = words(o.Raw(0))
	} else {
		o.Keep(0)
	}
	t.Redacted, t.Extras = t.Text == "", o.Extras
	d.sealed(r, r)
	d.reply(r, t)
}

// sealed notes an item of which only the provider can read all.
func (d *decoder) sealed(item, r *record) {
	if rawjson.Text(rawjson.Last(item.body, "encrypted_content")) != "" {
		d.view.OnLoss.Add(loss.Loss{Code: loss.ReasoningSealed, At: r.at})
	}
}

// arguments returns the arguments that the model wrote, which need not be JSON.
func arguments(text string) session.Raw {
	if b, _, err := rawjson.Line([]byte(text)); err == nil {
		return bytes.Clone(b)
	}
	return session.AppendString(nil, text)
}

func (d *decoder) call(r *record, o *members.Object, name, id string, input session.Raw) {
	if id == "" {
		id = r.id
	}
	d.waiting[id] = nil
	d.reply(r, &session.ToolCall{ID: id, Name: name, Kind: toolmap.Kind(name), Input: input, Start: r.time, Extras: o.Extras})
}

// result takes what came of a call.
func (d *decoder) result(r *record) {
	o := d.split(r, "call_id", "output")
	t := &session.ToolResult{Call: o.Text(0), Extras: o.Extras}
	t.Value = d.waiting[t.Call]
	delete(d.waiting, t.Call)
	out, code := o.Raw(1), ""
	if len(out) > 0 && out[0] == '[' {
		for b := range rawjson.Elements(out) {
			t.Content = append(t.Content, part(b, "", ""))
		}
	} else {
		text := rawjson.Text(out)
		if inner := rawjson.Last([]byte(text), "output"); strings.HasPrefix(text, `{"output":`) && inner != nil { // as 0.77.0 and earlier write it
			code = string(rawjson.Last(rawjson.Last([]byte(text), "metadata"), "exit_code"))
			text = rawjson.Text(inner)
		}
		t.Content = []session.Part{&session.Text{Text: text}}
		t.Status = outcome(text, code)
	}
	if word := rawjson.Text(rawjson.Last(t.Value, "status")); word != "" {
		t.Status = word
	}
	t.Status, t.Error = toolmap.Outcome(t.Status)
	m := d.message(r, session.Tool)
	m.Parts = []session.Part{t}
	d.hand(m)
}

// outcome reads how a call ended from the words that the client puts in front
// of what a command wrote.
func outcome(text, code string) string {
	head, _, _ := strings.Cut(text, "\nOutput:\n")
	for line := range strings.Lines(head) {
		for _, label := range []string{"Process exited with code ", "Exit code: "} {
			if rest, ok := strings.CutPrefix(strings.TrimSpace(line), label); ok && code == "" {
				code = rest
			}
		}
	}
	switch n, err := strconv.Atoi(code); {
	case strings.HasPrefix(text, "unsupported call: "), err == nil && n != 0:
		return "failed"
	case strings.HasSuffix(text, "aborted by user"):
		return "aborted"
	case err == nil:
		return "completed"
	}
	return ""
}

// compacted takes the place where the client replaced the conversation with a
// summary and the user's prompts.
func (d *decoder) compacted(r *record) {
	d.flush()
	o := d.split(r, "message", "replacement_history")
	mark := &session.Boundary{Archived: d.archived}
	d.archived = 0
	m := d.message(r, session.System)
	m.Parts = []session.Part{mark}
	summary := o.Text(0)
	for b := range rawjson.Elements(o.Raw(1)) {
		item := record{kind: "response_item", sub: rawjson.Text(rawjson.Last(b, "type")), body: b}
		if item.prompt() == "" {
			o.Extras = append(o.Extras, session.Extra{Name: "replacement_history", Raw: members.Bare("item", b)})
			d.sealed(&item, r)
			continue
		}
		for b, kind := range kinds(b) {
			if t, ok := part(b, kind, "user").(*session.Text); ok && t.Text != summary {
				m.Parts = append(m.Parts, &session.Summary{Text: t.Text, Source: session.Source{From: "replacement_history"}})
			}
		}
	}
	if summary != "" {
		m.Parts = append(m.Parts, &session.Summary{Text: summary})
	}
	mark.Extras = o.Extras
	d.hand(m)
}

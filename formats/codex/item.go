package codex

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"rehome/formats/internal/lineclient"
	"rehome/formats/internal/members"
	"rehome/formats/internal/toolmap"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

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

// content yields the parts of a message, each with what the client states of it.
func content(body []byte) iter.Seq2[[]byte, string] {
	return func(yield func(part []byte, kind string) bool) {
		stated := slices.Collect(rawjson.Elements(rawjson.At(body, "internal_chat_message_metadata_passthrough", "content_item_kinds")))
		i := 0
		for part := range rawjson.Elements(rawjson.At(body, "content")) {
			kind := ""
			if i < len(stated) {
				kind = rawjson.Text(stated[i])
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
	if r.kind != "response_item" || r.sub != "message" || rawjson.TextAt(r.body, "role") != "user" {
		return ""
	}
	for part, kind := range content(r.body) {
		words := strings.TrimSpace(rawjson.TextAt(part, "text"))
		if words != "" && injected(words, kind) == "" {
			words, _, _ = strings.Cut(words, "\n")
			return rule.Clip(strings.TrimSpace(words))
		}
	}
	return ""
}

// line takes one record of the first reading of the messages. What is not part of the
// conversation is left for aside.
func (d *decoder) line(r *record) {
	if !r.Account(&d.account, d.View.OnLoss, r.at) {
		return
	}
	begins := d.begins(r)
	switch {
	case d.undone(r) && !d.Sel.History:
		d.account.Superseded++
		if begins {
			d.lose(loss.TurnRolledBack, r.at)
		}
	case d.isAside(r):
	default:
		d.record(r, begins)
	}
}

// record takes a record that is not damaged.
func (d *decoder) record(r *record, begins bool) {
	switch {
	case r.kind == "response_item":
		d.item(r, begins)
	case r.kind == "compacted" && d.branch == "":
		d.compacted(r)
	case r.kind == "session_meta":
		d.meta(r)
	case r.kind == "event_msg":
		d.reported(r)
	case r.kind == "token_usage_record":
		d.account.Converted++
		d.flush() // one is written for each response
	case r.kind == "", listed(turnLines, r.kind):
		d.account.Converted++
	case listed(repeatLines, r.kind) && !d.pairs.states[d.n]:
		d.account.Superseded++
	default:
		d.opaque(r, r.kind, r.Object)
	}
}

// message begins a message that is made of a record.
func (d *decoder) message(r *record, role session.Role, parts ...session.Part) *session.Message {
	return &session.Message{ID: r.id, Branch: d.branch, Role: role, At: r.time, Origin: []string{r.at.String()},
		Archived: d.n < d.boundary && d.branch == "", Parts: parts}
}

// hand hands a message out, after the response before it.
func (d *decoder) hand(m *session.Message) {
	d.flush()
	if m.Archived {
		d.archived++
	}
	d.over = d.over || !d.yield(m, nil)
}

// flush ends the response that is being read.
func (d *decoder) flush() {
	if m := d.held; m != nil {
		d.held = nil
		d.hand(m)
	}
}

// reply adds parts to the response that is being read.
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
	var o, line members.Object
	o.Split(r.body, "", append(names, "type"))
	if len(r.body) != len(r.Object) {
		line.Split(r.Object, "", []string{"timestamp", "ordinal", "type", "payload"})
		o.Extras = append(o.Extras, line.Extras...)
	}
	d.account.Converted++
	return &o
}

// opaque keeps a record that is of no known kind.
func (d *decoder) opaque(r *record, kind string, raw []byte) {
	d.account.CarriedRaw++
	m := d.message(r, session.System, &session.Opaque{Kind: kind, Raw: members.Bare(kind, raw)})
	if len(raw) != len(r.Object) {
		m.Extras = r.outer()
	}
	d.hand(m)
}

// meta takes a session_meta, which has the system prompt. That of a fork mostly has the same.
func (d *decoder) meta(r *record) {
	d.account.Converted++
	m := d.message(r, session.System)
	m.Extras = r.outer()
	var o members.Object
	if raw := rawjson.At(r.body, "base_instructions"); string(raw) != d.prompt && o.Split(raw, "base_instructions.", []string{"text"}) {
		d.prompt, m.Parts = string(raw), []session.Part{&session.Text{Text: o.Text(0)}}
		m.Extras = append(o.Extras, m.Extras...)
	}
	if len(m.Parts)+len(m.Extras) > 0 {
		d.hand(m)
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
		d.opaque(r, r.sub, r.Object)
	}
}

// spoken takes what somebody said.
func (d *decoder) spoken(r *record, begins bool) {
	o := d.split(r, "role", "content")
	role := o.Text(0)
	if o.Raw(1) != nil && o.Raw(1)[0] != '[' {
		o.Keep(1)
	}
	var parts []session.Part
	for b, kind := range content(r.body) {
		parts = append(parts, part(b, kind, role))
	}
	if role == "assistant" {
		if len(parts) == 0 {
			parts = append(parts, &session.Text{})
		}
		d.reply(r, parts...)
		if t, ok := parts[0].(*session.Text); ok {
			t.Extras = append(t.Extras, o.Extras...)
		} else {
			d.held.Extras = append(d.held.Extras, o.Extras...)
		}
		return
	}
	m := d.message(r, session.System, parts...)
	m.Extras = o.Extras
	if role == "user" {
		m.Role, m.Simulated = session.User, r.prompt() == ""
	}
	if begins {
		m.Turn = d.number(d.turns[d.turn-1])
	}
	d.hand(m)
}

// part returns a part of a message of a role, or of a result.
func part(b []byte, kind, role string) session.Part {
	var o members.Object
	switch of := rawjson.TextAt(b, "type"); of {
	case "input_text", "output_text", "text":
		o.Split(b, "", []string{"type", "text"})
		words := o.Text(1)
		if tag := injected(words, kind); tag != "" && role == "user" {
			return &session.Injected{Tag: tag, Text: words, Extras: o.Extras}
		}
		return &session.Text{Text: words, Extras: o.Extras}
	case "input_image":
		o.Split(b, "", []string{"type", "image_url"})
		m := media(o.Text(1), session.Source{})
		m.Extras = o.Extras
		return m
	default:
		return &session.Opaque{Kind: of, Raw: members.Bare(of, b)}
	}
}

// media returns the image at an address, which can hold all of it.
func media(url string, from session.Source) *session.Media {
	m := lineclient.Media(url)
	m.Source = from
	return m
}

// reasoning takes what the model thought: in words where the provider gives
// them, and sealed, for nobody else to read.
func (d *decoder) reasoning(r *record) {
	o := d.split(r, "summary", "content")
	words := func(i int) string {
		var out []string
		for b := range rawjson.Elements(o.Raw(i)) {
			var one members.Object
			if one.Split(b, o.Name(i)+".", []string{"type", "text"}) {
				out = append(out, one.Text(1))
			}
			o.Extras = append(o.Extras, one.Extras...)
		}
		return strings.Join(out, "\n\n")
	}
	t := &session.Thinking{Text: words(1)}
	if t.Text == "" {
		t.Text = words(0)
	} else {
		o.Keep(0)
	}
	t.Redacted, t.Extras = t.Text == "", o.Extras
	d.sealed(r.body, r)
	d.reply(r, t)
}

// sealed notes an item of which only the provider can read all.
func (d *decoder) sealed(item []byte, r *record) {
	if rawjson.TextAt(item, "encrypted_content") != "" {
		d.lose(loss.ReasoningSealed, r.at)
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
	id = cmp.Or(id, r.id)
	if old := d.waiting[id]; old != nil && old.n > 0 {
		d.hand(old.Message)
	}
	d.waiting[id] = &report{}
	d.reply(r, &session.ToolCall{ID: id, Name: name, Kind: toolmap.Kind(name), Input: input, Start: r.time, Extras: o.Extras})
}

// result takes what came of a call.
func (d *decoder) result(r *record) {
	o := d.split(r, "call_id", "output")
	t := &session.ToolResult{Call: o.Text(0)}
	said := d.waiting[t.Call]
	delete(d.waiting, t.Call)
	m := d.message(r, session.Tool, t)
	if said != nil && said.n > 0 {
		m.Origin = append(m.Origin, said.Origin...)
		t.Value = said.Parts[0].(*session.Opaque).Raw
		o.Extras = append(o.Extras, said.Extras...)
	}
	if out := o.Raw(1); len(out) > 0 && out[0] == '[' {
		for b := range rawjson.Elements(out) {
			p := part(b, "", "")
			if words, ok := p.(*session.Text); ok && words.Text == failedOutput {
				t.Status = "failed"
				continue
			}
			t.Content = append(t.Content, p)
		}
		if t.Content == nil { // the model is sent an empty result, whatever an event says
			t.Content = []session.Part{&session.Text{}}
		}
	} else {
		words, code := rawjson.Text(out), ""
		if strings.HasPrefix(words, `{"output":`) && rawjson.At([]byte(words), "output") != nil { // as 0.77.0 and earlier write it
			var whole members.Object
			whole.Split([]byte(words), "output.", []string{"output"})
			code, words = string(rawjson.At([]byte(words), "metadata", "exit_code")), whole.Text(0)
			o.Extras = append(o.Extras, whole.Extras...)
		}
		rest, ours := strings.CutPrefix(words, failedOutput)
		t.Content = []session.Part{&session.Text{Text: rest}}
		if t.Status = outcome(words, code); ours {
			t.Status = "failed"
		}
	}
	t.Status, t.Error = toolmap.Outcome(cmp.Or(t.Status, rawjson.TextAt(t.Value, "status")))
	if slices.ContainsFunc(recorded(t.Value), t.Contradicts) {
		d.lose(loss.ResultDiffers, r.at)
	}
	t.Extras = o.Extras
	d.hand(m)
}

// recorded returns what an event says that a tool answered, as far as it is known to be text.
func recorded(value []byte) (out []string) {
	for _, name := range []string{"stdout", "stderr", "aggregated_output", "formatted_output"} {
		out = append(out, rawjson.TextAt(value, name))
	}
	for _, path := range [][]string{{"result", "Ok", "content"}, {"result", "content"}} {
		for b := range rawjson.Elements(rawjson.At(value, path...)) {
			out = append(out, rawjson.TextAt(b, "text"))
		}
	}
	return out
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
	m := d.message(r, session.System, mark)
	summary := o.Text(0)
	for b := range rawjson.Elements(o.Raw(1)) {
		item := record{kind: "response_item", sub: rawjson.TextAt(b, "type"), body: b}
		if item.prompt() == "" {
			o.Extras = append(o.Extras, session.Extra{Name: "replacement_history", Raw: members.Bare("item", b)})
			d.sealed(b, r)
			continue
		}
		var whole members.Object
		whole.Split(b, "replacement_history.", []string{"type", "role", "content"})
		o.Extras = append(o.Extras, whole.Extras...)
		for b, kind := range content(b) {
			if t, ok := part(b, kind, "user").(*session.Text); !ok {
				o.Extras = append(o.Extras, session.Extra{Name: "replacement_history.content", Raw: members.Bare("content", b)})
			} else if t.Text != summary || t.Extras != nil {
				m.Parts = append(m.Parts, &session.Summary{Text: t.Text, Source: session.Source{From: "replacement_history"}, Extras: t.Extras})
			}
		}
	}
	if summary != "" {
		m.Parts = append(m.Parts, &session.Summary{Text: summary})
	}
	mark.Extras = o.Extras
	d.hand(m)
}

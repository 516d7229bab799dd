package read

import (
	"bytes"
	"strings"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/members"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// The members of a line.
const (
	inParent = iota
	inSide
	inType
	inMessage
	inUUID
	inTime
	inSession
	inCwd
	inVersion
	inBranch
	inUser
	inEntrypoint
	inResult
	inSource
	inMeta
	inAttachment
	inRendered
	inSubtype
	inContent
	inSummary
	inVisible
	inAgent
)

var (
	lineNames = []string{inParent: "parentUuid", inSide: "isSidechain", inType: "type", inMessage: "message", inUUID: "uuid", inTime: "timestamp", inSession: "sessionId",
		inCwd: "cwd", inVersion: "version", inBranch: "gitBranch", inUser: "userType", inEntrypoint: "entrypoint", inResult: "toolUseResult", inSource: "sourceToolAssistantUUID",
		inMeta: "isMeta", inAttachment: "attachment", inRendered: "rendered", inSubtype: "subtype", inContent: "content", inSummary: "isCompactSummary",
		inVisible: "isVisibleInTranscriptOnly", inAgent: "agentId"}
	promptNames = []string{"role", "content"}
	answerNames = []string{"id", "type", "role", "model", "content", "stop_sequence"}
)

// say converts a line to messages.
func (w *walker) say(i int, line []byte) bool {
	o := &w.tree.Lines[i]
	switch {
	case o.Kind == outline.Title && outline.Only(line, "type", "customTitle", "aiTitle", "summary", "leafUuid", "sessionId", "uuid", "timestamp"):
		w.account.Converted++
		return true // the head has it
	case o.Kind == outline.Title || o.Branch == outline.Outside:
		w.account.CarriedRaw++
		return w.opaque(i, line)
	}
	f := &w.entry
	m := w.message(i, line, f)
	switch o.Kind {
	case outline.User:
		return w.user(i, f, m)
	case outline.Assistant:
		return w.assistant(i, f, m)
	case outline.Attachment:
		return w.attachment(i, f, m)
	}
	return w.system(o, f, m)
}

// message splits a line into f, and returns a message with its metadata.
func (w *walker) message(i int, line []byte, f *members.Object) *session.Message {
	w.account.Converted++
	f.Split(line, "", lineNames)
	m := &session.Message{ID: f.Text(inUUID), At: jsonl.Time(f.Raw(inTime)), Archived: w.tree.Lines[i].Archived, Origin: []string{w.addr(i).String()}}
	if m.ID == "" {
		m.ID = outline.LineID(i, nil)
	}
	if f.Has(inTime) && !m.At.Known() {
		f.Keep(inTime)
	}
	w.usual(f)
	return m
}

// usual keeps members of the envelope that do not have their usual values.
func (w *walker) usual(f *members.Object) {
	for _, same := range [...]struct {
		member int
		value  string
	}{{inCwd, w.tree.Cwd}, {inVersion, w.tree.Version}, {inBranch, w.tree.Branch}, {inUser, "external"}, {inEntrypoint, "cli"}} {
		if f.Text(same.member) != same.value {
			f.Keep(same.member)
		}
	}
}

// settle adds an object to the account, and its unused members to the extras.
func (w *walker) settle(f *members.Object, to *[]session.Extra) {
	w.account.Add(f.Account())
	*to = append(*to, f.Extras...)
}

// opaque converts a line that is not part of the conversation.
func (w *walker) opaque(i int, line []byte) bool {
	kind := rawjson.TextAt(line, "type")
	return w.put(&session.Message{ID: outline.LineID(i, nil), Role: session.System, Origin: []string{w.addr(i).String()},
		Parts: []session.Part{&session.Opaque{Kind: kind, Raw: members.Bare(kind, line)}}})
}

// user converts a prompt, results, or text of the client in the role of the user.
func (w *walker) user(i int, f *members.Object, m *session.Message) bool {
	meta, summary := f.Flag(inMeta), f.Flag(inSummary)
	value := bytes.Clone(f.Raw(inResult))
	for _, unused := range [...]int{inAttachment, inRendered, inSubtype, inContent} {
		f.Keep(unused)
	}
	in := &w.inner
	in.Split(f.Raw(inMessage), "message.", promptNames)
	parts := w.parts(in.Raw(1))
	results := 0
	for _, p := range parts {
		if _, ok := p.(*session.ToolResult); ok {
			results++
		}
	}
	if results == 0 && value != nil {
		f.Keep(inResult)
	}
	w.settle(in, &m.Extras)
	w.settle(f, &m.Extras)
	m.Role = session.User
	switch {
	case summary:
		return w.summary(m, parts, w.tree.Lines[i].Boundary)
	case results > 0:
		return w.results(i, m, parts, value, results)
	case meta:
		m.Simulated = true
		parts = wrapped(parts)
	case w.tree.Lines[i].Prompt:
		w.turn++
		m.Turn = &session.Turn{Number: w.turn}
		if u, ok := w.tree.Spent[int32(i)]; ok {
			m.Turn.Usage = &u
		}
	default: // a command that the user ran, or its output
		m.Simulated = true
	}
	if m.Parts = parts; m.Turn == nil || !w.tree.Lines[i].Typed {
		m.Parts = commanded(parts)
	}
	return w.put(m)
}

// summary adds a summary to the boundary before it. Older clients wrote no such line:
// the summary is the boundary.
func (w *walker) summary(m *session.Message, parts []session.Part, boundary bool) bool {
	var texts []string
	for _, p := range parts {
		if t, ok := p.(*session.Text); ok {
			texts = append(texts, t.Text)
		}
	}
	one := &session.Summary{Text: strings.Join(texts, "\n")}
	if w.held != nil {
		w.held.Parts = append(w.held.Parts, one)
		w.held.Origin = append(w.held.Origin, m.Origin...)
		w.held.Extras = append(w.held.Extras, m.Extras...)
		return w.flush()
	}
	m.Role = session.System
	if boundary && w.archived > 0 {
		m.Parts = append(m.Parts, &session.Boundary{})
	}
	m.Parts = append(m.Parts, one)
	return w.put(m)
}

// assistant converts a response: a line, and the others of the same response.
func (w *walker) assistant(i int, f *members.Object, m *session.Message) bool {
	w.answer(f, m)
	var known map[string]bool // extras that an earlier line of the response has, too
	for next := w.tree.Lines[i].Next; next >= 0; next = w.tree.Lines[next].Next {
		line, ok := w.read(int(next))
		if !ok {
			return false
		}
		more := w.message(int(next), line, f)
		w.answer(f, more)
		m.Parts, m.Origin, m.End = append(m.Parts, more.Parts...), append(m.Origin, more.Origin...), more.At
		if known == nil {
			known = map[string]bool{}
			for _, e := range m.Extras {
				known[e.Name+"\x00"+string(e.Raw)] = true
			}
		}
		for _, e := range more.Extras {
			if key := e.Name + "\x00" + string(e.Raw); !known[key] {
				known[key] = true
				m.Extras = append(m.Extras, e)
			}
		}
	}
	return w.put(m)
}

// answer converts one line of a response.
func (w *walker) answer(f *members.Object, m *session.Message) {
	for _, unused := range [...]int{inAttachment, inRendered, inSubtype, inContent, inMeta, inResult, inSource, inSummary, inVisible} {
		f.Keep(unused)
	}
	in := &w.inner
	in.Split(f.Raw(inMessage), "message.", answerNames)
	m.Role = session.Assistant
	if m.Model = in.Text(3); m.Model == "<synthetic>" {
		m.Model = ""
		in.Keep(3)
	}
	m.Parts = w.parts(in.Raw(4))
	w.settle(in, &m.Extras)
	w.settle(f, &m.Extras)
}

// system converts a boundary, or a notice of the client to the user.
func (w *walker) system(o *outline.Line, f *members.Object, m *session.Message) bool {
	for _, unused := range [...]int{inAttachment, inRendered, inResult, inSource, inSummary, inVisible, inMessage} {
		f.Keep(unused)
	}
	m.Role = session.System
	if o.Boundary {
		w.settle(f, &m.Extras)
		m.Parts = []session.Part{&session.Boundary{}}
		if !w.flush() {
			return false
		}
		w.held = m
		return true
	}
	local := string(f.Raw(inSubtype)) == `"local_command"`
	f.Keep(inSubtype)
	f.Keep(inMeta)
	if s := f.Text(inContent); s != "" {
		m.Parts = []session.Part{&session.Text{Text: s}}
	}
	if local { // the client sends it in the role of the user
		m.Role, m.Simulated, m.Parts = session.User, true, commanded(m.Parts)
	}
	w.settle(f, &m.Extras)
	return w.put(m)
}

package claudecode

import (
	"bytes"
	"fmt"
	"strings"

	"rehome/formats/internal/members"
	"rehome/formats/internal/rawjson"
	"rehome/formats/session"
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

func envelope() []string {
	return []string{inParent: "parentUuid", inSide: "isSidechain", inType: "type", inMessage: "message", inUUID: "uuid", inTime: "timestamp", inSession: "sessionId",
		inCwd: "cwd", inVersion: "version", inBranch: "gitBranch", inUser: "userType", inEntrypoint: "entrypoint", inResult: "toolUseResult", inSource: "sourceToolAssistantUUID",
		inMeta: "isMeta", inAttachment: "attachment", inRendered: "rendered", inSubtype: "subtype", inContent: "content", inSummary: "isCompactSummary",
		inVisible: "isVisibleInTranscriptOnly", inAgent: "agentId"}
}

// say makes messages of a line.
func (w *walker) say(i int, line []byte) bool {
	o := &w.survey.lines[i]
	switch {
	case o.kind == titles:
		w.tally.Claimed++
		return true // the head has it
	case o.branch == aside:
		w.tally.Opaque++
		return w.opaque(i, line)
	}
	w.tally.Claimed++
	f := &members.Object{}
	f.Split(line, "", envelope())
	m := &session.Message{ID: f.Text(inUUID), At: stamp(f.Raw(inTime)), Archived: o.archived, Origin: []string{w.at(i).String()}}
	if f.Has(inTime) && !m.At.Known() {
		f.Keep(inTime)
	}
	w.usual(f)
	switch o.kind {
	case user:
		return w.user(i, f, m)
	case answers:
		return w.assistant(o, f, m)
	case attached:
		return w.attachment(f, m)
	}
	return w.system(o, f, m)
}

// usual keeps of the envelope what is not the same on all lines.
func (w *walker) usual(f *members.Object) {
	for _, same := range [...]struct {
		member int
		value  string
	}{{inCwd, w.survey.cwd}, {inVersion, w.survey.version}, {inBranch, w.survey.branch}, {inUser, "external"}, {inEntrypoint, "cli"}} {
		if f.Text(same.member) != same.value {
			f.Keep(same.member)
		}
	}
}

// settle enters an object in the books and hands over what it did not take.
func (w *walker) settle(f *members.Object, to *[]session.Extra) {
	n := int64(len(f.Extras))
	w.tally.Members += f.Count
	w.tally.Extras += n
	w.tally.Taken += f.Count - n
	*to = append(*to, f.Extras...)
}

// opaque is a line that is no part of the conversation.
func (w *walker) opaque(i int, line []byte) bool {
	kind := text(line, "type")
	return w.put(&session.Message{ID: fmt.Sprintf("line-%d", i+1), Role: session.System, Origin: []string{w.at(i).String()},
		Parts: []session.Part{&session.Opaque{Kind: kind, Raw: members.Bare(kind, line)}}})
}

// user is a prompt, or results, or what the client says in the user's name.
func (w *walker) user(i int, f *members.Object, m *session.Message) bool {
	meta, summary := f.Flag(inMeta), f.Flag(inSummary)
	value := bytes.Clone(f.Raw(inResult))
	for _, unused := range [...]int{inAttachment, inRendered, inSubtype, inContent} {
		f.Keep(unused)
	}
	in := &members.Object{}
	in.Split(f.Raw(inMessage), "message.", []string{"role", "content"})
	parts := w.parts(in.Raw(1), &m.Extras)
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
		return w.summary(m, parts)
	case results > 0:
		return w.results(m, parts, value, results)
	case meta:
		m.Simulated = true
		m.Parts = wrapped(parts)
	case output(firstText(parts)):
		m.Simulated, m.Parts = true, parts
	default:
		w.turn++
		m.Turn = &session.Turn{Number: w.turn}
		if u, ok := w.survey.spent[int32(i)]; ok {
			m.Turn.Usage = &u
		}
		m.Parts = parts
	}
	return w.put(m)
}

// firstText is the first text of a message.
func firstText(parts []session.Part) string {
	for _, p := range parts {
		if t, ok := p.(*session.Text); ok && t.Text != "" {
			return t.Text
		}
	}
	return ""
}

// summary belongs to the boundary in front of it.
func (w *walker) summary(m *session.Message, parts []session.Part) bool {
	var texts []string
	for _, p := range parts {
		if t, ok := p.(*session.Text); ok {
			texts = append(texts, t.Text)
		}
	}
	one := &session.Summary{Text: strings.Join(texts, "\n")}
	if w.held != nil && w.response == 0 {
		w.held.Parts = append(w.held.Parts, one)
		w.held.Origin = append(w.held.Origin, m.Origin...)
		w.held.Extras = append(w.held.Extras, m.Extras...)
		return w.flush()
	}
	m.Role, m.Parts = session.System, []session.Part{one}
	return w.put(m)
}

// assistant is a block of a response, or several.
func (w *walker) assistant(o *outline, f *members.Object, m *session.Message) bool {
	for _, unused := range [...]int{inAttachment, inRendered, inSubtype, inContent, inMeta, inResult, inSource, inSummary, inVisible} {
		f.Keep(unused)
	}
	in := &members.Object{}
	in.Split(f.Raw(inMessage), "message.", []string{"id", "type", "role", "model", "content", "stop_sequence"})
	m.Role = session.Assistant
	if m.Model = in.Text(3); m.Model == "<synthetic>" {
		m.Model = ""
		in.Keep(3)
	}
	m.Parts = w.parts(in.Raw(4), &m.Extras)
	w.settle(in, &m.Extras)
	w.settle(f, &m.Extras)
	if w.held == nil || o.response == 0 || w.response != o.response || w.held.Archived != m.Archived {
		return w.hold(m, o.response)
	}
	h := w.held
	h.Parts = append(h.Parts, m.Parts...)
	h.End = m.At
	h.Origin = append(h.Origin, m.Origin...)
	for _, e := range m.Extras { // all lines of a response say the same of it
		if !has(h.Extras, e) {
			h.Extras = append(h.Extras, e)
		}
	}
	return true
}

func has(list []session.Extra, e session.Extra) bool {
	for _, x := range list {
		if x.Name == e.Name && bytes.Equal(x.Raw, e.Raw) {
			return true
		}
	}
	return false
}

// attachment is context that the client put there.
func (w *walker) attachment(f *members.Object, m *session.Message) bool {
	for _, unused := range [...]int{inMessage, inSubtype, inContent, inMeta, inResult, inSource, inSummary, inVisible} {
		f.Keep(unused)
	}
	raw := members.Bare("attachment", f.Raw(inAttachment))
	var texts []string
	plainText := true
	for r := range rawjson.Elements(f.Raw(inRendered)) {
		s := text(r, "content")
		plainText = plainText && s != ""
		texts = append(texts, s)
	}
	if !plainText || len(texts) == 0 {
		f.Keep(inRendered)
		texts = nil
	}
	m.Role, m.Simulated = session.User, true
	m.Parts = []session.Part{&session.Injected{Tag: text(raw, "type"), Text: strings.Join(texts, "\n"), Data: raw}}
	w.settle(f, &m.Extras)
	return w.put(m)
}

// system is a boundary, or what the client says to the user.
func (w *walker) system(o *outline, f *members.Object, m *session.Message) bool {
	for _, unused := range [...]int{inAttachment, inRendered, inResult, inSource, inSummary, inVisible, inMessage} {
		f.Keep(unused)
	}
	m.Role = session.System
	if o.boundary {
		w.settle(f, &m.Extras)
		m.Parts = []session.Part{&session.Boundary{}}
		return w.hold(m, 0)
	}
	f.Keep(inSubtype)
	f.Keep(inMeta)
	if s := f.Text(inContent); s != "" {
		m.Parts = []session.Part{&session.Text{Text: s}}
	}
	w.settle(f, &m.Extras)
	return w.put(m)
}

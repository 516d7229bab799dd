package lineclient

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"rehome/formats"
	"rehome/formats/internal/cursortools"
	"rehome/formats/internal/members"
	"rehome/formats/internal/picture"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/formats/store"
)

// teller tells a session in an order that every client takes: the results of calls follow
// their answer, and nothing stands between.
type teller struct {
	s       *session.Session
	b       formats.SessionBuild
	own     bool // the client itself wrote the session
	models  bool // answers name their models
	texts   bool // see Spelling.Texts
	line    Line
	grow    func(branch string) bool // it begins a branch, if it is known where
	spell   func(*Said)
	convert func(*session.ToolCall) loss.Code // see Spelling.Call
	taken   func(*session.Message)            // after each message; may be nil

	message *session.Message
	model   string                       // of the turn, for answers that do not name theirs
	branch  string                       // of the last message
	lost    bool                         // nobody knows where it begins
	command *Said                        // of the user, whose output may follow
	open    map[string]*session.ToolCall // calls of the last answer that have no result yet
	later   map[string]bool              // calls of answers that wait
	ids     map[string]bool              // of calls
	renamed map[string]string            // ids of calls that were used before, and what they are now
	waiting []*Said
	held    int
	begun   bool
}

func newTeller(c *Client, s *session.Session, b formats.SessionBuild, grow func(string) bool, spell func(*Said)) *teller {
	return &teller{
		s: s, b: b, own: c.Spell.Own && s.Agent == cmp.Or(c.Agent, c.Name), models: c.Spell.Models, texts: c.Spell.Texts, convert: c.Spell.Call, line: c.Line, grow: grow, spell: spell,
		open: map[string]*session.ToolCall{}, later: map[string]bool{}, ids: map[string]bool{}, renamed: map[string]string{},
	}
}

// note reports a loss of the message at hand, or of the session.
func (t *teller) note(code loss.Code, args ...string) { t.noteAt(t.from(), code, args...) }

func (t *teller) noteAt(from string, code loss.Code, args ...string) {
	t.b.OnLoss.Add(loss.Loss{Code: code, At: store.Addr{File: from}, Args: args})
}

// from returns the record that the message at hand comes from.
func (t *teller) from() string {
	switch m := t.message; {
	case m == nil:
		return t.s.ID
	case len(m.Origin) > 0:
		return m.Origin[0]
	default:
		return m.ID
	}
}

// aside reports what of the session no line has.
func (t *teller) aside() {
	s := t.s
	for _, p := range []struct {
		some bool
		code loss.Code
	}{
		{len(s.Todos) > 0, loss.TodosAside},
		{s.Plan != "", loss.PlanAside},
		{!t.own && (len(s.Extras) > 0 || len(s.Repos) > 0 || len(s.Folders) > 0), loss.MetadataAside},
	} {
		if p.some {
			t.note(p.code)
		}
	}
}

// all tells the messages, and reports what no line has.
func (t *teller) all(ctx context.Context) error {
	t.aside()
	err := session.Each(ctx, t.s.Messages, func(m *session.Message) error {
		if t.take(m); t.taken != nil {
			t.taken(m)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if t.flush(); !t.begun {
		t.message = nil
		t.note(loss.SessionEmpty)
	}
	return session.Each(ctx, t.s.Files, func(f *session.File) error {
		t.b.OnLoss.Add(loss.Loss{Code: loss.SnapshotDropped, At: store.Addr{File: f.Path}})
		return nil
	})
}

// take tells a message: each run of parts of one kind.
func (t *teller) take(m *session.Message) {
	t.message = m
	if m.Turn != nil {
		t.flush()
		if !t.own {
			t.note(loss.TurnRecord)
		}
	}
	if m.Branch != t.branch {
		t.flush()
		t.branch, t.model, t.lost = m.Branch, "", m.Branch != "" && !t.grow(m.Branch)
	}
	if t.lost {
		t.note(loss.TurnAbandoned)
		return
	}
	if m.Turn != nil {
		t.model = m.Turn.Model
	}
	t.model = cmp.Or(m.Model, t.model)
	if !m.At.Known() && len(m.Parts) > 0 {
		t.note(loss.TimeUnknown)
	}
	extras := m.Extras
	if !t.own {
		if len(extras) > 0 || !t.models && m.Model != "" && m.Model != t.s.Model {
			t.note(loss.MessageMetadata)
		}
		extras = nil
	}
	if m.Turn != nil && t.own {
		defer t.settings(m.Turn.Extras)
	}
	if len(m.Parts) == 0 && m.Role == session.Assistant {
		t.run(m, nil, extras)
	}
	for rest := m.Parts; len(rest) > 0; {
		n, first := 1, what(m, rest[0])
		for n < len(rest) && first != Result && what(m, rest[n]) == first {
			n++
		}
		t.run(m, rest[:n], extras)
		rest, extras = rest[n:], nil
	}
}

// settings tells lines of the client itself that were extras.
func (t *teller) settings(list []session.Extra) {
	for _, x := range list {
		if len(x.Raw) > 0 && x.Raw[0] == '{' {
			line := members.Split(x.Raw, "")
			t.put(&Said{What: Unchanged, ID: line.Text(t.line.ID), At: line.Time(t.line.Time), Raw: x.Raw, branch: t.branch})
		}
	}
}

// what says what a part of a message is.
func what(m *session.Message, p session.Part) string {
	switch p.(type) {
	case *session.ToolResult:
		return Result
	case *session.ToolCall, *session.Thinking:
		return Answer
	case *session.Boundary, *session.Summary:
		return Compaction
	case *session.Injected:
		if m.Role == session.User {
			return Context
		}
	case *session.Opaque:
		if m.Role == session.System && !slices.ContainsFunc(m.Parts, isBlock) {
			return Unchanged
		}
	}
	switch {
	case m.Role == session.Assistant:
		return Answer
	case m.Role == session.System:
		return System
	case m.Simulated || m.Role == session.Tool:
		return Context
	}
	return Prompt
}

// isBlock reports whether a part is one of a message, and no line of its own.
func isBlock(p session.Part) bool { _, line := p.(*session.Opaque); return !line }

func (t *teller) run(m *session.Message, run []session.Part, extras []session.Extra) {
	s := &Said{What: Answer, At: m.At, ID: m.ID, Model: t.model, Extras: extras, branch: m.Branch, from: t.from()}
	if len(run) > 0 {
		s.What = what(m, run[0])
	}
	switch s.What {
	case System:
		t.instruction(s, run)
	case Unchanged:
		t.unchanged(s, run)
	case Result:
		t.result(s, run[0].(*session.ToolResult))
	case Compaction:
		t.compaction(s, run)
	case Answer:
		t.answer(s, run)
	default:
		t.words(s, run)
	}
}

// instruction tells a system prompt of the client itself. Each has its own, so those of others
// are reported.
func (t *teller) instruction(s *Said, run []session.Part) {
	if t.own {
		s.Parts = run
		t.put(s)
		return
	}
	for _, p := range run {
		if isBlock(p) {
			t.note(loss.SystemPromptUnsent)
		} else {
			t.note(loss.PartUntranslatable)
		}
	}
}

// unchanged tells a line that the client itself wrote, and reports those of others.
func (t *teller) unchanged(s *Said, run []session.Part) {
	for _, p := range run {
		if o := p.(*session.Opaque); t.own && len(o.Raw) > 0 && o.Raw[0] == '{' {
			one := *s
			one.Raw = o.Raw
			t.put(&one)
		} else {
			t.note(loss.PartUntranslatable)
		}
	}
}

// words tells what the user or a client says, in one line for each piece of context.
func (t *teller) words(s *Said, run []session.Part) {
	if s.What == Prompt {
		t.flush()
	}
	if len(run) == 2 && tagOf(run[0]) == "bash-input" && tagOf(run[1]) == "bash-stdout" {
		s.What = Command
		for _, p := range run {
			s.Parts = append(s.Parts, &session.Text{Text: p.(*session.Injected).Text})
		}
		t.put(s)
		return
	}
	if text, ok := run[0].(*session.Text); ok && len(run) == 1 && !t.own && t.message.Turn != nil && t.message.Turn.Kind == shellTurn {
		s.What, s.Parts = Command, t.piece(text)
		t.command = s
		return
	}
	for _, p := range run {
		given, ok := p.(*session.Injected)
		if !ok {
			s.Parts = append(s.Parts, t.piece(p)...)
			continue
		}
		one := *s
		one.Tag, one.Parts = given.Tag, t.piece(p)
		if s.Extras = nil; len(one.Parts) > 0 {
			t.put(&one)
		}
	}
	if len(s.Parts) > 0 {
		t.put(s)
	}
}

// piece returns a part as texts and images.
func (t *teller) piece(p session.Part) []session.Part {
	switch p := p.(type) {
	case *session.Text:
		return []session.Part{&session.Text{Text: p.Text, Extras: t.extras(p.Extras)}}
	case *session.Injected:
		text := p.Text
		if len(p.Data) > 0 && strings.TrimSpace(text) == "" {
			text = string(p.Data)
		} else if len(p.Data) > 0 {
			t.note(loss.AttachmentRecord)
		}
		extras := t.extras(p.Extras)
		if text == "" {
			return nil
		}
		return []session.Part{&session.Text{Text: text, Extras: extras}}
	case *session.Media:
		return []session.Part{t.media(p)}
	case *session.Opaque:
		if t.own {
			return []session.Part{p}
		}
	case *session.Summary:
		return []session.Part{&session.Text{Text: p.Text, Extras: t.extras(p.Extras)}}
	}
	t.note(loss.PartUntranslatable)
	return nil
}

// extras returns the extras of a part, if the client itself wrote it.
func (t *teller) extras(list []session.Extra) []session.Extra {
	if len(list) > 0 && !t.own {
		t.note(loss.PartMetadata)
		return nil
	}
	return list
}

const (
	maxImage = 3750 << 10 // 5 MB as base64
	maxFile  = 20 << 20
)

// media returns an image that services accept, or its words.
func (t *teller) media(m *session.Media) session.Part {
	extras := t.extras(m.Extras)
	if mime := picture.Kind(m.Data); mime != "" && len(m.Data) <= maxImage {
		return &session.Media{Mime: mime, Name: m.Name, Data: m.Data, Extras: extras}
	}
	if isText(m) {
		t.note(loss.FileInlined)
		return &session.Text{Text: fmt.Sprintf("<file name=%q>\n%s\n</file>", m.Name, m.Data)}
	}
	code, words := loss.MediaNamed, fmt.Sprintf("[%s, %d bytes", cmp.Or(m.Mime, "file"), len(m.Data))
	if len(m.Data) == 0 {
		code = loss.MediaMissing
	}
	t.note(code)
	for _, more := range []string{m.Name, m.URI} {
		if more != "" {
			words += ", " + more
		}
	}
	return &session.Text{Text: words + "]"}
}

// isText reports whether a file is text that can stand in a prompt.
func isText(m *session.Media) bool {
	if len(m.Data) == 0 || len(m.Data) > maxFile || strings.HasPrefix(m.Mime, "image/") || bytes.HasPrefix(m.Data, []byte("%PDF-")) {
		return false
	}
	return utf8.Valid(m.Data) && bytes.IndexByte(m.Data, 0) < 0
}

// answer tells what the model said, thought and called.
func (t *teller) answer(s *Said, run []session.Part) {
	for _, p := range run {
		switch p := p.(type) {
		case *session.Thinking:
			s.Parts = append(s.Parts, t.thinking(p)...)
		case *session.ToolCall:
			s.Parts = append(s.Parts, t.call(p))
		case *session.Media:
			t.note(loss.AnswerImage)
		default:
			s.Parts = append(s.Parts, t.piece(p)...)
		}
	}
	if len(s.Parts) > 0 || t.own {
		t.put(s)
	}
}

// thinking is kept as it was for the client that wrote it, and as text for others, whose
// services accept it only from their own models.
func (t *teller) thinking(p *session.Thinking) []session.Part {
	switch {
	case t.own:
		return []session.Part{p}
	case strings.TrimSpace(p.Text) == "" && p.Redacted:
		t.note(loss.ThinkingRedacted)
	case strings.TrimSpace(p.Text) == "":
		t.note(loss.ThinkingHidden)
	case t.b.DropThinking:
		t.note(loss.ThinkingUnsigned)
	default:
		t.extras(p.Extras)
		t.note(loss.ThinkingAsText)
		return []session.Part{&session.Text{Text: "<thinking>\n" + p.Text + "\n</thinking>"}}
	}
	return nil
}

// call returns a call with an object of arguments, and an id that no other call has.
func (t *teller) call(p *session.ToolCall) session.Part {
	c := *p
	c.Extras = t.extras(p.Extras)
	switch {
	case len(c.Input) > 0 && c.Input[0] == '{':
	case len(c.Args) > 0 && c.Args[0] == '{':
		if c.Input, c.Args = c.Args, nil; len(p.Input) > 0 {
			t.note(loss.ArgumentsRepaired)
		}
	case len(c.Input) > 0:
		c.Input = append(append([]byte(`{"input":`), c.Input...), '}')
		t.note(loss.ArgumentsRepaired)
	default:
		c.Input = session.Raw("{}")
	}
	if t.convert != nil {
		if changed := t.convert(&c); changed != "" {
			t.note(changed)
		}
	}
	if name := accepted(c.Name, "unknown"); !t.own && name != c.Name {
		c.Name = name
		t.note(loss.ToolNameChanged, rule.Truncate(strings.ToValidUTF8(p.Name, "\uFFFD"), 80))
	}
	if c.ID = p.ID; !t.own {
		c.ID = accepted(c.ID, "call")
	}
	for n := 2; t.ids[c.ID] || c.ID == ""; n++ {
		c.ID = fmt.Sprintf("%s-%d", accepted(p.ID, "call"), n)
	}
	if c.ID != p.ID {
		t.renamed[p.ID] = c.ID
		t.note(loss.CallIDChanged)
	} else {
		delete(t.renamed, p.ID)
	}
	t.ids[c.ID] = true
	return &c
}

// result tells what came of a call.
func (t *teller) result(s *Said, p *session.ToolResult) {
	id := p.Call
	if now, ok := t.renamed[id]; ok && t.open[id] == nil && !t.later[id] {
		id = now
	}
	r := &session.ToolResult{Call: id, Error: p.Error, Status: p.Status}
	r.Extras = t.extras(p.Extras)
	s.Result = r
	for _, c := range p.Content {
		s.Parts = append(s.Parts, t.piece(c)...)
	}
	if t.own {
		r.Value = p.Value
	} else {
		t.shown(s, p, id)
	}
	switch {
	case p.Call == "" && t.command != nil:
		t.note(loss.ResultOrphan)
		c := t.command
		c.Parts, c.Exit = append(c.Parts, s.Parts...), cursortools.Find([][]byte{cursortools.Case(p.Value), p.Value}, "exitCode", "exitCodeV2")
		t.ran()
	case t.open[id] == nil && !t.later[id]:
		t.orphan(s)
	default:
		images := t.again(s)
		if t.put(s); images != nil {
			t.put(images)
		}
	}
}

// again returns the images of a result, if the client does not send them from there.
func (t *teller) again(s *Said) *Said {
	image := func(p session.Part) bool { _, is := p.(*session.Media); return is }
	if !t.texts || !slices.ContainsFunc(s.Parts, image) {
		return nil
	}
	one := *s
	one.What, one.Tag, one.Result, one.ID, one.Extras, one.Parts = Context, "image", nil, "", nil, nil
	for _, p := range s.Parts {
		if image(p) {
			one.Parts = append(one.Parts, p)
		}
	}
	t.note(loss.ResultMediaMoved)
	return &one
}

// shellTurn is the kind of a turn in which the user ran a command.
const shellTurn = "shell"

// shown adds the text of a result that has only a record, and reports that records are left out.
func (t *teller) shown(s *Said, p *session.ToolResult, id string) {
	if len(p.Value) > 0 {
		t.note(loss.ToolRecord)
	}
	if len(p.Content) == 0 {
		call := t.open[id]
		kind := ""
		switch {
		case call != nil:
			kind = call.Kind
		case id == "" && t.command != nil:
			kind = shellTurn
		}
		if text := cursortools.Shown(kind, p.Value); text != "" {
			t.note(loss.ResultFromRecord)
			s.Parts = append(s.Parts, &session.Text{Text: text})
		}
		for _, data := range cursortools.Images(p.Value) {
			s.Parts = append(s.Parts, t.media(&session.Media{Data: data}))
		}
	}
}

// orphan tells a result without a call as context.
func (t *teller) orphan(s *Said) {
	t.noteAt(s.from, loss.ResultOrphan)
	s.What, s.Result = Context, nil
	s.Parts = append([]session.Part{&session.Text{Text: "Result of a tool call:"}}, s.Parts...)
	t.put(s)
}

// compaction tells a summary that stands for what comes before, unless all is to be shown.
func (t *teller) compaction(s *Said, run []session.Part) {
	boundary, summaries := false, []session.Part{}
	for _, p := range run {
		switch p := p.(type) {
		case *session.Boundary:
			boundary = true
			s.Extras = append(s.Extras, t.extras(p.Extras)...)
		case *session.Summary:
			if p.Text != "" {
				summaries = append(summaries, &session.Text{Text: p.Text, Extras: t.extras(p.Extras)})
			}
		}
	}
	none := len(summaries) == 0
	stands := boundary && s.branch == "" // for what comes before it
	switch {
	case t.b.FullHistory && boundary:
		if !none {
			t.note(loss.SummaryUnused)
		}
		return
	case none && !stands:
		return
	case !stands:
		s.What, s.Tag = Context, "summary"
	case none:
		t.note(loss.SummaryUnknown)
		summaries = append(summaries, &session.Text{Text: "The conversation up to here was compacted. Its summary was not kept."})
	}
	if stands {
		t.flush()
	}
	s.Parts = summaries
	t.put(s)
}

func tagOf(p session.Part) string {
	if given, ok := p.(*session.Injected); ok && len(given.Extras)+len(given.Data) == 0 {
		return given.Tag
	}
	return ""
}

// maxName is how long names of tools and ids of calls can be for services of models.
const maxName = 64

// accepted returns a name as services of models accept it: of letters, digits, "_" and "-".
func accepted(name, kind string) string {
	if name == "" {
		return kind
	}
	out := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, name)
	if out != name || len(out) > maxName {
		sum := sha256.Sum256([]byte(name))
		out = rule.Truncate(out, maxName-9) + "-" + hex.EncodeToString(sum[:4])
	}
	return strings.TrimPrefix(cmp.Or(strings.TrimLeft(out, "-"), kind), "-")
}

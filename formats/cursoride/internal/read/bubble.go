package read

import (
	"bytes"

	"rehome/formats/cursoride/internal/lexical"
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/members"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// header is a bubble as its session lists it.
type header struct {
	id     string
	user   bool
	at     session.Stamp
	row    string // the end of its row's key, if that is not a colon and the id
	inline []byte // the bubble itself, if the session's record holds it
	more   []byte // the header itself, if it has unknown members
}

// bubble is a bubble that was read and split.
type bubble struct {
	header
	number int // among the headers
	addr   store.Addr
	body   []byte
	fate   lists.Fate
	row    lists.Fate // of its own row
	f      members.Object
	other  []byte  // a copy in the record of the session that says something else
	state  *supply // what the agent's own state has of its turn, if it lacks something
}

// Values of capabilityType; all other bubbles are text.
const (
	byTool    = 15
	bySummary = 22
	byThought = 30
)

// modes are the values of unifiedMode in bubbles; heads have names.
var modes = [...]string{"", "chat", "agent", "edit", "custom", "plan", "debug"}

func modeOf(raw []byte) string {
	if n, ok := members.Whole(raw); ok && n > 0 && n < int64(len(modes)) {
		return modes[n]
	}
	return rawjson.Text(raw)
}

// when returns the time of a bubble, if it states one.
func (b *bubble) when() session.Stamp {
	if s, _ := lists.Moment(b.f.Raw(bubCreated)); s.Known() {
		return s
	}
	if b.at.Known() {
		return b.at
	}
	for _, name := range [...]string{"clientStartTime", "clientRpcSendTime"} {
		if s, _ := lists.Moment(rawjson.Last(b.f.Raw(bubTiming), name)); s.Known() {
			return s
		}
	}
	return session.Stamp{}
}

// done returns when a bubble was complete, if it states that.
func (b *bubble) done() session.Stamp {
	for _, name := range [...]string{"clientEndTime", "clientSettleTime"} {
		if s, _ := lists.Moment(rawjson.Last(b.f.Raw(bubTiming), name)); s.Known() {
			return s
		}
	}
	return session.Stamp{}
}

// tokens returns the usage that a bubble states; 0 usually means unknown.
func (b *bubble) tokens() (in, out int64) {
	raw := b.f.Raw(bubTokens)
	in, _ = members.Whole(rawjson.Last(raw, "inputTokens"))
	out, _ = members.Whole(rawjson.Last(raw, "outputTokens"))
	return in, out
}

// model returns the model that a bubble names.
func (b *bubble) model() string {
	name := rawjson.TextAt(b.f.Raw(bubModelInfo), "modelName")
	if name == "" {
		name = rawjson.Text(b.f.Raw(bubModelType))
	}
	if name == "default" { // the client's own choice, which it does not record
		return ""
	}
	return name
}

// text returns the text of a bubble, or else that of its rich text.
func (d *assembler) text(b *bubble) string {
	text := b.f.Text(bubText)
	rich := b.f.Full(bubRichText)
	if text != "" || rich == nil {
		b.f.KeepFull(bubRichText)
		return text
	}
	doc := rawjson.Text(rich)
	if rich[0] != '"' {
		doc = string(rich)
	}
	text, ok := lexical.Text(doc)
	if !ok {
		b.f.Keep(bubRichText)
		d.note(loss.RichTextUnknown, b.addr)
	}
	if doc != text {
		b.f.KeepFull(bubRichText)
	}
	return text
}

// thoughts returns the reasoning in a bubble: an object, in some rows of 2025 a string,
// in others a list.
func (d *assembler) thoughts(b *bubble) (parts []session.Part) {
	millis, _ := b.f.Whole(bubThoughtMillis)
	raw := b.f.Full(bubThinking)
	if raw != nil && raw[0] != '{' && raw[0] != '"' {
		b.f.Keep(bubThinking)
		raw = nil
	}
	if t := d.thought(raw); t != nil {
		b.state.thought(t)
		t.Millis = millis
		parts = append(parts, t)
	}
	if len(parts) == 0 {
		b.f.KeepFull(bubThoughtMillis)
	}
	list := b.f.Full(bubThoughts)
	if list == nil {
		return parts
	}
	if !listsThoughts(list) {
		b.f.Keep(bubThoughts)
		return parts
	}
	for value := range rawjson.Elements(list) {
		if t := d.thought(value); t != nil && !bytes.Equal(value, raw) {
			parts = append(parts, t)
		}
	}
	return parts
}

func listsThoughts(list []byte) bool {
	if list[0] != '[' {
		return false
	}
	for v := range rawjson.Elements(list) {
		if v[0] != '{' && v[0] != '"' && string(v) != "null" {
			return false
		}
	}
	return true
}

func (d *assembler) thought(raw []byte) *session.Thinking {
	if raw == nil || members.Empty(raw) {
		return nil
	}
	if raw[0] == '"' {
		return &session.Thinking{Text: rawjson.Text(raw)}
	}
	t := &session.Thinking{}
	for name, v := range rawjson.Members(raw) {
		switch text := rawjson.Text(v); string(name) {
		case "text":
			t.Text = text
		case "signature":
			t.Signature = text
		case "redactedThinking":
			t.Redacted, t.Data = text != "", text
		case "isLastThinkingChunk":
		default:
			if !members.Empty(v) {
				t.Extras = append(t.Extras, session.Extra{Name: "thinking." + string(name), Raw: bytes.Clone(v)})
			}
		}
	}
	if t.Text == "" && t.Signature == "" && !t.Redacted && len(t.Extras) == 0 {
		return nil
	}
	return t
}

// summaryOf returns the summary of compacted messages in a bubble.
func summaryOf(b *bubble) *session.Summary {
	for _, i := range [...]int{bubCachedSummary, bubSummary} {
		if raw := b.f.Full(i); raw != nil {
			if text := summaryText(raw); text != "" {
				s := &session.Summary{Text: text}
				for name, v := range rawjson.Members(raw) {
					if string(name) != "summary" && !members.Empty(v) {
						s.Extras = append(s.Extras, session.Extra{Name: b.f.Name(i) + "." + string(name), Raw: bytes.Clone(v)})
					}
				}
				b.f.Drop(i)
				return s
			}
		}
	}
	return nil
}

// summaryText returns the text of a summary, which is in an object or in a nested one.
func summaryText(raw []byte) string {
	for range 3 {
		if text := rawjson.Text(raw); text != "" {
			return text
		}
		raw = rawjson.Last(raw, "summary")
	}
	return ""
}

// listed returns what the list of its session says of a bubble besides.
func (b *bubble) listed() (out []session.Extra) {
	for name, v := range rawjson.Members(b.header.more) {
		if odd(name) || string(name) == "serverBubbleId" && !bytes.Equal(v, rawjson.Last(b.body, "serverBubbleId")) && !members.Empty(v) {
			out = append(out, session.Extra{Name: "header." + string(name), Raw: bytes.Clone(v)})
		}
	}
	return out
}

// rest returns what was not converted of a bubble.
func (d *assembler) rest(b *bubble) []session.Extra {
	f := &b.f
	if hollowInside(f.Raw(bubTokens)) {
		f.Drop(bubTokens)
	}
	if e, ok := bare("conversation."+b.id, b.other); ok {
		f.Extras = append(f.Extras, e)
		f.Count++
	}
	listed := b.listed()
	f.Extras = append(f.Extras, listed...)
	f.Count += int64(len(listed))
	if rawjson.Text(f.Raw(bubState)) == "~" { // an empty one
		f.Drop(bubState)
	}
	f.KeepFull(bubTiming, bubTokens, bubError, bubSummary, bubCachedSummary, bubState, bubToolResults, bubTool, bubContext, bubGitStatus, bubImages)
	if raw := f.Full(bubModelInfo); raw != nil && b.model() == "" {
		f.Keep(bubModelInfo)
	}
	for name, v := range rawjson.Members(f.Raw(bubModelInfo)) {
		if string(name) != "modelName" && !members.Empty(v) {
			f.Keep(bubModelInfo)
			break
		}
	}
	if raw := f.Full(bubModelType); raw != nil && rawjson.Text(raw) != b.model() {
		f.Keep(bubModelType)
	}
	d.common(f)
	for i := range bubbleAttachments {
		f.KeepFull(bubAttached + i)
	}
	out := append(f.Settle(&d.tally), d.loose...)
	d.loose = nil
	return out
}

// common keeps what a bubble states differently from its turn, or in an unknown way.
func (d *assembler) common(f *members.Object) {
	if raw := f.Full(bubMode); raw != nil && (modeOf(raw) == "" || modeOf(raw) != d.mode) {
		f.Keep(bubMode)
	}
	if raw := f.Full(bubRequest); raw != nil && (rawjson.Text(raw) == "" || rawjson.Text(raw) != d.request) {
		f.Keep(bubRequest)
	}
	if _, exact := lists.Moment(f.Raw(bubCreated)); !exact {
		f.Keep(bubCreated)
	}
	if n, ok := members.Whole(f.Raw(bubCapability)); f.Full(bubCapability) != nil && (!ok || n != byTool && n != bySummary && n != byThought) {
		f.Keep(bubCapability)
	}
	if _, ok := members.Whole(f.Raw(bubVersion)); !ok {
		f.KeepFull(bubVersion)
	}
}

// odd reports whether a member of a header is unknown. The known ones besides the id,
// the type and the time cache the bubble for the client's list.
func odd(name []byte) bool {
	switch string(name) {
	case "bubbleId", "type", "createdAt", "serverBubbleId", "contentHeightHint", "grouping":
		return false
	}
	return true
}

// hollowInside reports whether all members of an object are empty.
func hollowInside(object []byte) bool {
	for _, v := range rawjson.Members(object) {
		if !members.Empty(v) {
			return false
		}
	}
	return true
}

package audit

import (
	"bytes"
	"strconv"
	"strings"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/shape"
	"rehome/formats/rule"
	"rehome/internal/rawjson"
)

// blocks checks the content of one message. The client sends it with every request,
// so the session cannot be continued while it has a block that the API rejects.
type blocks struct {
	*fileAudit
	link   int32
	answer bool
	words  []byte // the first text, as JSON
	image  bool
}

// say adds a finding about this message.
func (b *blocks) say(id, at, says string, args ...any) { b.remark(b.link, id, at, says, args...) }

func (b *blocks) content(content []byte) {
	switch content[0] {
	case '"':
		b.words = content
		if !b.answer && empty(content) {
			b.say("RH444", "/message/content", "")
		} else if empty(content) {
			b.say("RH445", "/message/content", "")
		}
	case '[':
		n := 0
		for raw := range rawjson.Elements(content) {
			b.block(raw, n, "/message/content/"+strconv.Itoa(n))
			n++
		}
		if n == 0 {
			b.say("RH446", "/message/content", "")
		}
	}
}

// empty reports whether a JSON string is empty or blank.
func empty(text []byte) bool {
	if len(text) > 1<<10 && !bytes.ContainsAny(text[1:9], " \t\\") {
		return false // avoids unquoting a long text
	}
	return outline.Blank(rawjson.Text(text))
}

// block checks one block.
func (b *blocks) block(raw []byte, n int, at string) {
	if len(raw) == 0 || raw[0] != '{' {
		return // the schema reports it
	}
	kind := rawjson.TextAt(raw, "type")
	if kind == "" {
		return
	}
	t := shape.Blocks[kind]
	if t == nil {
		if !strings.HasSuffix(kind, "_tool_result") {
			b.say(b.unknown("RH451"), at+"/type", "block type %q", rule.Clip(kind))
		} else {
			b.replies[outline.Hash(rawjson.Last(raw, "tool_use_id"))] = true
		}
		return
	}
	b.only(raw, kind, t, at)
	switch t.Fate {
	case shape.Text:
		words := rawjson.Last(raw, "text")
		if b.words == nil {
			b.words = words
		}
		if rawjson.IsText(words) && empty(words) {
			b.say("RH445", at+"/text", "")
		}
	case shape.Media:
		b.image = true
		b.media(raw, at)
	case shape.Thinking:
		b.thinking(raw, at)
	case shape.Call:
		b.call(raw, n, at)
	case shape.Served:
		b.served = append(b.served, outline.Mention{Call: outline.Hash(rawjson.Last(raw, "id")), Line: b.link, Block: int32(n)})
	case shape.Answer:
		b.result(raw, n, at)
	}
}

// only reports a member that the API rejects. Claude Code sends members unchanged.
func (b *blocks) only(raw []byte, kind string, t *shape.Block, at string) {
	for name := range rawjson.Members(raw) {
		if !t.Knows(string(name)) {
			b.say(b.unknown("RH452"), at, "block of type %s has %q", kind, rule.Clip(string(name)))
			return
		}
	}
}

func (b *blocks) thinking(raw []byte, at string) {
	if rawjson.TextAt(raw, "signature") == "" {
		b.say("RH454", at, "")
		return
	}
	if len(b.thinks) < outline.MaxCalls {
		b.thinks = append(b.thinks, thought{key(b.model), b.link})
	}
}

func (b *blocks) call(raw []byte, n int, at string) {
	id, name := rawjson.TextAt(raw, "id"), rawjson.TextAt(raw, "name")
	if !outline.ValidID(id, len(id)) {
		b.say("RH447", at+"/id", "")
	} else if len(id) > outline.MaxID {
		b.say("RH448", at+"/id", "%d characters", len(id))
	}
	if !outline.ValidID(name, outline.MaxTool) {
		b.say("RH449", at+"/name", "%q", rule.Clip(name))
	}
	if input := rawjson.Last(raw, "input"); len(input) == 0 || input[0] != '{' {
		b.say("RH450", at+"/input", "")
	}
	call := outline.Hash(rawjson.Last(raw, "id"))
	b.references.calls[call] = true
	b.tree.Uses = append(b.tree.Uses, outline.Mention{Call: call, Line: b.link, Block: int32(n)})
}

func (b *blocks) result(raw []byte, n int, at string) {
	b.tree.Lines[b.link].Result = true
	call := outline.Hash(rawjson.Last(raw, "tool_use_id"))
	b.tree.Replies = append(b.tree.Replies, outline.Mention{Call: call, Line: b.link, Block: int32(n)})
	content := rawjson.Last(raw, "content")
	if len(content) == 0 {
		return
	}
	if content[0] == '{' {
		b.say("RH465", at+"/content", "")
	}
	k := 0
	for in := range rawjson.Elements(content) {
		b.inner(in, at+"/content/"+strconv.Itoa(k))
		k++
	}
}

// inner checks a block of a result.
func (b *blocks) inner(raw []byte, at string) {
	kind := rawjson.TextAt(raw, "type")
	t := shape.Blocks[kind]
	switch {
	case kind == "":
	case t == nil || !t.InAnswer():
		b.say(b.unknown("RH451"), at+"/type", "block type %q", rule.Clip(kind))
	default:
		if b.only(raw, kind, t, at); t.Fate == shape.Media {
			b.media(raw, at)
		}
	}
}

// media checks an image or a document. The client sends it unchanged.
func (b *blocks) media(raw []byte, at string) {
	source := rawjson.Last(raw, "source")
	switch rawjson.TextAt(source, "type") {
	case "base64":
		data := rawjson.Last(source, "data")
		if rawjson.TextAt(source, "media_type") == "" {
			b.say("RH467", at+"/source", "no media_type")
		} else if len(data) < 3 || data[0] != '"' || !base64Text(data[1:len(data)-1]) {
			b.say("RH467", at+"/source/data", "")
		}
	case "":
		b.say("RH467", at, "no source, or no type in it")
	}
}

// base64Text reports whether s is base64 with padding.
func base64Text(s []byte) bool {
	s = bytes.ReplaceAll(s, []byte(`\/`), []byte(`/`)) // JSON allows this escape
	if len(s)%4 != 0 {
		return false
	}
	s = bytes.TrimSuffix(bytes.TrimSuffix(s, []byte("=")), []byte("="))
	for _, c := range s {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '+' && c != '/' {
			return false
		}
	}
	return true
}

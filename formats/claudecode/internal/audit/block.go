package audit

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/rule"
	"rehome/internal/rawjson"
)

// blocks checks the content of one message. The client sends it with every request,
// so the session cannot be continued while it has a block that the API rejects.
type blocks struct {
	*fileAudit
	link    int32
	answer  bool
	results int
	words   []byte // the first text, as JSON
	image   bool
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
	fields, ok := Fields(kind)
	if !ok {
		if !strings.HasSuffix(kind, "_tool_result") {
			b.say(b.unknown("RH451"), at+"/type", "block type %q", rule.Clip(kind))
		} else {
			b.replies[outline.Hash(rawjson.Last(raw, "tool_use_id"))] = true
		}
		return
	}
	if len(fields) > 0 {
		b.only(raw, kind, fields, at)
	}
	switch kind {
	case "text":
		words := rawjson.Last(raw, "text")
		if b.words == nil {
			b.words = words
		}
		if rawjson.IsText(words) && empty(words) {
			b.say("RH445", at+"/text", "")
		}
	case "image", "document":
		b.image = true
		b.media(raw, at)
	case "thinking":
		b.thinking(raw, at)
	case "tool_use":
		b.call(raw, n, at)
	case "server_tool_use", "mcp_tool_use":
		b.served = append(b.served, blockRef{outline.Hash(rawjson.Last(raw, "id")), b.link, int32(n)})
	case "tool_result":
		b.result(raw, n, at)
	}
}

// Fields returns the members that the API accepts in a type of block; nil if the
// type is known, but its members are not. Claude Code sends members unchanged.
func Fields(kind string) (fields []string, known bool) {
	switch kind {
	case "text":
		return []string{"text", "citations", "cache_control"}, true
	case "thinking":
		return []string{"thinking", "signature"}, true
	case "redacted_thinking":
		return []string{"data"}, true
	case "tool_use":
		return []string{"id", "name", "input", "caller", "cache_control"}, true
	case "tool_result":
		return []string{"tool_use_id", "content", "is_error", "cache_control"}, true
	case "image":
		return []string{"source", "cache_control"}, true
	case "document":
		return []string{"source", "title", "context", "citations", "cache_control"}, true
	case "server_tool_use", "mcp_tool_use", "mcp_tool_listing", "search_result", "container_upload", "tool_reference", "compaction",
		"mid_conv_system", "fallback", "browser_state":
		return nil, true
	}
	return nil, false
}

func (b *blocks) only(raw []byte, kind string, fields []string, at string) {
	for name := range rawjson.Members(raw) {
		if string(name) != "type" && !slices.Contains(fields, string(name)) {
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
	b.calls = append(b.calls, blockRef{call, b.link, int32(n)})
}

func (b *blocks) result(raw []byte, n int, at string) {
	b.results++
	b.fileAudit.results = append(b.fileAudit.results, blockRef{outline.Hash(rawjson.Last(raw, "tool_use_id")), b.link, int32(n)})
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
	fields, ok := Fields(kind)
	switch {
	case kind == "":
	case !ok || strings.Contains(kind, "tool_use") || strings.Contains(kind, "thinking") || kind == "tool_result":
		b.say(b.unknown("RH451"), at+"/type", "block type %q", rule.Clip(kind))
	default:
		if len(fields) > 0 {
			b.only(raw, kind, fields, at)
		}
		if kind == "image" || kind == "document" {
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

package opencode

import (
	"cmp"
	"maps"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/lineclient"
	"rehome/formats/internal/toolmap"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// What OpenCode sends for some parts, whatever they hold.
const (
	cleared     = "[Old tool result content cleared]"
	interrupted = "[Tool execution was interrupted]"
	byUser      = "The following tool was executed by the user"
)

// scanWords searches what is not stored.
func scanWords(s *formats.Scan) {
	for _, words := range []string{cleared, interrupted, byUser} {
		s.Take("", []byte(words))
	}
}

var blocks = map[string]lineclient.Block{
	"text": func(b *lineclient.Fields, _ *lineclient.Record) session.Part {
		switch {
		case string(b.Peek("ignored")) == "true" || b.Peek("text") == nil:
			return nil
		case b.Flag("synthetic"):
			return given(b)
		}
		return &session.Text{Text: b.Text("text")}
	},
	"reasoning": func(b *lineclient.Fields, _ *lineclient.Record) session.Part {
		t := &session.Thinking{Text: b.Text("text"), Signature: rawjson.TextAt(b.Peek("metadata"), "anthropic", "signature")}
		t.Start, t.End, t.Extras = span(b.Members("time"), "time.")
		return t
	},
	"file": func(b *lineclient.Fields, _ *lineclient.Record) session.Part {
		if mime := rawjson.Text(b.Peek("mime")); mime == "text/plain" || mime == "application/x-directory" {
			return nil // its text is another part
		}
		return file(b)
	},
	"subtask": func(b *lineclient.Fields, _ *lineclient.Record) session.Part {
		return &session.Injected{Tag: "subtask", Text: byUser}
	},
}

// given is a text that the user did not write.
func given(b *lineclient.Fields) session.Part {
	p := &session.Injected{Tag: rawjson.TextAt(b.Peek("metadata"), mark), Text: b.Text("text")}
	if p.Tag == "" {
		p.Tag = "synthetic"
		return p
	}
	b.Drop("metadata")
	if words, ok := strings.CutPrefix(p.Text, "<"+p.Tag+">"); ok {
		p.Text = strings.TrimSuffix(words, "</"+p.Tag+">")
	}
	return p
}

// file is a picture or another file, in its address or where that is.
func file(b *lineclient.Fields) session.Part {
	m := lineclient.Media(b.Text("url"))
	m.Mime, m.Name = b.Text("mime"), b.Text("filename")
	return m
}

// span is when something began and ended, and what else there is, below a path.
func span(raw []byte, path string) (start, end session.Stamp, rest []session.Extra) {
	f := fields(raw)
	return f.Time("start"), f.Time("end"), below(path, f)
}

// below is what nobody took of an object, at its path.
func below(path string, f *lineclient.Fields) (out []session.Extra) {
	for _, x := range f.Rest() {
		out = append(out, session.Extra{Name: path + x.Name, Raw: x.Raw})
	}
	return out
}

// content is what a message says. The results of its calls follow the rest, as they are sent.
func content(r *lineclient.Record) []session.Part {
	r.Drop("unsent", "role")
	var results []session.Part
	own := maps.Clone(blocks)
	own["tool"] = func(b *lineclient.Fields, _ *lineclient.Record) session.Part {
		call, result := tool(b)
		if result != nil {
			results = append(results, result)
		}
		return call
	}
	return append(r.Content("parts", own), results...)
}

// tool is a call, and what came of it.
func tool(b *lineclient.Fields) (*session.ToolCall, session.Part) {
	c := &session.ToolCall{ID: b.Text("callID"), Name: b.Text("tool")}
	c.Kind = toolmap.Kind(c.Name)
	s := fields(b.Members("state"))
	c.Input = lineclient.Copy(s.Raw("input"))
	times := fields(s.Members("time"))
	c.Start, c.End = times.Time("start"), times.Time("end")
	status := s.Text("status")
	metadata := s.Peek("metadata")
	c.Child = rawjson.TextAt(metadata, "sessionId")
	result := &session.ToolResult{Call: c.ID, Status: "success", Value: lineclient.Copy(metadata)}
	switch status {
	case "completed":
		s.Drop("metadata")
		if old := string(times.Peek("compacted")); old != "" && old != "null" {
			result.Content = []session.Part{&session.Text{Text: cleared}}
			break // the rest is an extra of the call
		}
		result.Content = append(result.Content, &session.Text{Text: s.Text("output")})
		for one := range rawjson.Elements(s.List("attachments")) {
			f := fields(one)
			f.Drop("type", "sessionID", "messageID")
			m := file(f).(*session.Media)
			m.Extras = f.Rest()
			result.Content = append(result.Content, m)
		}
	case "error":
		s.Drop("metadata")
		result.Status, result.Error = "failed", true
		text := s.Text("error")
		if string(rawjson.Last(metadata, "interrupted")) == "true" && rawjson.IsText(rawjson.Last(metadata, "output")) {
			result.Error, text = false, rawjson.TextAt(metadata, "output")
		}
		result.Content = append(result.Content, &session.Text{Text: text})
	default:
		result = nil
		c.Extras = append(c.Extras, session.Extra{Name: "state.status", Raw: session.AppendString(nil, status)})
	}
	c.Extras = append(c.Extras, append(below("state.", s), below("state.time.", times)...)...)
	if result == nil {
		return c, nil
	}
	return c, result
}

// summary is what stands for the messages before it, which comes first.
func summary(r *lineclient.Record) (out []session.Part) {
	var rest []session.Part
	for _, p := range content(r) {
		if t, ok := p.(*session.Text); ok {
			out = append(out, &session.Summary{Text: t.Text, Extras: t.Extras})
		} else {
			rest = append(rest, p)
		}
	}
	return append(out, rest...)
}

// unsent reports a message that OpenCode keeps and does not send.
func unsent(r *lineclient.Record) bool { return string(r.Peek("unsent")) == "true" }

// endings are how a turn ended, by why its last answer did.
var endings = map[string]string{"stop": "finished", "length": "finished", "aborted": "cancelled", "error": "error"}

func spent(r *lineclient.Record, t *session.Turn) {
	t.Model = cmp.Or(rawjson.Text(r.Peek("modelID")), t.Model)
	word, failed := rawjson.Text(r.Peek("finish")), r.Peek("error")
	switch name := rawjson.TextAt(failed, "name"); {
	case name == "MessageAbortedError":
		word = "aborted"
	case failed != nil:
		word = "error"
	}
	lineclient.Outcome(t, word, endings, rawjson.TextAt(failed, "data", "message"))
	tokens := r.Peek("tokens")
	lineclient.Spend(t, tokens, "input", "output", "", "", "reasoning", "total")
	lineclient.Spend(t, rawjson.Last(tokens, "cache"), "", "", "read", "write", "", "")
}

// asked tells the model that the user chose.
func asked(r *lineclient.Record, t *session.Turn) {
	t.Model = rawjson.TextAt(r.Peek("model"), "modelID")
}

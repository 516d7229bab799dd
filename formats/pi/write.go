package pi

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"rehome/formats/internal/lineclient"
	"rehome/formats/internal/object"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// spelling is how sessions are written, as version 1.5.2 writes its own.
func spelling() *lineclient.Spelling {
	return &lineclient.Spelling{
		Path: func(h *session.Head, id string) string {
			at := strings.NewReplacer(":", "-", ".", "-").Replace(h.Created.Time().Format("2006-01-02T15:04:05.000Z"))
			return "sessions/" + folder(h.Workspace) + "/" + at + "_" + id + ".jsonl"
		},
		Head: func(p *object.Writer, h *session.Head, id string) {
			p.Num("version", 3)
			p.Text("id", id)
			p.Text("timestamp", h.Created.Time().Format("2006-01-02T15:04:05.000Z"))
			p.Text("cwd", h.Workspace)
		},
		Title: func(w *lineclient.Lines, title string) {
			p := w.New("session_info")
			p.Text("name", title)
			w.Put(p)
		},
		Mark: func(w *lineclient.Lines, data []byte) {
			p := w.New("custom")
			p.Text("customType", mark)
			p.Raw("data", data)
			w.Put(p)
		},
		Line:   line,
		Own:    true,
		Models: true,
	}
}

// mark is the customType of the line that rehome writes for itself.
const mark = "rehome"

func line(w *lineclient.Lines, s *lineclient.Said) {
	number := func(n string) []byte { return []byte(n) }
	switch {
	case s.What == lineclient.Compaction:
		p := w.New("compaction")
		p.Text("summary", lineclient.Words(s.Parts))
		p.Text("firstKeptEntryId", w.ID()) // it keeps nothing: what is sent besides follows
		s.Rest(&p, lineclient.Member("tokensBefore", number("0")))
		w.Put(p)
	case s.Has("fromId"):
		p := w.New("branch_summary")
		p.Text("summary", lineclient.Words(s.Parts))
		s.Rest(&p)
		w.Put(p)
	case s.What == lineclient.Context:
		p := w.New("custom_message")
		p.Name("content")
		p.B = contents(p.B, s.Parts)
		s.Rest(&p, lineclient.Text("customType", cmp.Or(s.Tag, "context")), lineclient.Member("display", number("false")))
		w.Put(p)
	default:
		p := w.New("message")
		p.Name("message")
		in := object.New(p.B)
		rest := message(&in, s)
		s.Rest(&in, append(rest, lineclient.Member("timestamp", number(strconv.FormatInt(w.Millis(), 10))))...)
		p.B = in.Done()
		w.Put(p)
	}
}

// message writes a message, and returns members that it needs where the source has none.
func message(p *object.Writer, s *lineclient.Said) []session.Extra {
	content := func() {
		p.Name("content")
		p.B = contents(p.B, slices.DeleteFunc(slices.Clone(s.Parts), isSection))
	}
	switch s.What {
	case lineclient.Command:
		p.Text("role", "bashExecution")
		p.Text("command", lineclient.Words(s.Parts[:1]))
		p.Text("output", lineclient.Words(s.Parts[1:]))
		needed := []session.Extra{lineclient.Member("cancelled", []byte("false")), lineclient.Member("truncated", []byte("false"))}
		if s.Exit != nil {
			needed = append(needed, lineclient.Member("exitCode", s.Exit))
		}
		return needed
	case lineclient.Result:
		p.Text("role", "toolResult")
		p.Text("toolCallId", s.Result.Call)
		content()
		if s.Result.Value != nil {
			p.Raw("details", s.Result.Value)
		}
		p.Flag("isError", s.Result.Error)
		return []session.Extra{lineclient.Text("toolName", s.Call.Name)}
	case lineclient.Answer:
		p.Text("role", "assistant")
		content()
		api, provider := service(s.Model)
		p.Text("model", cmp.Or(s.Model, "unknown"))
		stop := "stop"
		if s.Calls() {
			stop = "toolUse"
		}
		return []session.Extra{
			lineclient.Text("api", api), lineclient.Text("provider", provider), lineclient.Member("usage", []byte(noUsage)), lineclient.Text("stopReason", stop),
		}
	}
	role := "user"
	if s.What == lineclient.System {
		role = "system"
	}
	p.Text("role", role)
	if content(); role == "system" {
		sections(p, s.Parts)
	}
	return nil
}

// isSection reports whether a part is a section of a system prompt.
func isSection(part session.Part) bool {
	t, ok := part.(*session.Text)
	return ok && len(t.Extras) == 1 && strings.HasPrefix(t.Extras[0].Name, "section")
}

// sections writes a system prompt by its sections, see instructions.
func sections(p *object.Writer, parts []session.Part) {
	p.Name("sections")
	in := object.New(p.B)
	for _, part := range parts {
		if t, ok := part.(*session.Text); ok && len(t.Extras) == 1 {
			if x := t.Extras[0]; x.Name == "section" {
				in.Text(rawjson.Text(x.Raw), t.Text)
			} else if name, ok := strings.CutPrefix(x.Name, "sections."); ok {
				in.Raw(name, x.Raw)
			}
		}
	}
	p.B = in.Done()
}

// noUsage has the members without which Pi fails.
const noUsage = `{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`

// service returns the API and the provider of a model, as Pi names them.
func service(model string) (api, provider string) {
	switch {
	case strings.HasPrefix(model, "claude-"):
		return "anthropic-messages", "anthropic"
	case strings.HasPrefix(model, "gpt-"):
		return "openai-responses", "openai"
	case strings.HasPrefix(model, "gemini-"):
		return "google-generative-ai", "google"
	}
	return "openai-completions", "unknown"
}

// contents writes a list of blocks.
func contents(dst []byte, parts []session.Part) []byte {
	dst = append(dst, '[')
	for i, part := range parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		if block, ok := part.(*session.Opaque); ok {
			dst = append(dst, block.Raw...)
			continue
		}
		p := object.New(dst)
		var extras []session.Extra
		switch part := part.(type) {
		case *session.Text:
			p.Text("type", "text")
			p.Text("text", part.Text)
			extras = part.Extras
		case *session.Media:
			p.Text("type", "image")
			p.Text("data", base64.StdEncoding.EncodeToString(part.Data))
			p.Text("mimeType", part.Mime)
			extras = part.Extras
		case *session.Thinking:
			p.Text("type", "thinking")
			p.Text("thinking", part.Text)
			p.NonEmpty("thinkingSignature", part.Signature+part.Data)
			if extras = part.Extras; part.Redacted {
				p.Flag("redacted", true)
			}
		case *session.ToolCall:
			p.Text("type", "toolCall")
			p.Text("id", part.ID)
			p.Text("name", part.Name)
			p.Raw("arguments", part.Input)
			extras = part.Extras
		}
		lineclient.Rest(&p, extras)
		dst = p.Done()
	}
	return append(dst, ']')
}

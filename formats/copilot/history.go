package copilot

import (
	"io/fs"
	"os"
	"regexp"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/lineclient"
	"rehome/formats/internal/members"
	"rehome/formats/internal/rowclient"
	"rehome/formats/internal/toolmap"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// History is the codec of the files of versions before events: the messages as they are sent, and the lines of the screen.
func History() *formats.Format {
	return rowclient.Document{
		Client: lineclient.Client{
			Name:  name + "-json",
			Agent: name,
			About: "sessions of GitHub Copilot CLI before events (session_….json)",
			Home: &formats.Home{Title: "Copilot CLI", Resume: []string{"copilot", "--resume"},
				Roots: func(formats.Machine) []string { return nil }},
			Line: lineclient.Line{Kind: []string{"role"}},
			Kinds: map[string]lineclient.Kind{
				"user":      {Role: session.User, Say: said, Prompt: true},
				"assistant": {Role: session.Assistant, Say: called},
				"tool":      {Role: session.Tool, Say: returned},
				"system":    {Role: session.System, Say: said, Once: true},
				"developer": {Role: session.System, Say: said, Once: true},
			},
			Fields: strings.Fields("timeline selectedModel detail type"),
		},
		Begins:  regexp.MustCompile(`^\{"sessionId":"[^"]*","startTime":"[^"]*","chatMessages":\[`),
		List:    "chatMessages",
		Session: historyOf,
	}.Format()
}

func historyOf(_ string, doc []byte) (s *rowclient.Session, prompted bool) {
	f := members.Split(doc, "")
	s = &rowclient.Session{Head: session.Head{ID: f.Text("sessionId"), Agent: name, Created: f.Time("startTime"), Turns: -1}}
	for b := range rawjson.Elements(f.Peek("timeline")) {
		if at := members.Split(b, "").Time("timestamp"); at.Known() {
			s.Updated = at
		}
	}
	for b := range rawjson.Elements(f.List("chatMessages")) {
		if rawjson.TextAt(b, "role") == "user" && s.Title == "" {
			first, _, _ := strings.Cut(words(rawjson.Last(b, "content")), "<reminder>")
			s.Title = lineclient.FirstLine(first)
			prompted = s.Title != ""
		}
	}
	extras := f.Rest() // the model that is selected need not be the one that spoke
	s.Fill = func(out *session.Session) { out.Extras = append(extras, out.Extras...) }
	return s, prompted
}

// words is the first text of a content, which can be one itself.
func words(content []byte) string {
	for b := range rawjson.Elements(content) {
		if text := rawjson.TextAt(b, "text"); text != "" {
			return text
		}
	}
	return rawjson.Text(content)
}

func said(r *lineclient.Record) (out []session.Part) {
	if rawjson.IsText(r.Peek("content")) {
		if text := r.Text("content"); text != "" {
			out = append(out, &session.Text{Text: text})
		}
		return out
	}
	for b := range rawjson.Elements(r.List("content")) {
		f := members.Split(b, "")
		switch kind := f.Text("type"); kind {
		case "text":
			t := &session.Text{Text: f.Text("text")}
			t.Extras = f.Rest()
			out = append(out, t)
		case "image_url":
			image := members.Split(f.Members("image_url"), "")
			m := lineclient.Media(image.Text("url"))
			m.Extras = append(image.Rest(), f.Rest()...)
			out = append(out, m)
		default:
			out = append(out, &session.Opaque{Kind: kind, Raw: members.Bare(kind, b)})
		}
	}
	return out
}

func called(r *lineclient.Record) []session.Part {
	out := said(r)
	for b := range rawjson.Elements(r.List("tool_calls")) {
		f := members.Split(b, "")
		of := members.Split(f.Members("function"), "function.")
		c := &session.ToolCall{ID: f.Text("id"), Name: of.Text("name")}
		c.Kind = toolmap.Kind(c.Name)
		args := []byte(rawjson.Text(of.Peek("arguments")))
		if rawjson.Valid(args) {
			of.Drop("arguments")
			c.Input = args
		} else {
			c.Input = lineclient.Copy(of.Raw("arguments"))
		}
		if rawjson.Text(f.Peek("type")) == "function" {
			f.Drop("type")
		}
		c.Extras = append(f.Rest(), of.Rest()...)
		out = append(out, c)
	}
	return out
}

func returned(r *lineclient.Record) []session.Part {
	return []session.Part{&session.ToolResult{Call: r.Text("tool_call_id"), Status: "success", Content: said(r)}}
}

// strays are the files of older versions in a home. The client deletes one when it has saved events made of it: those beside
// one that is still there can lack what it says.
func strays(l *formats.Location) []string {
	list, _ := fs.Glob(os.DirFS(l.Path), "history-session-state/session_*_*.json")
	return list
}

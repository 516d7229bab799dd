package gemini

import (
	"bufio"
	"cmp"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"strings"
	"time"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lineclient"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

const (
	name   = "gemini"
	client = "gemini-cli"
	home   = "GEMINI_CLI_HOME"
)

// Format is the codec.
func Format() *formats.Format {
	f := lineclient.Format(table())
	f.Strays = strays
	return f
}

// table is what is to be known of the client.
func table() lineclient.Client {
	return lineclient.Client{
		Name:     name,
		Agent:    client,
		About:    "sessions of Gemini CLI",
		ReadOnly: "Gemini CLI 0.61.0 deletes a session after it has resumed it",
		Home: &formats.Home{
			Title:  "Gemini CLI",
			Resume: []string{"gemini", "--resume"},
			Roots: func(m formats.Machine) []string {
				return []string{filepath.Join(cmp.Or(m.Env(home), m.Home), ".gemini")}
			},
			Parts:        []string{"tmp", "projects.json"},
			SessionFiles: []string{"*/tmp/*/chats/**/*.jsonl", "*/tmp/*/chats/*.json"},
			SideFiles:    []string{".json"},
			Keep:         30 * 24 * time.Hour,
		},
		Files:  []string{"tmp/*/chats/session-{id}.jsonl", "tmp/*/chats/{parent}/{id}.jsonl"},
		Beside: beside,
		Replay: replay,
		First:  doomed,
		Head:   lineclient.Head{Kind: "head", ID: "sessionId", Created: "startTime"},
		Line:   lineclient.Line{Kind: []string{"type"}, ID: "id", Parent: before, Time: "timestamp"},
		Of:     kindOf,
		Kinds: map[string]lineclient.Kind{
			"head":         {},
			"user":         {Role: session.User, Say: said, Prompt: true},
			"user aside":   {Role: session.User, Say: said, Unsent: always},
			"user context": {Role: session.User, Simulated: true, Say: given},
			"user shell":   {Role: session.User, Simulated: true, Say: said},
			"user result":  {Role: session.Tool, Say: said},
			"user summary": {Role: session.System, Say: compacted, Keeps: keeps},
			"gemini":       {Role: session.Assistant, Say: answer, Model: "model", Turn: spent},
			"info":         {Role: session.System, Say: said, Unsent: always},
			"warning":      {Role: session.System, Say: said, Unsent: always},
			"error":        {Role: session.System, Say: said, Unsent: always},
			"settings":     {Aside: true},
			"summary":      {In: "$set", Title: "summary", Aside: true},
			"$rewindTo":    {},
			tipKind:        {Own: always},
		},
		Tested: []string{"0.61.0", "0.38.2", "0.16.0"},
		Fields: strings.Fields(`agentId description directories displayContent displayName kind lastUpdated projectHash renderOutputAsMarkdown status
			memoryScratchpad tokens thoughts toolCalls resultDisplay id`),
		Tools: strings.Fields("complete_task"),
		Consequences: map[string]string{
			"RH492": "Gemini CLI does not list the session, and deletes the file when it starts next",
			"RH494": "Gemini CLI puts a call without arguments before it",
			"RH495": "Gemini CLI tells the model that the result was lost",
			"RH498": "Gemini CLI lists the one with the latest lastUpdated",
		},
	}
}

func always(*lineclient.Record) bool { return true }

// snapshot begins a message that stands for what was compacted.
const snapshot = "<state_snapshot>"

// kindOf returns the kind of a line, as the client tells them apart.
func kindOf(f *lineclient.Fields) (kind, in string) {
	switch set := f.Peek("$set"); {
	case rawjson.IsText(f.Peek("$rewindTo")):
		return "$rewindTo", ""
	case rawjson.Last(set, "summary") != nil:
		return "summary", "$set"
	case set != nil:
		return "settings", ""
	case f.Peek("id") == nil && rawjson.IsText(f.Peek("sessionId")) && rawjson.IsText(f.Peek("projectHash")):
		return "head", ""
	case rawjson.Text(f.Peek("type")) == "user":
		return userKind(f.Peek("content")), ""
	}
	return rawjson.Text(f.Peek("type")), ""
}

// isHead reports whether a line names the session.
func isHead(line []byte) bool {
	return rawjson.IsText(rawjson.Last(line, "sessionId")) && rawjson.IsText(rawjson.Last(line, "projectHash"))
}

// userKind tells what stands in the user's place.
func userKind(content []byte) string {
	for p := range parts(content) {
		if rawjson.Last(p, "functionResponse") != nil {
			return "user result"
		}
	}
	text := words(content)
	for _, begin := range []struct{ text, kind string }{
		{"<session_context>", "user context"}, {"<hook_context>", "user context"}, {snapshot, "user summary"},
		{"I ran the following shell command:\n", "user shell"},
		{"[Function Response: ", "user shell"}, {"/", "user aside"}, {"?", "user aside"},
	} {
		if strings.HasPrefix(text, begin.text) {
			return begin.kind
		}
	}
	return "user"
}

// words returns the first text of a message.
func words(content []byte) string {
	for p := range parts(content) {
		if text := strings.TrimSpace(cmp.Or(rawjson.TextAt(p, "text"), rawjson.Text(p))); text != "" {
			return text
		}
	}
	return ""
}

// parts yields the parts of a content, which can be one of them, or a text.
func parts(content []byte) iter.Seq[[]byte] {
	if len(content) > 0 && content[0] == '[' {
		return rawjson.Elements(content)
	}
	return func(yield func([]byte) bool) {
		if len(content) > 0 {
			yield(content)
		}
	}
}

// isSetting reports whether metadata say more than that something was written.
func isSetting(set []byte) bool {
	for name := range rawjson.Members(set) {
		switch string(name) {
		case "lastUpdated", "sessionId", "messages", "projectHash", "startTime", "kind", "$rewindTo":
		default:
			return true
		}
	}
	return false
}

// beside finds the folder of the project.
func beside(s *jsonl.Store, f *jsonl.File, h *session.Head) {
	dir := path.Dir(f.Path)
	if f.Link.Session != "" {
		dir = path.Dir(dir)
	}
	h.Workspace = cmp.Or(projectRoot(s.Root.FS(), path.Dir(dir)), h.Workspace)
}

// projectRoot returns the folder of the project that a folder below tmp is of; "" if the client does not say it.
func projectRoot(home fs.FS, dir string) string {
	name := path.Join(dir, ".project_root")
	if info, err := fs.Stat(home, name); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := home.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReaderSize(f, 4096).ReadSlice('\n')
	if root := strings.TrimSpace(string(line)); filepath.IsAbs(root) {
		return root
	}
	return ""
}

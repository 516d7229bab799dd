// Package tools spells tool calls and their results as Claude Code's own tools do.
// What has a counterpart there, and by which arguments, is data in claude.txt.
package tools

import (
	"embed"
	"strconv"
	"strings"
	"sync"

	"rehome/formats/internal/cursortools"
	"rehome/formats/internal/object"
	"rehome/formats/internal/toolmap"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

//go:embed claude.txt
var tables embed.FS

func claudeText() string {
	b, err := tables.ReadFile("claude.txt")
	if err != nil {
		panic(err) // it is part of the program
	}
	return string(b)
}

// Native is a call as Claude Code's own tools spell it.
type Native struct {
	Name  string // of the tool; what the model called it where there is no counterpart
	Input []byte // a JSON object in one line
	Own   bool   // it is one of Claude Code's tools, or of a server's
	Exact bool   // every argument of the call is in Input
	edit  *edit
	back  bool // it went to Cursor and comes back
}

// argument is one of a tool's.
type argument struct {
	name string
	must bool
	kind byte // '#', '~', '?' or 0
	from []string
}

type counterpart struct {
	name string
	args []argument
}

// natives is claude.txt, read once: counterparts by their kinds, and the kind
// that a tool of Claude Code's is read as, which is that of its first line.
var natives = sync.OnceValue(func() (t struct {
	tools map[string]counterpart
	kinds map[string]string
}) {
	t.tools, t.kinds = map[string]counterpart{}, map[string]string{}
	for line := range strings.Lines(claudeText()) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] == "#" {
			continue
		}
		c := counterpart{name: words[1]}
		for _, w := range words[2:] {
			var a argument
			if a.name, a.must = strings.CutPrefix(w, "!"); !a.must && strings.IndexByte("#~?", w[0]) >= 0 {
				a.kind, a.name = w[0], w[1:]
			}
			a.from = toolmap.ArgumentNames(words[0], a.name)
			c.args = append(c.args, a)
		}
		if _, known := t.kinds[c.name]; !known {
			t.kinds[c.name] = words[0]
		}
		if len(c.args) > 0 {
			t.tools[words[0]] = c
		}
	}
	return t
})

// Claude translates a call. Input is what the model wrote, args what the tool
// ran with; either can be absent. What came of an edit says what it changed, so
// value is to be given where it is known; see Waits.
func Claude(kind, name string, input, args, value []byte) Native {
	torn := broken(input)
	if torn && len(args) > 0 && args[0] == '{' {
		input = nil // the tool's own are whole
	}
	docs := [][]byte{input, args}
	n, ok := Native{}, false
	switch kind {
	case "edit", "piEdit":
		n, ok = claudeEdit(docs, value)
	case "ls", "piLs":
		n, ok = command("ls ", docs, "List files"), true
	case "delete":
		n, ok = command("rm ", docs, "Delete a file"), true
	case "updateTodos":
		n, ok = todos(docs)
	case "askQuestion":
		n, ok = asked(docs)
	case "mcp":
		n, ok = served(name, docs)
	default:
		if c, known := natives().tools[kind]; known {
			n, ok = c.call(docs)
		}
	}
	if n.Own = ok; !ok {
		n = foreign(name, kind, docs)
	}
	n.Exact = n.Exact && !torn
	return n
}

// broken reports arguments that are no whole object though they should be: one
// that breaks off stays the string that it is. A string of anything else is what
// a tool that takes a text was given.
func broken(input []byte) bool {
	switch {
	case len(input) == 0 || input[0] == '{':
		return false
	case input[0] == '"':
		return strings.HasPrefix(strings.TrimSpace(rawjson.Text(input)), "{")
	}
	return true
}

// call spells the arguments that the tool has; false if one that it needs is
// not there.
func (c counterpart) call(docs [][]byte) (Native, bool) {
	o, exact := object.New(nil), covers(c, docs)
	for _, a := range c.args {
		raw := cursortools.Find(docs, a.from...)
		if a.kind == '~' {
			raw = cursortools.Find(docs[:1], a.from...)
		}
		switch {
		case a.kind == '#', a.kind == '~':
			if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil && n > 0 {
				o.Raw(a.name, raw)
				continue
			}
		case a.kind == '?':
			if string(raw) == "true" {
				o.Raw(a.name, raw)
				continue
			}
		default:
			text := word(raw)
			if text != "" || a.must && len(raw) > 0 && a.name == "content" {
				o.Text(a.name, text)
				exact = exact && isText(raw)
				continue
			} else if a.must {
				return Native{}, false
			}
		}
		exact = exact && idle(raw)
	}
	return Native{Name: c.name, Input: o.Done(), Exact: exact || docs[0] == nil}, true
}

// idle reports the value of an argument that says nothing.
func idle(raw []byte) bool {
	switch string(raw) {
	case "", "null", "false", "0", `""`:
		return true
	}
	return false
}

// covers reports whether no argument that the model wrote is left out.
func covers(c counterpart, docs [][]byte) bool {
	doc := docs[0]
	if doc == nil {
		return true // of the client's own spelling most says nothing to a model
	}
next:
	for name := range rawjson.Members(doc) {
		for _, a := range c.args {
			for _, from := range a.from {
				if from == string(name) {
					continue next
				}
			}
		}
		return false
	}
	return true
}

// word is a text, the only member's name of an object: {"explore":{}}, or a
// command by its words: ["bash","-lc","ls"].
func word(raw []byte) string {
	if len(raw) > 0 && raw[0] == '[' {
		return cursortools.Line(raw)
	}
	if len(raw) > 0 && raw[0] == '{' {
		for name, v := range rawjson.Members(raw) {
			if inner := rawjson.Text(rawjson.Last(v, "name")); inner != "" {
				return inner
			}
			return string(name)
		}
	}
	return rawjson.Text(raw)
}

// command is a tool that a shell has, too.
func command(cmd string, docs [][]byte, what string) Native {
	path := rawjson.Text(cursortools.Find(docs, "path", "target_file", "targetFile", "target_directory", "directoryPath", "relative_workspace_path", "relativeWorkspacePath", "directory_path", "file_path"))
	if path == "" {
		path = "."
	}
	o := object.New(nil)
	o.Text("command", cmd+cursortools.Quoted(path))
	o.Text("description", what)
	return Native{Name: "Bash", Input: o.Done()}
}

// todos is a list of things to do.
func todos(docs [][]byte) (Native, bool) {
	list := cursortools.Find(docs, "todos", "plan")
	if len(list) == 0 || list[0] != '[' {
		return Native{}, false
	}
	o := object.New(nil)
	o.Name("todos")
	o.B = append(o.B, '[')
	some := false
	for item := range rawjson.Elements(list) {
		content := rawjson.Text(cursortools.Find([][]byte{item}, "content", "subject", "title", "step"))
		if content == "" {
			return Native{}, false // part of a list: only what changed
		}
		if some {
			o.B = append(o.B, ',')
		}
		some = true
		one := object.New(o.B)
		one.Text("content", content)
		one.Text("status", status(rawjson.Text(rawjson.Last(item, "status"))))
		if form := rawjson.Last(item, "activeForm"); isText(form) {
			one.Raw("activeForm", form)
		} else {
			one.Text("activeForm", content)
		}
		o.B = one.Done()
	}
	o.B = append(o.B, ']')
	return Native{Name: "TodoWrite", Input: o.Done()}, true
}

// asked returns questions to the user.
func asked(docs [][]byte) (Native, bool) {
	list := cursortools.Find(docs, "questions")
	if len(list) < 3 || list[0] != '[' {
		return Native{}, false
	}
	o := object.New(nil)
	o.Raw("questions", object.Array(list, func(_ int, item []byte, o *object.Writer) {
		o.Text("question", rawjson.Text(cursortools.Find([][]byte{item}, "question", "prompt")))
		o.NonEmpty("header", rawjson.Text(rawjson.Last(item, "header")))
		if options := rawjson.Last(item, "options"); len(options) > 0 && options[0] == '[' {
			o.Raw("options", object.Array(options, option))
		}
		o.Flag("multiSelect", string(cursortools.Find([][]byte{item}, "multiSelect", "allow_multiple", "allowMultiple")) == "true")
	}))
	return Native{Name: "AskUserQuestion", Input: o.Done()}, true
}

func option(_ int, item []byte, o *object.Writer) {
	o.Text("label", rawjson.Text(rawjson.Last(item, "label")))
	o.NonEmpty("description", rawjson.Text(rawjson.Last(item, "description")))
}

// status is one of the three that Claude Code has.
func status(s string) string {
	s = strings.ToLower(strings.TrimPrefix(s, "TO"+"DO_STATUS_"))
	switch s {
	case "completed", "in_progress":
		return s
	case "cancelled", "canceled":
		return "completed"
	}
	return "pending"
}

// served is a tool of a server's.
func served(name string, docs [][]byte) (Native, bool) {
	server := rawjson.Text(cursortools.Find(docs, "providerIdentifier", "server", "serverIdentifier", "server_name"))
	tool := rawjson.Text(cursortools.Find(docs, "toolName", "tool_name", "tool"))
	args := cursortools.Find(docs, "arguments", "args", "tool_args")
	if own := docs[0]; len(own) > 0 && own[0] == '{' && cursortools.Find(docs[:1], "toolName", "tool_name", "tool", "arguments", "args", "tool_args") == nil {
		args = own // as the model wrote them
	}
	if tool == "" {
		tool = strings.TrimPrefix(strings.TrimPrefix(name, "mcp_"), "_")
		if args = docs[0]; args == nil {
			args = docs[1]
		}
	}
	if server == session.ClaudeCode && tool == name {
		if len(docs[0]) > 0 && docs[0][0] == '{' {
			args = docs[0]
		}
		return Native{Name: name, Input: whole(args), Exact: true, back: true}, true // its own tool, see cursortools
	}
	if server == "" {
		server = "server"
	}
	if tool == "" || tool == "mcp" || tool == "CallMcpTool" {
		return Native{}, false
	}
	if strings.HasPrefix(name, "mcp__") {
		return Native{Name: name, Input: whole(args), Exact: true}, true
	}
	return Native{Name: "mcp__" + server + "__" + tool, Input: whole(args), Exact: true}, true
}

// foreign keeps a call as it is.
func foreign(name, kind string, docs [][]byte) Native {
	if name == "" {
		name = kind
	}
	for _, doc := range docs {
		if len(doc) > 0 {
			return Native{Name: name, Input: whole(doc), Exact: doc[0] == '{'}
		}
	}
	return Native{Name: name, Input: []byte("{}"), Exact: true}
}

// whole is an object, or an object around what is none.
func whole(doc []byte) []byte {
	switch {
	case len(doc) == 0 || string(doc) == "null":
		return []byte("{}")
	case doc[0] == '{':
		return doc
	}
	o := object.New(nil)
	o.Raw("input", doc)
	return o.Done()
}

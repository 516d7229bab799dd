// Package tools spells tool calls and their results as Claude Code's own tools do.
// What has a counterpart there, and by which arguments, is data in claude.txt.
package tools

import (
	"embed"
	"slices"
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
	Name     string   // of the tool; what the model called it where there is no counterpart
	Input    []byte   // a JSON object in one line
	Own      bool     // it is one of Claude Code's tools, or of a server's
	Exact    bool     // every argument of the call is in Input, with its value as it was
	Reshaped bool     // a value is in another form: a range of lines, a patch
	Replaced bool     // what the model wrote was no object: the tool ran with this
	Moved    bool     // the command first changes to its working directory
	Left     []string // names of arguments that are not in Input, because the tool does not have them
	edit     *edit
	back     bool // it went to Cursor and comes back
}

// argument is one of a tool's.
type argument struct {
	name  string
	must  bool
	kind  byte // '#', '~', '?', '=' or 0
	from  []string
	words []string // that it can be, if kind is '='
}

type counterpart struct {
	name string
	args []argument
	more bool // other arguments are kept
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
			if w == "+" {
				c.more = true
				continue
			}
			var a argument
			if a.name, a.must = strings.CutPrefix(w, "!"); !a.must && strings.IndexByte("#~?=", w[0]) >= 0 {
				a.kind, a.name = w[0], w[1:]
			}
			if name, choice, ok := strings.Cut(a.name, ":"); ok {
				a.name, a.words = name, strings.Split(choice, ",")
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

// Claude translates a call of a session in a folder. Input is what the model wrote, args
// what the tool ran with; either can be absent. What came of an edit says what it changed,
// so value is to be given where it is known; see Waits.
func Claude(folder, kind, name string, input, args, value []byte) Native {
	torn := broken(input)
	replaced := len(input) > 0 && input[0] != '{' && len(args) > 0 && args[0] == '{' // the tool's own are whole
	if torn && replaced {
		input = nil
	}
	g := &given{docs: [][]byte{input, args}}
	n, ok := Native{}, false
	c := natives().tools[kind]
	switch kind {
	case "edit", "piEdit":
		n, ok = claudeEdit(g, value)
		replaced = replaced && torn // or it is a patch
	case "ls", "piLs":
		n, ok = command("ls ", g, "List files")
	case "delete":
		n, ok = command("rm ", g, "Delete a file")
	case "updateTodos":
		c.more = true
		n, ok = todos(g)
	case "askQuestion":
		c.more = true
		n, ok = asked(g)
	case "mcp":
		n, ok = served(name, g)
		replaced = replaced && torn
	default:
		n, ok = c.call(g, kind, folder)
	}
	if n.Own = ok; !ok {
		n = foreign(name, kind, g.docs)
	} else if !n.back {
		c.others(g, &n)
	}
	n.Reshaped, n.Replaced = !n.Exact, replaced
	n.Exact = n.Exact && !torn && !n.Moved && len(n.Left) == 0
	return n
}

// others adds the arguments that the tool does not have. Claude Code sends them, but most
// of its tools are then shown without any argument, and are refused if the next model
// imitates them.
func (c *counterpart) others(g *given, n *Native) {
	for _, m := range g.rest() {
		if !c.more || m.value == nil || rawjson.Last(n.Input, m.name) != nil || slices.ContainsFunc(c.args, func(a argument) bool { return a.name == m.name }) {
			n.Left = append(n.Left, m.name)
			continue
		}
		o := object.New(nil)
		o.Raw(escaped(m.name), m.value)
		n.Input = append(append(n.Input[:len(n.Input)-1], ','), o.Done()[1:]...)
	}
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
func (c *counterpart) call(g *given, kind, folder string) (Native, bool) {
	if c.name == "" {
		return Native{}, false
	}
	n, o := Native{Name: c.name, Exact: true}, object.New(nil)
	if kind == "shell" {
		g.cd = g.folder(folder)
	}
	for _, a := range c.args {
		exact, ok := g.write(&o, a)
		if !ok {
			return Native{}, false
		}
		n.Exact = n.Exact && exact
	}
	switch kind {
	case "read":
		n.Exact = g.lines(&o) && n.Exact
	case "grep":
		n.Exact = g.letters(&o) && n.Exact
	}
	n.Input, n.Moved = o.Done(), g.cd != ""
	return n, true
}

// word is a text, a command by its words, ["bash","-lc","ls"], or the name that an object
// consists of.
func word(raw []byte) string {
	switch {
	case len(raw) > 0 && raw[0] == '[':
		return cursortools.Line(raw)
	case len(raw) > 0 && raw[0] == '{':
		return cursortools.Named(raw)
	}
	return rawjson.Text(raw)
}

// command is a tool that a shell has, too; false without a path.
func command(cmd string, g *given, what string) (Native, bool) {
	path := g.text("path", "target_file", "targetFile", "target_directory", "targetDirectory", "directoryPath", "relative_workspace_path", "relativeWorkspacePath", "directory_path", "file_path", "filePath")
	if path == "" {
		return Native{}, false
	}
	if why := g.text("explanation"); why != "" {
		what = why
	}
	o := object.New(nil)
	o.Text("command", cmd+cursortools.Quoted(path))
	o.Text("description", what)
	return Native{Name: "Bash", Input: o.Done()}, true
}

// served is a tool of a server's.
func served(name string, g *given) (Native, bool) {
	servers := []string{"providerIdentifier", "server", "serverIdentifier", "server_name"}
	tools, arguments := []string{"toolName", "tool_name", "tool"}, []string{"arguments", "args", "tool_args"}
	server, tool, args := rawjson.Text(g.find(servers...)), rawjson.Text(g.find(tools...)), g.find(arguments...)
	own := g.docs[0]
	bare := len(own) > 0 && own[0] == '{' && cursortools.Find(g.docs[:1], append(tools, arguments...)...) == nil
	if bare {
		args = own // as the model wrote them
	}
	if tool == "" {
		tool, bare = strings.TrimPrefix(strings.TrimPrefix(name, "mcp_"), "_"), true
		if args = g.docs[0]; args == nil {
			args = g.docs[1]
		}
	}
	if server == session.ClaudeCode && tool == name {
		if len(own) > 0 && own[0] == '{' {
			args = own
		}
		return Native{Name: name, Input: whole(args), Exact: true, back: true}, true // its own tool, see cursortools
	}
	if server == "" {
		server = "server"
	}
	if tool == "" || tool == "mcp" || tool == "CallMcpTool" {
		return Native{}, false
	}
	for _, names := range [][]string{servers, tools, arguments} {
		g.use(g.find(names...), names...)
	}
	if len(own) == 0 {
		g.use(g.find("name"), "name") // the client's name for the server and the tool
	}
	if bare {
		g.docs = [][]byte{nil, nil} // all of it is in args
	}
	if !strings.HasPrefix(name, "mcp__") {
		name = "mcp__" + server + "__" + tool
	}
	return Native{Name: name, Input: whole(args), Exact: true}, true
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

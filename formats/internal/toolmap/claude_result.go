package toolmap

import (
	"encoding/base64"
	"strconv"
	"strings"

	"rehome/formats/internal/rawjson"
	"rehome/formats/session"
)

func appendText(dst []byte, s string) []byte { return session.AppendString(dst, s) }

// caseOf is what a result's one case holds: {"success":{…}}. A result that is
// not spelled so is itself.
func caseOf(value []byte) []byte {
	for name, v := range rawjson.Members(value) {
		if len(v) == 0 || v[0] != '{' {
			continue
		}
		switch s := string(name); {
		case s == "success", s == "complete", s == "stillRunning", s == "async", Failed(s):
			return v
		}
	}
	return value
}

// Shown is the text that a result holds, where what the model was shown of it
// is not kept; the whole record as it stands if nothing in it is told to be
// text.
func Shown(kind string, value []byte) string {
	if len(value) == 0 || string(value) == "null" {
		return ""
	}
	if value[0] == '"' {
		return rawjson.Text(value)
	}
	came := [][]byte{caseOf(value), value}
	switch kind {
	case "shell", "piBash":
		out := rawjson.Text(find(came, "stdout", "output", "interleavedOutput"))
		if err := rawjson.Text(find(came, "stderr")); err != "" {
			if out != "" && !strings.HasSuffix(out, "\n") {
				out += "\n"
			}
			out += err
		}
		if out != "" {
			return out
		}
		if s := said(came); s != "" {
			return s
		}
		if code := find(came, "exitCode", "exitCodeV2"); code != nil {
			return "(no output, exit code " + string(code) + ")"
		}
	case "mcp":
		if s := parts(find(came, "content")); s != "" || len(Images(value)) > 0 {
			return s
		}
	case "task":
		if s := steps(find(came, "conversationSteps")); s != "" {
			return s
		}
	case "edit", "piEdit":
		for _, name := range [...]string{"message", "modelVisibleError", "error", "diffString"} {
			if s := rawjson.Text(find(came, name)); s != "" {
				return s
			}
		}
		if find(came, "afterFullFileContent", "afterContentId") != nil {
			return "The file was changed." // what it holds now would say the change twice
		}
	case "grep":
		if s := matches(came); s != "" {
			return s
		}
	case "glob":
		if s := listed(find(came, "files")); s != "" {
			return s
		}
	}
	if s := said(came); s != "" {
		return s
	}
	return string(value)
}

// said is the text of the first member that tells what came of any tool.
func said(came [][]byte) string {
	for _, name := range [...]string{"content", "contents", "markdown", "output", "results", "modelVisibleError", "errorMessage", "error", "message", "reason", "transcript"} {
		if s := rawjson.Text(find(came, name)); s != "" {
			return s
		}
	}
	return ""
}

// Images are the pictures among what a server's tool answered with, where that
// is a list of pieces.
func Images(value []byte) (out [][]byte) {
	list := find([][]byte{caseOf(value), value}, "content")
	if len(list) == 0 || list[0] != '[' {
		return nil
	}
	for p := range rawjson.Elements(list) {
		data := rawjson.Last(p, "data")
		if in := rawjson.Last(p, "image"); in != nil {
			data = rawjson.Last(in, "data")
		} else if rawjson.Text(rawjson.Last(p, "type")) != "image" {
			continue
		}
		if b, err := base64.StdEncoding.DecodeString(rawjson.Text(data)); err == nil && len(b) > 0 {
			out = append(out, b)
		}
	}
	return out
}

func parts(list []byte) string {
	var out []string
	for p := range rawjson.Elements(list) {
		if s := rawjson.Text(find([][]byte{rawjson.Last(p, "text"), p}, "text")); s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n")
}

func steps(list []byte) string {
	var out []string
	for p := range rawjson.Elements(list) {
		if s := rawjson.Text(rawjson.Last(rawjson.Last(p, "assistantMessage"), "text")); s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n\n")
}

// matches spells what a search found as grep does.
func matches(came [][]byte) string {
	var out []string
	for _, found := range rawjson.Members(find(came, "workspaceResults")) {
		for f := range rawjson.Elements(rawjson.Last(rawjson.Last(found, "content"), "matches")) {
			file := rawjson.Text(rawjson.Last(f, "file"))
			for m := range rawjson.Elements(rawjson.Last(f, "matches")) {
				mark := ":"
				if string(rawjson.Last(m, "isContextLine")) == "true" {
					mark = "-"
				}
				out = append(out, file+mark+string(rawjson.Last(m, "lineNumber"))+mark+rawjson.Text(rawjson.Last(m, "content")))
			}
		}
		for f := range rawjson.Elements(rawjson.Last(rawjson.Last(found, "files"), "files")) {
			out = append(out, rawjson.Text(f))
		}
		for f := range rawjson.Elements(rawjson.Last(rawjson.Last(found, "count"), "counts")) {
			out = append(out, rawjson.Text(rawjson.Last(f, "file"))+":"+string(rawjson.Last(f, "count")))
		}
	}
	return strings.Join(out, "\n")
}

func listed(list []byte) string {
	var out []string
	for p := range rawjson.Elements(list) {
		if s := rawjson.Text(p); s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n")
}

// Result is the record that Claude Code draws what came of a call from; nil if
// it draws nothing but the text. shown is what the model was shown.
func (n Native) Result(value []byte, shown string, failed bool) []byte {
	if failed {
		const most = 4 << 10
		if len(shown) > most {
			shown = shown[:most]
		}
		return appendText(nil, "Error: "+shown)
	}
	came := [][]byte{caseOf(value), value}
	o := object{}
	switch n.Name {
	case "Bash":
		ran(&o, came, shown)
	case "Read":
		file := rawjson.Last(n.Input, "file_path")
		if !isText(file) {
			return nil
		}
		n.read(&o, file, came, shown)
	case "Edit", "Write":
		if n.edit == nil {
			return nil
		}
		return n.edit.result()
	case "Grep":
		lines := strings.Count(strings.TrimSuffix(shown, "\n"), "\n") + 1
		o.text("mode", "content")
		o.num("numFiles", 0)
		o.raw("filenames", []byte("[]"))
		o.text("content", shown)
		o.num("numLines", lines)
		o.num("totalLines", lines)
	case "Glob":
		globbed(&o, came)
	case "TodoWrite":
		list := rawjson.Last(n.Input, "todos")
		if len(list) == 0 || list[0] != '[' {
			return nil // a call of that name whose arguments are other ones
		}
		o.raw("oldTodos", []byte("[]"))
		o.raw("newTodos", list)
	default:
		return nil
	}
	return o.done()
}

// ran is what a command printed.
func ran(o *object, came [][]byte, shown string) {
	out, err := find(came, "stdout", "output"), find(came, "stderr")
	if isText(out) {
		o.raw("stdout", out)
	} else {
		o.text("stdout", shown)
	}
	if isText(err) {
		o.raw("stderr", err)
	} else {
		o.text("stderr", "")
	}
	o.flag("interrupted", false)
	o.flag("isImage", false)
	o.flag("noOutputExpected", false)
}

// globbed is the files that a pattern found.
func globbed(o *object, came [][]byte) {
	files := find(came, "files")
	if len(files) == 0 || files[0] != '[' {
		files = []byte("[]")
	}
	count := 0
	for range rawjson.Elements(files) {
		count++
	}
	o.raw("filenames", files)
	o.num("durationMs", 0)
	o.num("numFiles", count)
	o.flag("truncated", string(find(came, "clientTruncated")) == "true")
	o.num("totalMatches", count)
	o.flag("countIsComplete", true)
}

func (n Native) read(o *object, name []byte, came [][]byte, shown string) {
	body := shown
	if raw := find(came, "content", "contents"); isText(raw) {
		body = rawjson.Text(raw)
	}
	lines, first := strings.Count(body, "\n")+1, 1
	for _, from := range [...][]byte{find([][]byte{find(came, "readRange")}, "startLine"), rawjson.Last(n.Input, "offset")} {
		if k, err := strconv.Atoi(string(from)); err == nil && k > 0 {
			first = k
			break
		}
	}
	total := lines
	if k, err := strconv.Atoi(string(find(came, "totalLines", "totalLinesInFile"))); err == nil && k > 0 {
		total = k
	}
	o.text("type", "text")
	file := object{}
	file.raw("filePath", name)
	file.text("content", body)
	file.num("numLines", lines)
	file.num("startLine", first)
	file.num("totalLines", total)
	o.raw("file", file.done())
}

// FromClaude is the kind of one of Claude Code's tools, "" if it has none here.
func FromClaude(name string) string {
	switch name {
	case "Bash":
		return "shell"
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
		return "edit"
	case "Agent", "Task":
		return "task"
	case "LS":
		return "ls"
	}
	if strings.HasPrefix(name, "mcp__") {
		return "mcp"
	}
	for kind, c := range counterparts() {
		if c.name == name && !strings.HasPrefix(kind, "pi") && kind != "fetch" {
			return kind
		}
	}
	return Kind(name)
}

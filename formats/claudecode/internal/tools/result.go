package tools

import (
	"strconv"
	"strings"

	"rehome/formats/internal/cursortools"
	"rehome/formats/internal/object"
	"rehome/formats/internal/toolmap"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

func appendText(dst []byte, s string) []byte { return session.AppendString(dst, s) }

// Result is the record that Claude Code draws what came of a call from; nil if
// it draws nothing but the text. shown is what the model was shown.
func (n Native) Result(value []byte, shown string, failed bool) []byte {
	if failed {
		return appendText(nil, "Error: "+rule.Truncate(shown, 4<<10))
	}
	came := [][]byte{cursortools.Case(value), value}
	o := object.New(nil)
	switch n.Name {
	case "Bash":
		ran(&o, came, shown)
	case "Read":
		file := rawjson.Last(n.Input, "file_path")
		if !rawjson.IsText(file) {
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
		o.Text("mode", "content")
		o.Num("numFiles", 0)
		o.Raw("filenames", []byte("[]"))
		o.Text("content", shown)
		o.Num("numLines", lines)
		o.Num("totalLines", lines)
	case "Glob":
		globbed(&o, came)
	case "TodoWrite":
		list := rawjson.Last(n.Input, "todos")
		if len(list) == 0 || list[0] != '[' {
			return nil // a call of that name whose arguments are other ones
		}
		o.Raw("oldTodos", []byte("[]"))
		o.Raw("newTodos", list)
	default:
		if n.back {
			return cursortools.Find(came, "structuredContent") // what it was drawn from before
		}
		return nil
	}
	return o.Done()
}

// ran is what a command printed.
func ran(o *object.Writer, came [][]byte, shown string) {
	out, err := cursortools.Find(came, "stdout", "output"), cursortools.Find(came, "stderr")
	if rawjson.IsText(out) {
		o.Raw("stdout", out)
	} else {
		o.Text("stdout", shown)
	}
	if rawjson.IsText(err) {
		o.Raw("stderr", err)
	} else {
		o.Text("stderr", "")
	}
	o.Flag("interrupted", false)
	o.Flag("isImage", false)
	o.Flag("noOutputExpected", false)
}

// globbed is the files that a pattern found.
func globbed(o *object.Writer, came [][]byte) {
	files := cursortools.Find(came, "files")
	if len(files) == 0 || files[0] != '[' {
		files = []byte("[]")
	}
	count := 0
	for range rawjson.Elements(files) {
		count++
	}
	o.Raw("filenames", files)
	o.Num("durationMs", 0)
	o.Num("numFiles", count)
	o.Flag("truncated", string(cursortools.Find(came, "clientTruncated")) == "true")
	o.Num("totalMatches", count)
	o.Flag("countIsComplete", true)
}

func (n Native) read(o *object.Writer, name []byte, came [][]byte, shown string) {
	body := shown
	if raw := cursortools.Find(came, "content", "contents"); rawjson.IsText(raw) {
		body = rawjson.Text(raw)
	}
	lines, first := strings.Count(body, "\n")+1, 1
	for _, from := range [...][]byte{cursortools.Find([][]byte{cursortools.Find(came, "readRange")}, "startLine"), rawjson.Last(n.Input, "offset")} {
		if k, err := strconv.Atoi(string(from)); err == nil && k > 0 {
			first = k
			break
		}
	}
	total := lines
	if k, err := strconv.Atoi(string(cursortools.Find(came, "totalLines", "totalLinesInFile"))); err == nil && k > 0 {
		total = k
	}
	o.Text("type", "text")
	file := object.New(nil)
	file.Raw("filePath", name)
	file.Text("content", body)
	file.Num("numLines", lines)
	file.Num("startLine", first)
	file.Num("totalLines", total)
	o.Raw("file", file.Done())
}

// FromClaude is the kind of one of Claude Code's tools, "" if it has none here.
func FromClaude(name string) string {
	if strings.HasPrefix(name, "mcp__") {
		return "mcp"
	}
	if kind := natives().kinds[name]; kind != "" {
		return kind
	}
	return toolmap.Kind(name)
}

package cursortools

import (
	"encoding/base64"
	"strings"

	"rehome/formats/internal/toolmap"
	"rehome/formats/internal/wire"
	"rehome/internal/rawjson"
)

// Edits reports whether tools of a kind change a file.
func Edits(kind string) bool { return kind == "edit" || kind == "piEdit" }

// Case returns the content of a result's one case, {"success":{…}}, or of an event of
// the SDK, {"status":"success","value":{…}}; any other value as it is.
func Case(value []byte) []byte {
	if inner := eventValue(value); inner != nil {
		return inner
	}
	for name, v := range rawjson.Members(value) {
		if len(v) == 0 || v[0] != '{' {
			continue
		}
		switch s := string(name); {
		case s == "success", s == "complete", s == "stillRunning", s == "async", toolmap.Failed(s):
			return v
		}
	}
	return value
}

// eventValue is what came of a call as an event of the SDK tells it, nil if it is
// not spelled so.
func eventValue(value []byte) []byte {
	if !rawjson.IsText(rawjson.Last(value, "status")) {
		return nil
	}
	return rawjson.Last(value, "value")
}

// Shown returns the text of a result, for a source that does not keep what the model
// was shown: the whole record if nothing in it is known to be text.
func Shown(kind string, value []byte) string {
	if len(value) == 0 || string(value) == "null" {
		return ""
	}
	if value[0] == '"' {
		return rawjson.Text(value)
	}
	if inner := eventValue(value); inner != nil {
		return event(kind, inner, rawjson.TextAt(value, "status"))
	}
	if s := spoken(kind, value); s != "" || kind == "mcp" && len(Images(value)) > 0 {
		return s
	}
	return string(value)
}

// event is the text of what an event tells. Of some kinds it tells no more than
// that they were done.
func event(kind string, value []byte, status string) string {
	if rawjson.IsText(value) || string(value) == "null" {
		return rawjson.Text(value)
	}
	if s := spoken(kind, value); s != "" || kind == "mcp" && len(Images(value)) > 0 {
		return s
	}
	none := Find([][]byte{value}, "content", "files")
	outcome, _ := toolmap.Outcome(status)
	switch done := outcome == "success"; {
	case done && Edits(kind):
		return "The file was changed."
	case done && kind == "delete":
		return "The file was deleted."
	case kind == "read" && string(none) == `""`, string(value) == "{}":
		return ""
	case kind == "glob" && string(none) == "[]":
		return "(no files)"
	}
	return string(value)
}

// silent reports whether a record of a command that succeeded has nothing but what the
// client is known to write: any other member could be the output.
func silent(success []byte) bool {
	if len(success) == 0 || success[0] != '{' {
		return false
	}
	known := wire.Messages().Message("ShellSuccess")
	for name := range rawjson.Members(success) {
		if n := string(name); known.Named(n) == nil || n == "outputHead" || n == "outputTail" {
			return false
		}
	}
	return true
}

// spoken is what in a record is told to be text, "" if nothing is.
func spoken(kind string, value []byte) string {
	came := [][]byte{Case(value), value}
	switch kind {
	case "shell", "piBash":
		out := rawjson.Text(Find(came, "stdout", "output", "interleavedOutput"))
		if err := rawjson.Text(Find(came, "stderr")); err != "" {
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
		code := Find(came, "exitCode", "exitCodeV2")
		if code == nil && silent(rawjson.Last(value, "success")) {
			code = []byte("0") // messages do not spell it
		}
		if code != nil {
			return "(no output, exit code " + string(code) + ")"
		}
	case "mcp":
		if s := parts(Find(came, "content")); s != "" {
			return s
		}
	case "task":
		if s := steps(Find(came, "conversationSteps")); s != "" {
			return s
		}
	case "edit", "piEdit":
		for _, name := range [...]string{"message", "modelVisibleError", "error", "diffString"} {
			if s := rawjson.Text(Find(came, name)); s != "" {
				return s
			}
		}
		if Find(came, "afterFullFileContent", "afterContentId") != nil {
			return "The file was changed." // what it holds now would say the change twice
		}
	case "grep":
		if s := matches(came); s != "" {
			return s
		}
	case "glob":
		if s := listed(Find(came, "files")); s != "" {
			return s
		}
	case "ls", "piLs":
		var b strings.Builder
		if tree(&b, Find(came, "directoryTreeRoot"), 0) {
			return b.String()
		}
	}
	return said(came)
}

// said is the text of the first member that tells what came of any tool.
func said(came [][]byte) string {
	for _, name := range [...]string{"content", "contents", "markdown", "output", "results", "modelVisibleError", "errorMessage", "error", "message", "reason", "transcript", "resultSuffix"} {
		if s := rawjson.Text(Find(came, name)); s != "" {
			return s
		}
	}
	return ""
}

// Images returns the images in the result of a server's tool.
func Images(value []byte) (out [][]byte) {
	list := Find([][]byte{Case(value), value}, "content")
	if len(list) == 0 || list[0] != '[' {
		return nil
	}
	for p := range rawjson.Elements(list) {
		data := rawjson.Last(p, "data")
		if in := rawjson.Last(p, "image"); in != nil {
			data = rawjson.Last(in, "data")
		} else if rawjson.TextAt(p, "type") != "image" {
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
		if s := rawjson.Text(Find([][]byte{rawjson.Last(p, "text"), p}, "text")); s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n")
}

func steps(list []byte) string {
	var out []string
	for p := range rawjson.Elements(list) {
		if s := rawjson.TextAt(p, "assistantMessage", "text"); s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n\n")
}

// matches spells what a search found as grep does. The client's own record names
// the form of it, {"content":{…}}, an event says it, {"type":"content","output":{…}}.
func matches(came [][]byte) string {
	var out []string
	for _, found := range rawjson.Members(Find(came, "workspaceResults")) {
		form := func(name string) []byte {
			if rawjson.TextAt(found, "type") == name {
				return rawjson.Last(found, "output")
			}
			return rawjson.Last(found, name)
		}
		for f := range rawjson.Elements(rawjson.Last(form("content"), "matches")) {
			file, before := rawjson.TextAt(f, "file"), len(out)
			for m := range rawjson.Elements(rawjson.Last(f, "matches")) {
				mark := ":"
				if string(rawjson.Last(m, "isContextLine")) == "true" {
					mark = "-"
				}
				out = append(out, file+mark+string(rawjson.Last(m, "lineNumber"))+mark+rawjson.TextAt(m, "content"))
			}
			if len(out) == before {
				out = append(out, file) // an event can leave the lines out
			}
		}
		for f := range rawjson.Elements(rawjson.Last(form("files"), "files")) {
			out = append(out, rawjson.Text(f))
		}
		for f := range rawjson.Elements(rawjson.Last(form("count"), "counts")) {
			out = append(out, rawjson.TextAt(f, "file")+":"+string(rawjson.Last(f, "count")))
		}
	}
	return strings.Join(out, "\n")
}

// deepest bounds how deep a folder is listed: each level is read once more for
// the one above it.
const deepest = 32

// tree lists a folder, what is in it indented below its name; false if it is no
// folder, or goes too deep.
func tree(b *strings.Builder, folder []byte, depth int) bool {
	name := rawjson.TextAt(folder, "absPath")
	if name == "" || depth > deepest {
		return false
	}
	indent := "\n" + strings.Repeat("  ", depth+1)
	if depth > 0 {
		name = name[strings.LastIndexAny(name, `/\`)+1:]
	}
	b.WriteString(name + "/")
	for in := range rawjson.Elements(rawjson.Last(folder, "childrenDirs")) {
		b.WriteString(indent)
		if !tree(b, in, depth+1) {
			return false
		}
	}
	for f := range rawjson.Elements(rawjson.Last(folder, "childrenFiles")) {
		b.WriteString(indent + rawjson.TextAt(f, "name"))
	}
	return true
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

// Find is the first member of any of the names that is there.
func Find(docs [][]byte, names ...string) []byte {
	for _, doc := range docs {
		if len(doc) == 0 || doc[0] != '{' {
			continue
		}
		for _, name := range names {
			if v := rawjson.Last(doc, name); v != nil && string(v) != "null" {
				return v
			}
		}
	}
	return nil
}

package cursortools

import (
	"strconv"
	"strings"

	"rehome/formats/internal/object"
	"rehome/formats/internal/toolmap"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// mode returns what a search was to list, in Cursor's words, which are Claude Code's, too.
func (s *speller) mode() []byte {
	if raw := get([]doc{s.input, s.args}, toolmap.ArgumentNames("grep", "outputMode")...); rawjson.IsText(raw) {
		return raw
	}
	return get(s.values, "mode")
}

// found returns what a search found in files, under the folder that was searched.
func (s *speller) found(raw []byte) []byte {
	if len(raw) > 0 && raw[0] == '{' {
		return union(raw)
	}
	text := rawjson.Text(get(s.values, "content"))
	files := get(s.values, "filenames")
	if text == "" {
		text = s.shown()
	}
	path := rawjson.Text(s.named("path"))
	o := object.New(nil)
	writeName(&o, path)
	union := object.New(o.B)
	switch rawjson.Text(s.mode()) {
	case "count":
		union.Name("count")
		union.B = counts(union.B, text)
	case "content":
		union.Name("content")
		union.B = matched(union.B, text, path)
	default:
		union.Name("files")
		union.B = named(union.B, files, text)
	}
	o.B = union.Done()
	return o.Done()
}

// union returns what a search found in folders. Events of the SDK have its form as a
// value, {"type":"content","output":{…}}, Cursor's messages as a name, {"content":{…}}.
func union(folders []byte) []byte {
	o := object.New(nil)
	for folder, found := range rawjson.Members(folders) {
		writeName(&o, string(folder))
		d := parse(found)
		form := rawjson.Text(d.get("type"))
		if output := d.get("output"); output != nil && form != "" {
			in := object.New(o.B)
			writeName(&in, form)
			in.B = append(in.B, output...)
			o.B = in.Done()
			continue
		}
		o.B = append(o.B, found...)
	}
	return o.Done()
}

// named appends the files that have a match.
func named(dst, files []byte, text string) []byte {
	o := object.New(dst)
	n := 0
	o.Name("files")
	o.B = append(o.B, '[')
	add := func(file string) {
		if n++; n > 1 {
			o.B = append(o.B, ',')
		}
		o.B = append(o.B, session.AppendString(nil, file)...)
	}
	for e := range rawjson.Elements(files) {
		add(rawjson.Text(e))
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if len(files) <= 2 && line != "" && !strings.HasPrefix(line, "Found ") && line != "No files found" {
			add(line)
		}
	}
	o.B = append(o.B, ']')
	if n > 0 {
		o.Num("totalFiles", n)
	}
	return o.Done()
}

// counts appends how many matches files have: file:3.
func counts(dst []byte, text string) []byte {
	o := object.New(dst)
	files, matches := 0, 0
	o.Name("counts")
	o.B = append(o.B, '[')
	for line := range strings.Lines(text) {
		i := strings.LastIndexByte(line, ':')
		n, err := strconv.ParseInt(strings.TrimSpace(line[i+1:]), 10, 32)
		if i <= 0 || err != nil || n < 0 {
			continue
		}
		if files++; files > 1 {
			o.B = append(o.B, ',')
		}
		one := object.New(o.B)
		one.Text("file", line[:i])
		if n > 0 {
			one.Num("count", int(n))
		}
		o.B = one.Done()
		matches = min(matches+int(n), 1<<31-1)
	}
	o.B = append(o.B, ']')
	if files > 0 {
		o.Num("totalFiles", files)
	}
	if matches > 0 {
		o.Num("totalMatches", matches)
	}
	return o.Done()
}

// matched appends lines that match, with their files: file:7:text, file-8-text for one
// around a match, 7:text in a single file.
func matched(dst []byte, text, path string) []byte {
	o := object.New(dst)
	o.Name("matches")
	o.B = append(o.B, '[')
	lines, matches, last := 0, 0, "\x00"
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || line == "--" {
			continue
		}
		file, n, content, near := matchLine(line)
		if file == "" {
			file = path
		}
		if file != last {
			if last != "\x00" {
				o.B = append(o.B, "]},"...)
			}
			o.B = append(append(append(o.B, `{"file":`...), session.AppendString(nil, file)...), `,"matches":[`...)
			last = file
		} else {
			o.B = append(o.B, ',')
		}
		one := object.New(o.B)
		if n > 0 {
			one.Num("lineNumber", n)
		}
		one.NonEmpty("content", content)
		if near {
			one.Flag("isContextLine", true)
		} else {
			matches++
		}
		o.B = one.Done()
		lines++
	}
	if lines > 0 {
		o.B = append(o.B, "]}"...)
	}
	o.B = append(o.B, ']')
	if lines > 0 {
		o.Num("totalLines", lines)
	}
	if matches > 0 {
		o.Num("totalMatchedLines", matches)
	}
	return o.Done()
}

// matchLine splits a line of a search's output. One that cannot be split is content.
func matchLine(line string) (file string, n int, content string, near bool) {
	for _, mark := range [...]string{":", "-"} {
		for from := 0; ; {
			i := strings.Index(line[from:], mark)
			if i < 0 || from > 4096 {
				break
			}
			i += from
			digits := len(line[i+1:]) - len(strings.TrimLeft(line[i+1:], "0123456789"))
			if end := i + 1 + digits; digits > 0 && digits < 10 && end < len(line) && line[end] == mark[0] {
				n, _ = strconv.Atoi(line[i+1 : end])
				return line[:i], n, line[end+1:], mark == "-"
			}
			from = i + 1
		}
		if head, rest, ok := strings.Cut(line, mark); ok && len(head) < 10 {
			if n, err := strconv.Atoi(head); err == nil && n > 0 {
				return "", n, rest, mark == "-"
			}
		}
	}
	if file, content, ok := strings.Cut(line, ":"); ok && file != "" && !strings.ContainsAny(file, " \t") {
		return file, 0, content, false
	}
	return "", 0, line, false
}

// folder returns a listed folder as a tree. Lines are indented below their folders, whose
// names end in a slash.
func (s *speller) folder(raw []byte) []byte {
	if len(raw) > 0 && raw[0] == '{' {
		return raw
	}
	path := rawjson.Text(s.named("path"))
	root := &folderNode{name: path}
	stack, indents := []*folderNode{root}, []int{-1}
	for line := range strings.Lines(s.shown()) {
		entry := strings.TrimLeft(strings.TrimRight(line, "\r\n"), " ")
		indent := len(line) - len(strings.TrimLeft(line, " "))
		entry = strings.TrimPrefix(entry, "- ")
		if entry == "" || indent == 0 && strings.TrimRight(entry, "/") == strings.TrimRight(path, "/") {
			continue
		}
		for len(indents) > 1 && indents[len(indents)-1] >= indent {
			stack, indents = stack[:len(stack)-1], indents[:len(indents)-1]
		}
		in := stack[len(stack)-1]
		if dir, ok := strings.CutSuffix(entry, "/"); ok && len(stack) < deepest {
			child := &folderNode{name: strings.TrimRight(in.name, "/") + "/" + dir}
			in.folders = append(in.folders, child)
			stack, indents = append(stack, child), append(indents, indent)
		} else {
			in.files = append(in.files, entry)
		}
	}
	return root.append(nil)
}

// folderNode is a folder of a tree.
type folderNode struct {
	name    string
	folders []*folderNode
	files   []string
}

func (n *folderNode) append(dst []byte) []byte {
	o := object.New(dst)
	o.NonEmpty("absPath", n.name)
	for i, f := range n.folders {
		if i == 0 {
			o.Name("childrenDirs")
			o.B = append(o.B, '[')
		} else {
			o.B = append(o.B, ',')
		}
		o.B = f.append(o.B)
		if i == len(n.folders)-1 {
			o.B = append(o.B, ']')
		}
	}
	for i, f := range n.files {
		if i == 0 {
			o.Name("childrenFiles")
			o.B = append(o.B, '[')
		} else {
			o.B = append(o.B, ',')
		}
		one := object.New(o.B)
		one.NonEmpty("name", f)
		o.B = one.Done()
		if i == len(n.files)-1 {
			o.B = append(o.B, ']')
		}
	}
	o.Flag("childrenWereProcessed", true)
	if len(n.files) > 0 {
		o.Num("numFiles", len(n.files))
	}
	return o.Done()
}

package tools

import (
	"slices"
	"strconv"
	"strings"

	"rehome/formats/internal/cursortools"
	"rehome/formats/internal/object"
	"rehome/internal/rawjson"
	"rehome/internal/udiff"
)

// edit is what is known of a change to a file.
type edit struct {
	path         string
	older, newer string
	all          bool   // every place of it
	every        []byte // the argument that says so
	before       *string
	after        *string
	hunks        []udiff.Hunk
	write        bool
}

// Waits reports whether what came of a call has to be known before it can be
// translated: the client's own spelling of an edit does not say what it took
// out.
func Waits(kind string, input, args []byte) bool {
	if !cursortools.Edits(kind) {
		return false
	}
	docs := [][]byte{input, args}
	_, _, ok := replaced(docs)
	return !ok && !rawjson.IsText(cursortools.Find(docs, "contents", "content", "file_text"))
}

// replaced is the text that the model said to take out, and what to put there.
func replaced(docs [][]byte) (older, newer string, ok bool) {
	a, b := cursortools.Find(docs, "old_string", "oldString", "old_str"), cursortools.Find(docs, "new_string", "newString", "new_str")
	if rawjson.IsText(a) && rawjson.IsText(b) && len(a) > 2 {
		return rawjson.Text(a), rawjson.Text(b), true
	}
	if list := cursortools.Find(docs, "edits"); len(list) > 0 && list[0] == '[' {
		n := 0
		for e := range rawjson.Elements(list) {
			if n++; n > 1 {
				return "", "", false
			}
			a, b := sides(e)
			older, newer, ok = rawjson.Text(a), rawjson.Text(b), rawjson.IsText(a) && rawjson.IsText(b) && len(a) > 2
		}
		return older, newer, ok
	}
	return "", "", false
}

// claudeEdit is an Edit or a Write, from what the model said or else from what
// came of it.
func claudeEdit(g *given, value []byte) (n Native, ok bool) {
	docs := g.docs
	named := g.text("path", "file_path", "target_file", "filePath", "relativeWorkspacePath")
	e := &edit{path: named}
	came := [][]byte{cursortools.Case(value), value}
	if e.path == "" {
		e.path = rawjson.Text(cursortools.Find(came, "path", "file_path"))
	}
	e.contents(came)
	path, lines, patch := patched(docs)
	if patch && !e.records(path, lines) || !e.follow(docs) {
		e.before, e.after, e.hunks, e.path = nil, nil, nil, named // the call stays as the model wrote it
	}
	if e.path == "" {
		e.path = path
	}
	if patch && len(e.hunks) == 0 {
		e.hunks = []udiff.Hunk{lines}
	}
	if e.path == "" {
		return Native{}, false
	}
	defer func() { n.Left = e.said(g) }()
	if e.older, e.newer, ok = replaced(docs); ok {
		all := []string{"replace_all", "replaceAll"}
		raw := g.find(all...)
		if e.all = string(raw) == "true"; e.all || string(raw) == "false" {
			e.every = raw
			g.use(raw, all...)
		}
		return e.edited(true), true
	}
	if body := cursortools.Find(docs, "contents", "content", "file_text"); rawjson.IsText(body) {
		s := rawjson.Text(body)
		if e.after == nil {
			e.after = &s
		}
		e.write, e.newer = true, s
		return e.written(true), true
	}
	return e.told(docs)
}

// changes are the names of arguments that say how a file changes.
var changes = [...]string{"old_string", "oldString", "old_str", "new_string", "newString", "new_str", "contents", "content", "file_text", "edits",
	"patch", "patchContent", "patch_content", "input", "streamContent", "contentsAfterEdit", "code_edit", "codeEdit"}

// said marks the arguments whose texts are in the new call. It names a patch that has more.
func (e *edit) said(g *given) (left []string) {
	doc, _ := g.said()
	if rawjson.IsText(doc) && !e.has(doc) {
		left = []string{"patch"}
	}
	for _, m := range g.rest() {
		if slices.Contains(changes[:], m.name) && e.has(m.value) {
			g.used = append(g.used, m)
		}
	}
	return left
}

// has reports whether a value has texts only, and each of them is in the new call.
func (e *edit) has(raw []byte) bool {
	var t rawjson.Tokens
	for t.Reset(raw); t.Next(); {
		switch t.Kind {
		case rawjson.Number, rawjson.Word:
			return false
		case rawjson.String:
			if text := rawjson.Text(raw[t.From:t.To]); !e.within(text) && !e.follows(text) {
				return false
			}
		}
	}
	return t.Bad == ""
}

func (e *edit) within(text string) bool {
	return strings.Contains(e.older, text) || strings.Contains(e.newer, text) || strings.Contains(e.path, text)
}

// follows reports whether the new call has each line of a patch.
func (e *edit) follows(text string) bool {
	if !strings.HasPrefix(text, "*** Begin Patch") {
		return false
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		head, stars := strings.CutPrefix(line, "*** ")
		switch _, path, _ := strings.Cut(head, ": "); {
		case stars && e.within(path), line == "@@", line == "":
		case stars || strings.HasPrefix(line, "@@") || !e.within(line[1:]):
			return false
		}
	}
	return true
}

// told is a change from what came of it alone.
func (e *edit) told(docs [][]byte) (Native, bool) {
	if raw := cursortools.Find(docs, "contentsAfterEdit"); e.after == nil && rawjson.IsText(raw) {
		s := rawjson.Text(raw)
		e.after = &s
	}
	older, newer := udiff.Sides(e.hunks)
	known := e.before != nil && e.after != nil
	switch {
	case known && *e.before != "" && *e.before != *e.after:
		e.older, e.newer = udiff.Region(*e.before, *e.after)
		return e.edited(false), true
	case !known && older != "": // the change says more than the whole file would
		e.older, e.newer = older, newer
		return e.edited(false), true
	case e.after != nil && (e.before == nil || *e.before == ""):
		e.write, e.newer = true, *e.after
		return e.written(false), true
	case older != "":
		e.older, e.newer = older, newer
		return e.edited(false), true
	case len(e.hunks) > 0:
		e.write, e.newer = true, newer
		return e.written(false), true
	}
	var ok bool
	if e.older, e.newer, ok = several(docs); ok {
		return e.edited(false), true
	}
	return Native{}, false
}

// contents takes what the client kept of a file.
func (e *edit) contents(came [][]byte) {
	if raw := cursortools.Find(came, "beforeFullFileContent", "beforeContent"); rawjson.IsText(raw) {
		s := rawjson.Text(raw)
		e.before = &s
	}
	if raw := cursortools.Find(came, "afterFullFileContent", "afterContent", "contentsAfterEdit"); rawjson.IsText(raw) {
		s := rawjson.Text(raw)
		e.after = &s
	}
	if raw := cursortools.Find(came, "diffString", "patch"); rawjson.IsText(raw) {
		e.hunks = udiff.Parse(rawjson.Text(raw))
	}
	if diff := cursortools.Find(came, "diff"); len(e.hunks) == 0 && rawjson.IsText(diff) {
		e.hunks = udiff.Parse(rawjson.Text(diff))
	} else if len(e.hunks) == 0 {
		for c := range rawjson.Elements(rawjson.Last(diff, "chunks")) {
			start, _ := strconv.Atoi(string(rawjson.Last(c, "oldStart")))
			fresh, _ := strconv.Atoi(string(rawjson.Last(c, "newStart")))
			if h := udiff.Chunk(rawjson.TextAt(c, "diffString"), start, fresh); len(h.Lines) > 0 {
				e.hunks = append(e.hunks, h)
			}
		}
	}
}

func (e *edit) edited(exact bool) Native {
	o := object.New(nil)
	o.Text("file_path", e.path)
	o.Text("old_string", e.older)
	o.Text("new_string", e.newer)
	if e.every != nil {
		o.Raw("replace_all", e.every)
	}
	return Native{Name: "Edit", Input: o.Done(), Exact: exact, edit: e}
}

func (e *edit) written(exact bool) Native {
	o := object.New(nil)
	o.Text("file_path", e.path)
	o.Text("content", e.newer)
	return Native{Name: "Write", Input: o.Done(), Exact: exact, edit: e}
}

// mostOriginal is how much of a file is kept beside a change to it.
const mostOriginal = 256 << 10

// result is the record that Claude Code draws an edit from.
func (e *edit) result() []byte {
	o := object.New(nil)
	before := e.before
	if before != nil && len(*before) > mostOriginal {
		before = nil
	}
	original := func() {
		if before == nil {
			o.Raw("originalFile", []byte("null"))
		} else {
			o.Text("originalFile", *before)
		}
	}
	if e.write {
		update := e.before != nil && *e.before != ""
		kind := "create"
		if update {
			kind = "update"
		}
		o.Text("type", kind)
		o.Text("filePath", e.path)
		o.Text("content", e.newer)
		if !update {
			e.hunks, before = nil, nil
		}
		e.patch(&o)
		original()
		o.Flag("userModified", false)
		return o.Done()
	}
	o.Text("filePath", e.path)
	o.Text("oldString", e.older)
	o.Text("newString", e.newer)
	original()
	e.patch(&o)
	o.Flag("userModified", false)
	o.Flag("replaceAll", e.all)
	return o.Done()
}

func (e *edit) patch(o *object.Writer) {
	list := e.hunks
	switch {
	case e.write && (e.before == nil || *e.before == ""):
		list = nil
	case e.before != nil && e.after != nil:
		list = udiff.Between(*e.before, *e.after)
	case len(list) == 0:
		list = udiff.Between(e.older, e.newer)
	}
	object.List(o, "structuredPatch", list, func(one *object.Writer, h udiff.Hunk) {
		one.Num("oldStart", h.OldStart)
		one.Num("oldLines", h.OldLines)
		one.Num("newStart", h.NewStart)
		one.Num("newLines", h.NewLines)
		one.Texts("lines", h.Lines)
	})
}

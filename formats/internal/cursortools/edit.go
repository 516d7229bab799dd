package cursortools

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"rehome/formats/internal/object"
	"rehome/formats/session"
	"rehome/internal/rawjson"
	"rehome/internal/udiff"
)

// change is what is known of a change to a file.
type change struct {
	file          []byte // JSON
	before, after *string
	hunks         []udiff.Hunk
}

// edited returns what the call changed.
func (s *speller) edited() *change {
	if s.change != nil {
		return s.change
	}
	c := &change{}
	s.change = c
	if s.result != nil && !s.result.Error {
		c.recorded(s)
	}
	docs, given := []doc{s.input, s.args}, len(c.hunks) > 0
	older, newer := get(docs, oldNames...), get(docs, newNames...)
	switch written := get(docs, contentNames...); {
	case rawjson.IsText(older):
		if c.replace(older, newer, string(get(docs, "replace_all", "replaceAll")) == "true"); len(c.hunks) == 0 {
			c.hunks = udiff.Between(rawjson.Text(older), rawjson.Text(newer))
		}
	case rawjson.IsText(written) && c.after == nil:
		c.after = textOf(written)
	}
	for e := range rawjson.Elements(get(docs, "edits")) {
		if d := parse(e); !given {
			c.hunks = append(c.hunks, udiff.Between(rawjson.Text(d.get("old_string", "oldText")), rawjson.Text(d.get("new_string", "newText")))...)
		}
	}
	patch := get(docs, "patch", "patchContent", "patch_content", "input")
	if rawjson.IsText(s.call.Input) {
		patch = s.call.Input
	}
	if rawjson.IsText(patch) && (len(c.hunks) == 0 || c.file == nil) {
		c.patched(Patches(rawjson.Text(patch)))
	}
	return c
}

func textOf(raw []byte) *string {
	if !rawjson.IsText(raw) {
		return nil
	}
	text := rawjson.Text(raw)
	return &text
}

// recorded takes what the client kept of the change.
func (c *change) recorded(s *speller) {
	v := s.values
	c.before = textOf(get(v, "beforeFullFileContent", "originalFile", "contentsBeforeEdit", "beforeContent"))
	c.after = textOf(get(v, "afterFullFileContent", "contentsAfterEdit", "afterContent", "content"))
	if rawjson.Text(get(v, "type")) == "create" {
		c.before = new(string)
	}
	if s.result.FileChange != nil {
		before, after := s.result.FileChange()
		c.before, c.after = body(before, c.before), body(after, c.after)
	}
	if older := get(v, "oldString"); older != nil && c.after == nil {
		c.replace(older, get(v, "newString"), string(get(v, "replaceAll")) == "true")
	}
	for e := range rawjson.Elements(get(v, "structuredPatch")) {
		c.hunks = append(c.hunks, hunk(parse(e)))
	}
	diff := get(v, "diffString", "patch", "diff")
	if len(c.hunks) == 0 && rawjson.IsText(diff) {
		c.hunks = udiff.Parse(rawjson.Text(diff))
	}
	for e := range rawjson.Elements(rawjson.Last(diff, "chunks")) {
		d := parse(e)
		if h := udiff.Chunk(rawjson.Text(d.get("diffString")), number(d.get("oldStart")), number(d.get("newStart"))); len(h.Lines) > 0 {
			c.hunks = append(c.hunks, h)
		}
	}
	for _, file := range rawjson.Members(get(v, "changes")) {
		c.hunks = append(c.hunks, udiff.Parse(rawjson.TextAt(file, "unified_diff"))...)
	}
}

// body returns the content of a file, or what else is known of it.
func body(b *session.Body, other *string) *string {
	if b == nil || !utf8.Valid(b.Bytes) {
		return other
	}
	text := string(b.Bytes)
	return &text
}

// replace makes the content after an edit from that before it, unless it would be too long
// to be kept.
func (c *change) replace(older, newer []byte, all bool) {
	if c.before == nil || c.after != nil {
		return
	}
	from, to := rawjson.Text(older), rawjson.Text(newer)
	n := strings.Count(*c.before, from)
	if !all {
		n = min(n, 1)
	}
	if n == 0 || len(*c.before)+n*(len(to)-len(from)) > maxFile {
		return
	}
	after := strings.Replace(*c.before, from, to, n)
	c.after = &after
}

// hunk reads one of Claude Code's.
func hunk(d doc) udiff.Hunk {
	h := udiff.Hunk{OldStart: number(d.get("oldStart")), OldLines: number(d.get("oldLines")), NewStart: number(d.get("newStart")), NewLines: number(d.get("newLines"))}
	for e := range rawjson.Elements(d.get("lines")) {
		if line := rawjson.Text(e); line != "" {
			h.Lines = append(h.Lines, line)
		}
	}
	return h
}

func number(raw []byte) int {
	n, _ := strconv.Atoi(string(raw))
	return n
}

// patched takes the change from a patch.
func (c *change) patched(files []FilePatch) {
	for _, f := range files {
		if c.file == nil {
			c.file = session.AppendString(nil, f.Path)
		}
		if len(f.Hunk.Lines) > 0 {
			c.hunks = append(c.hunks, f.Hunk)
		}
	}
}

// path returns the file that the model named, or else the one that was changed.
func (c *change) path(asked []byte) []byte {
	if asked == nil {
		return c.file
	}
	return asked
}

// maxFile is the largest file whose content before and after a change is kept with it. The
// change itself is always kept.
const maxFile = 1 << 20

// success appends the result of an edit.
func (c *change) success(dst []byte, s *speller) []byte {
	if len(c.hunks) == 0 && c.before != nil && c.after != nil {
		c.hunks = udiff.Between(*c.before, *c.after)
	}
	if len(c.hunks) == 0 && c.after != nil && c.before == nil {
		c.hunks = udiff.Between("", *c.after)
	}
	path := c.path(s.named("path"))
	o := object.New(dst)
	if len(path) > 0 {
		o.Raw("path", path)
	}
	if len(c.hunks) > 0 {
		c.diff(&o, rawjson.Text(path))
	}
	if c.before != nil && len(*c.before) <= maxFile {
		o.Text("beforeFullFileContent", *c.before)
	}
	if c.after != nil && *c.after != "" && len(*c.after) <= maxFile {
		o.Text("afterFullFileContent", *c.after)
	}
	if message := get(s.values, "message"); rawjson.IsText(message) {
		o.Raw("message", message)
	}
	return o.Done()
}

// diff writes how many lines changed, and which.
func (c *change) diff(o *object.Writer, path string) {
	var text strings.Builder
	from := "a/" + path
	if c.before != nil && *c.before == "" {
		from = "/dev/null"
	}
	text.WriteString("--- " + from + "\n+++ b/" + path)
	added, removed := 0, 0
	for _, h := range c.hunks {
		text.WriteString("\n" + h.Header())
		for _, line := range h.Lines {
			text.WriteString("\n" + line)
			switch line[0] {
			case '+':
				added++
			case '-':
				removed++
			}
		}
	}
	o.Num("linesAdded", added)
	o.Num("linesRemoved", removed)
	o.Text("diffString", text.String())
}

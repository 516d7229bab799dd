// Package lexical finds the plain text of what a rich text editor keeps: the
// JSON of Lexical, {"root":{"children":[{"type":"text","text":"…"}]}}, and of
// ProseMirror, {"type":"doc","content":[…]}. Formatting is not looked at.
package lexical

import (
	"bytes"

	"rehome/internal/rawjson"
)

// maxDepth is how many nodes may lie inside one another. Editors stay below
// 20; what lies deeper is left out.
const maxDepth = 100

// Text is the plain text of a document. What is no JSON of either editor is
// its own text, as some versions kept it; ok is false for an object of another
// kind.
func Text(doc string) (text string, ok bool) {
	b := []byte(doc)
	if trimmed := bytes.TrimLeft(b, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return doc, true
	}
	b, _, err := rawjson.Line(b)
	if err != nil {
		return doc, true
	}
	root := rawjson.Last(b, "root")
	if root == nil {
		root = b
	}
	if rawjson.Last(root, "children") == nil && rawjson.Last(root, "content") == nil {
		return "", false
	}
	var w writer
	w.node(root, 0)
	if w.block > 0 && w.block == len(w.out) {
		w.out = w.out[:w.block-1]
	}
	return string(w.out), true
}

// writer collects text. block is where the line end of the last block ends,
// which sets it apart from the next one.
type writer struct {
	out   []byte
	block int
}

// node writes a node: its own text, or its children, and a line end behind
// those that are blocks.
func (w *writer) node(b []byte, depth int) {
	if depth > maxDepth {
		return
	}
	var kind, text string
	var children, attrs []byte
	for name, value := range rawjson.Members(b) {
		switch string(name) {
		case "type":
			kind = rawjson.Text(value)
		case "text":
			text = rawjson.Text(value)
		case "children", "content":
			children = value
		case "attrs":
			attrs = value
		case "mentionName":
			if text == "" {
				text = rawjson.Text(value)
			}
		}
	}
	switch kind {
	case "linebreak", "hardBreak", "hard_break":
		w.out = append(w.out, '\n')
		return
	case "tab":
		w.out = append(w.out, '\t')
		return
	}
	if text == "" && children == nil && kind != "doc" { // a mention says its name among its attributes
		text = first(attrs, "label", "name", "text", "id")
	}
	w.out = append(w.out, text...)
	for child := range rawjson.Elements(children) {
		w.node(child, depth+1)
	}
	switch kind {
	case "paragraph", "heading", "quote", "blockquote", "code", "code_block", "codeBlock", "listitem", "list_item", "listItem":
		if n := len(w.out); kind == "paragraph" || n > 0 && w.out[n-1] != '\n' {
			w.out = append(w.out, '\n')
			w.block = len(w.out)
		}
	}
}

func first(object []byte, names ...string) string {
	for _, n := range names {
		if text := rawjson.TextAt(object, n); text != "" {
			return text
		}
	}
	return ""
}

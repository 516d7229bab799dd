// Package markdown renders foreign Markdown as HTML. It is the only user of the Markdown
// library, and only of its parser: what the parser found is written here, element by
// element, so that no HTML in the text is anything but text.
package markdown

import (
	"html"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"rehome/cmd/internal/page/code"
	"rehome/cmd/internal/page/markup"
	"rehome/cmd/internal/screen"
)

const (
	maxDepth = 24       // of elements; deeper text loses its form
	maxText  = 32 << 10 // longer text is not parsed
)

// Render returns Markdown as HTML. Its headings begin at a level, and none is more than one
// below the one before it.
func Render(foreign string, level int) markup.HTML {
	src := []byte(screen.Lines(foreign))
	if intricate(src) {
		return `<pre class="text" dir="auto">` + markup.Text(string(src)) + `</pre>`
	}
	r := &renderer{src: src, level: level, last: level - 1}
	return r.inner(newParser().Parse(text.NewReader(src)), 0)
}

// newParser returns a parser of everything but HTML and definitions of links, which
// would not be displayed.
func newParser() parser.Parser {
	without := func(list []util.PrioritizedValue, not any) []util.PrioritizedValue {
		return slices.DeleteFunc(list, func(v util.PrioritizedValue) bool { return v.Value == not })
	}
	p := parser.NewParser(
		parser.WithBlockParsers(without(parser.DefaultBlockParsers(), parser.NewHTMLBlockParser())...),
		parser.WithInlineParsers(without(parser.DefaultInlineParsers(), parser.NewRawHTMLParser())...),
	)
	p.AddOptions(
		parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
		parser.WithInlineParsers(util.Prioritized(extension.NewStrikethroughParser(), 500), util.Prioritized(extension.NewTaskCheckBoxParser(), 0), util.Prioritized(extension.NewLinkifyParser(), 999)),
	)
	return p
}

type renderer struct {
	src   []byte
	level int // of the first headings
	last  int // level of the last heading
}

// inner returns what is in a node.
func (r *renderer) inner(n ast.Node, depth int) markup.HTML {
	var out markup.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		out.Add(r.node(c, depth+1))
	}
	return out.HTML()
}

// node returns a node as markup. Of one that is too deep, or that is not known here, it is what
// is in it.
func (r *renderer) node(n ast.Node, depth int) markup.HTML {
	open, end := plain(n.Kind())
	switch t := n.(type) {
	case *ast.Heading:
		r.last = min(6, r.level+t.Level-1, r.last+1)
		h := markup.Int(r.last)
		open, end = "<h"+h+` dir="auto">`, "</h"+h+">\n"
	case *ast.List:
		open, end = "<ul>\n", "</ul>\n"
		if t.IsOrdered() {
			open, end = `<ol start="`+markup.Int(t.Start)+"\">\n", "</ol>\n"
		}
	case *ast.Emphasis:
		open, end = "<em>", "</em>"
		if t.Level == 2 {
			open, end = "<strong>", "</strong>"
		}
	case *extast.TableCell:
		name := markup.HTML("td")
		if _, head := t.Parent().(*extast.TableHeader); head {
			name = "th"
		}
		class := map[extast.Alignment]markup.HTML{extast.AlignRight: ` class="right"`, extast.AlignCenter: ` class="center"`}[t.Alignment]
		open, end = "<"+name+class+` dir="auto">`, "</"+name+">"
	case *ast.CodeBlock, *ast.FencedCodeBlock, *ast.CodeSpan, *ast.Text, *ast.AutoLink, *extast.TaskCheckBox:
		return r.leaf(n)
	case *ast.Link:
		return markup.Link(unescape(t.Destination), unescape(t.Title), r.inner(n, depth))
	case *ast.Image: // never loaded: it would tell somebody that the page was opened
		return markup.Link(unescape(t.Destination), unescape(t.Title), "image: "+r.inner(n, depth))
	}
	if depth > maxDepth && open != "" {
		open, end = "", " "
	}
	return open + r.inner(n, depth) + end
}

// plain returns the elements of nodes that have no properties.
func plain(kind ast.NodeKind) (open, end markup.HTML) {
	switch kind {
	case ast.KindParagraph:
		return `<p dir="auto">`, "</p>\n"
	case ast.KindBlockquote:
		return "<blockquote>\n", "</blockquote>\n"
	case ast.KindListItem:
		return `<li dir="auto">`, "</li>\n"
	case ast.KindThematicBreak:
		return "<hr>\n", ""
	case extast.KindStrikethrough:
		return "<s>", "</s>"
	case extast.KindTable:
		return `<div class="wide" role="region" aria-label="Table" tabindex="0"><table>` + "\n", "</table></div>\n"
	case extast.KindTableHeader:
		return "<thead><tr>", "</tr></thead>\n"
	case extast.KindTableRow:
		return "<tr>", "</tr>\n"
	}
	return "", ""
}

// leaf returns a node without others.
func (r *renderer) leaf(n ast.Node) markup.HTML {
	switch t := n.(type) {
	case *ast.FencedCodeBlock:
		info := ""
		if t.Info != nil {
			info = unescape(t.Info.Segment.Value(r.src))
		}
		lang := info[:strings.IndexAny(info+" ", " \t,{")]
		if info != "" {
			return `<p class="lang" dir="auto">` + markup.Text(info) + "</p>\n" + r.code(lang, n)
		}
		return r.code(lang, n)
	case *ast.CodeBlock:
		return r.code("", n)
	case *ast.CodeSpan:
		var words []byte
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if part, ok := c.(*ast.Text); ok {
				words = append(words, part.Segment.Value(r.src)...)
			}
		}
		return "<code>" + markup.Text(string(words)) + "</code>"
	case *ast.Text:
		words := markup.Text(unescape(t.Segment.Value(r.src)))
		switch {
		case t.HardLineBreak():
			words += "<br>\n"
		case t.SoftLineBreak():
			words += "\n"
		}
		return words
	case *ast.AutoLink:
		to := string(t.URL(r.src))
		if t.AutoLinkType == ast.AutoLinkEmail {
			to = "mailto:" + to
		}
		return markup.Link(to, "", markup.Text(string(t.Label(r.src))))
	case *extast.TaskCheckBox:
		if t.IsChecked {
			return "☑ "
		}
		return "☐ "
	}
	return ""
}

func (r *renderer) code(lang string, n ast.Node) markup.HTML {
	return `<pre class="code"><code>` + code.Mark(lang, string(n.Lines().Value(r.src))) + "</code></pre>\n"
}

// escape matches what stands for another character in Markdown: \* or &amp;.
var escape = regexp.MustCompile("\\\\[!-/:-@\\[-`{-~]|&#?[0-9A-Za-z]{1,38};")

// unescape returns text without escapes.
func unescape(b []byte) string {
	return escape.ReplaceAllStringFunc(string(b), func(s string) string { return html.UnescapeString(strings.TrimPrefix(s, `\`)) })
}

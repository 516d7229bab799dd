// Package markdown renders foreign Markdown as HTML. It is the only user of the Markdown
// library, and only of its parser: what the parser found is written here, element by
// element, so that no HTML in the text is anything but text.
package markdown

import (
	"slices"

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
	r.children(newParser().Parse(text.NewReader(src)), 0)
	return r.out.HTML()
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
	out   markup.Builder
}

func (r *renderer) children(n ast.Node, depth int) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		r.node(c, depth+1)
	}
}

// element writes a node as an element around its children.
func (r *renderer) element(n ast.Node, depth int, open, end markup.HTML) {
	if depth > maxDepth {
		open, end = "", " "
	}
	r.out.Add(open)
	r.children(n, depth)
	r.out.Add(end)
}

func (r *renderer) node(n ast.Node, depth int) {
	switch t := n.(type) {
	case *ast.Heading:
		r.last = min(6, r.level+t.Level-1, r.last+1)
		h := markup.Int(r.last)
		r.element(n, depth, "<h"+h+` dir="auto">`, "</h"+h+">\n")
	case *ast.Paragraph:
		r.element(n, depth, `<p dir="auto">`, "</p>\n")
	case *ast.Blockquote:
		r.element(n, depth, "<blockquote>\n", "</blockquote>\n")
	case *ast.List:
		r.list(t, depth)
	case *ast.ListItem:
		r.element(n, depth, `<li dir="auto">`, "</li>\n")
	case *ast.ThematicBreak:
		r.out.Add("<hr>\n")
	case *ast.CodeBlock:
		r.code("", r.lines(n))
	case *ast.FencedCodeBlock:
		info := ""
		if t.Info != nil {
			info = unescape(t.Info.Segment.Value(r.src))
		}
		r.code(info, r.lines(n))
	default:
		r.inline(n, depth)
	}
}

func (r *renderer) list(t *ast.List, depth int) {
	open, end := markup.HTML("<ul>\n"), markup.HTML("</ul>\n")
	if t.IsOrdered() {
		open, end = "<ol>\n", "</ol>\n"
		if t.Start != 1 {
			open = `<ol start="` + markup.Int(t.Start) + "\">\n"
		}
	}
	r.element(t, depth, open, end)
}

func (r *renderer) code(info, body string) {
	if info != "" {
		r.out.Add(`<p class="lang">`, markup.Text(info), "</p>\n")
	}
	lang := info
	for i, c := range info {
		if c == ' ' || c == '\t' || c == ',' || c == '{' {
			lang = info[:i]
			break
		}
	}
	r.out.Add(`<pre class="code"><code>`, code.Mark(lang, body), "</code></pre>\n")
}

func (r *renderer) lines(n ast.Node) string {
	var out []byte
	for i := range n.Lines().Len() {
		at := n.Lines().At(i)
		out = append(out, at.Value(r.src)...)
	}
	return string(out)
}

func (r *renderer) inline(n ast.Node, depth int) {
	switch t := n.(type) {
	case *ast.Text:
		r.out.Add(markup.Text(unescape(t.Segment.Value(r.src))))
		switch {
		case t.HardLineBreak():
			r.out.Add("<br>\n")
		case t.SoftLineBreak():
			r.out.Add("\n")
		}
	case *ast.String:
		r.out.Add(markup.Text(string(t.Value)))
	case *ast.CodeSpan:
		r.out.Add("<code>")
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if part, ok := c.(*ast.Text); ok {
				r.out.Add(markup.Text(string(part.Segment.Value(r.src))))
			}
		}
		r.out.Add("</code>")
	case *ast.Emphasis:
		if t.Level == 2 {
			r.element(n, depth, "<strong>", "</strong>")
			return
		}
		r.element(n, depth, "<em>", "</em>")
	case *extast.Strikethrough:
		r.element(n, depth, "<s>", "</s>")
	case *ast.Link:
		r.out.Add(markup.Link(unescape(t.Destination), unescape(t.Title), r.inner(n, depth)))
	case *ast.Image: // never loaded: it would tell somebody that the page was opened
		r.out.Add(markup.Link(unescape(t.Destination), unescape(t.Title), "image: "+r.inner(n, depth)))
	case *ast.AutoLink:
		words := string(t.Label(r.src))
		to := string(t.URL(r.src))
		if t.AutoLinkType == ast.AutoLinkEmail {
			to = "mailto:" + to
		}
		r.out.Add(markup.Link(to, "", markup.Text(words)))
	case *extast.TaskCheckBox:
		box := markup.HTML("☐ ")
		if t.IsChecked {
			box = "☑ "
		}
		r.out.Add(box)
	default:
		r.table(n, depth)
	}
}

// inner returns the children of a link as markup.
func (r *renderer) inner(n ast.Node, depth int) markup.HTML {
	in := &renderer{src: r.src}
	in.children(n, depth)
	return in.out.HTML()
}

func (r *renderer) table(n ast.Node, depth int) {
	switch t := n.(type) {
	case *extast.Table:
		r.element(n, depth, `<div class="wide" role="region" aria-label="Table" tabindex="0"><table>`+"\n", "</table></div>\n")
	case *extast.TableHeader:
		r.element(n, depth, "<thead><tr>", "</tr></thead>\n")
	case *extast.TableRow:
		r.element(n, depth, "<tr>", "</tr>\n")
	case *extast.TableCell:
		name := markup.HTML("td")
		if _, head := t.Parent().(*extast.TableHeader); head {
			name = "th"
		}
		class := markup.HTML("")
		switch t.Alignment {
		case extast.AlignRight:
			class = ` class="right"`
		case extast.AlignCenter:
			class = ` class="center"`
		}
		r.element(n, depth, "<"+name+class+` dir="auto">`, "</"+name+">")
	default: // a TextBlock, or what a later version of the parser finds
		r.children(n, depth)
	}
}

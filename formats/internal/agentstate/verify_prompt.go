package agentstate

import (
	"rehome/formats/internal/rawjson"
)

// prompt walks a prompt message: JSON, or in stores of 2025 a link.
func (g *Graph) prompt(id ID, b []byte) {
	refs, tail := links(b)
	for i, r := range refs {
		g.refer(r, KindPrompt, int32(i))
	}
	if g.inner = g.inner[:0]; len(refs) > 0 && tail == len(b) {
		return
	}
	doc, _, err := rawjson.Line(b[tail:])
	if err != nil || len(doc) == 0 || doc[0] != '{' {
		g.report(Fault{Kind: NoMessage, ID: id, As: KindPrompt, Says: "%d bytes", Args: []any{len(b) - tail}})
		return
	}
	if g.Prompt != nil {
		g.Prompt(id, doc, string(g.path))
	}
}

// WorkspaceURIs returns the folders that a root names.
func WorkspaceURIs(root []byte) (out []string) {
	for uri := range codecs().root.Decode(root).URIs.All() {
		out = append(out, string(uri))
	}
	return out
}

package agentstate

import (
	"rehome/formats/internal/rawjson"
	"rehome/formats/internal/wire"
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
		g.tell(Fault{Kind: NoMessage, ID: id, As: KindPrompt, Says: "%d bytes", Args: []any{len(b) - tail}})
		return
	}
	if g.Prompt != nil {
		g.Prompt(id, doc, string(g.path))
	}
}

// WorkspaceURIs are the folders that a root names.
func WorkspaceURIs(root []byte) (out []string) {
	for r := wire.Read(root); r.Next(); {
		if r.Is(rootURIs, wire.Bytes) {
			out = append(out, string(r.Body))
		}
	}
	return out
}

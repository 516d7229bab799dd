package agentstate

import (
	"rehome/formats/internal/wire"
	"rehome/internal/rawjson"
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

// ChildNames returns the ids of the subagents that a root names.
func ChildNames(root []byte) (out []string) {
	m := codecs().root.Decode(root)
	for _, list := range [...]wire.List{m.Children, m.ChildRefs} {
		for entry := range list.All() {
			name, _, _ := wire.MapEntry(entry)
			out = append(out, string(name))
		}
	}
	for entry := range m.Runs.All() {
		_, value, _ := wire.MapEntry(entry)
		out = append(out, string(codecs().run.Decode(value).Child))
	}
	return out
}

package convert

import (
	"cmp"
	"slices"
)

// WorkspaceReport is what the sessions of one folder come to.
type WorkspaceReport struct {
	Path     string `json:"path"`     // "" for the sessions of which no folder is known
	Sessions int    `json:"sessions"` // that were placed, or would be in a dry run
	Withheld int    `json:"withheld,omitempty"`
	Failed   int    `json:"failed,omitempty"`
	Messages int64  `json:"messages"` // of those that were placed, as what follows
	Turns    int64  `json:"turns"`
	Bytes    int64  `json:"bytes"`
}

// byWorkspace sums the sessions of all stores up by the folders they are of, in
// the order of their paths; those of no folder come last.
func (r *Report) byWorkspace() (out []WorkspaceReport) {
	at := map[string]int{}
	for i := range r.Stores {
		for k := range r.Stores[i].Sessions {
			s := &r.Stores[i].Sessions[k]
			n, ok := at[s.Workspace]
			if !ok {
				n = len(out)
				at[s.Workspace] = n
				out = append(out, WorkspaceReport{Path: s.Workspace})
			}
			w := &out[n]
			switch s.Status {
			case Withheld:
				w.Withheld++
			case Failed:
				w.Failed++
			default:
				w.Sessions++
				w.Messages, w.Turns, w.Bytes = w.Messages+s.Messages, w.Turns+s.Turns, w.Bytes+s.Bytes
			}
		}
	}
	slices.SortFunc(out, func(a, b WorkspaceReport) int {
		if (a.Path == "") != (b.Path == "") {
			return cmp.Compare(b.Path, a.Path)
		}
		return cmp.Compare(a.Path, b.Path)
	})
	return out
}

package convert

import (
	"cmp"
	"slices"
)

// WorkspaceReport sums up the sessions of one folder.
type WorkspaceReport struct {
	Path     string `json:"path"`     // "" = folder unknown
	Sessions int    `json:"sessions"` // placed, or to be placed in a dry run
	Skipped  int    `json:"skipped,omitempty"`
	Failed   int    `json:"failed,omitempty"`
	Messages int64  `json:"messages"` // of those that were placed, like the next two
	Turns    int64  `json:"turns"`
	Bytes    int64  `json:"bytes"`
}

// byWorkspace sums up the sessions of all stores by folder, sorted by path.
// Sessions without a folder come last.
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
			case Skipped:
				w.Skipped++
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

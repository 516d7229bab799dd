package console

import (
	"rehome/cmd/internal/screen"
)

// AmbiguousError reports a name that matches several sessions, or none.
type AmbiguousError struct {
	Err        error
	Candidates []Candidate
	More       int // matches that are not in candidates
}

func (a *AmbiguousError) Error() string { return a.Err.Error() }
func (a *AmbiguousError) Unwrap() error { return a.Err }

// lines returns a line for each candidate: its name, title, client and folder, which
// can be in the home folder.
func (a *AmbiguousError) lines(home string) []screen.Safe {
	var rows [][]screen.Safe
	for _, c := range a.Candidates {
		rows = append(rows, []screen.Safe{screen.Visible(c.Name), screen.Cut(OneLine(c.Title), screen.PageWidth/2), screen.Visible(c.Agent),
			ShortPath(home, c.Project)})
	}
	out := screen.Columns(rows)
	for i := range out {
		out[i] = "  " + out[i]
	}
	if a.More > 0 {
		out = append(out, "  and "+screen.Grouped(int64(a.More))+" more")
	}
	return out
}

// Candidate is a session that a name could stand for, as printed by --json.
type Candidate struct {
	Name    string `json:"name"` // unambiguous
	ID      string `json:"id"`
	Agent   string `json:"agent"`
	Title   string `json:"title,omitempty"`
	Project string `json:"project,omitempty"`
	Path    string `json:"path"`
}

package convert

import (
	"rehome/formats/loss"
	"rehome/formats/session"
)

// SessionReport is what became of one session.
type SessionReport struct {
	ID        string       `json:"id"`
	Agent     string       `json:"agent"`
	Title     string       `json:"title,omitempty"`
	Workspace string       `json:"workspace,omitempty"` // the folder it works in
	Status    string       `json:"status"`
	File      string       `json:"file,omitempty"` // slash path below the target; "" where the target is one file
	Messages  int64        `json:"messages"`
	Turns     int64        `json:"turns"`
	Bytes     int64        `json:"bytes"`
	Note      string       `json:"note,omitempty"` // what is unusual about its name
	Losses    []loss.Group `json:"losses"`
	Error     *ErrorReport `json:"error,omitempty"`

	// Of a migration: where it goes, and where it waits.
	head   session.Head
	goal   *goal
	staged string
	skip   bool // nothing was said in it
	err    error
}

// Sessions counts the sessions of all stores that have a status.
func (r *Report) Sessions(status string) (n int) {
	for i := range r.Stores {
		for _, s := range r.Stores[i].Sessions {
			if s.Status == status {
				n++
			}
		}
	}
	return n
}

// Beyond is the number of stores with losses beyond the allowed line that no
// single session could be held for.
func (r *Report) Beyond() (n int) {
	for i := range r.Stores {
		if r.Stores[i].beyond {
			n++
		}
	}
	return n
}

// failSessions takes back what was said of the sessions of a store that failed
// as a whole.
func (s *StoreReport) failSessions() {
	for i := range s.Sessions {
		r := &s.Sessions[i]
		if r.Status == Placed || r.Status == Checked {
			r.Status, r.File, r.Note = Failed, "", ""
		}
	}
}

// sum is what the fates of its sessions come to for a store: placed if any was,
// or if there was none to place.
func (s *StoreReport) sum(dry bool) string {
	withheld, failed, good := 0, 0, 0
	for _, r := range s.Sessions {
		switch r.Status {
		case Withheld:
			withheld++
		case Failed:
			failed++
		default:
			good++
		}
	}
	switch {
	case good == 0 && withheld > 0:
		return Withheld
	case good == 0 && failed > 0:
		return Failed
	case dry:
		return Checked
	}
	return Placed
}

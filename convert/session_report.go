package convert

import (
	"rehome/formats"
	"rehome/formats/loss"
)

// SessionReport is the result for one session.
type SessionReport struct {
	ID        string       `json:"id"`
	Agent     string       `json:"agent"`
	Title     string       `json:"title,omitempty"`
	Workspace string       `json:"workspace,omitempty"` // the folder it belongs to
	Status    string       `json:"status"`
	File      string       `json:"file,omitempty"` // slash path below the target; "" if the target is one file, or one store
	Messages  int64        `json:"messages"`
	Turns     int64        `json:"turns"`
	Bytes     int64        `json:"bytes"`
	Note      string       `json:"note,omitempty"` // remark about its name
	Losses    []loss.Group `json:"losses"`
	Error     *ErrorReport `json:"error,omitempty"`

	Redacted []RedactedCount `json:"redacted,omitempty"`
}

// fail corrects the report of a session that failed.
func (r *SessionReport) fail(err error) {
	r.Status, r.File, r.Note = Failed, "", ""
	r.Error = &ErrorReport{Message: err.Error(), Hint: formats.Hint(err)}
}

// Sessions returns the number of sessions of all stores with a status.
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

// Beyond returns the number of stores with losses beyond Options.Allow that are
// not of a single session.
func (r *Report) Beyond() (n int) {
	for i := range r.Stores {
		if r.Stores[i].lossesBeyond {
			n++
		}
	}
	return n
}

// failSessions corrects the reports of the sessions of a store that failed as a
// whole.
func (s *StoreReport) failSessions() {
	for i := range s.Sessions {
		r := &s.Sessions[i]
		if r.Status == Placed || r.Status == Checked {
			r.Status, r.File, r.Note = Failed, "", ""
		}
	}
}

// status returns the status of a store from those of its sessions: placed if
// any is, or if there are none.
func (s *StoreReport) status(dry bool) string {
	skipped, failed, good := 0, 0, 0
	for _, r := range s.Sessions {
		switch r.Status {
		case Skipped:
			skipped++
		case Failed:
			failed++
		default:
			good++
		}
	}
	switch {
	case good == 0 && skipped > 0:
		return Skipped
	case good == 0 && failed > 0:
		return Failed
	case dry:
		return Checked
	}
	return Placed
}

package watch

import (
	"time"

	"rehome/convert"
)

// Event is something that Run reports. Its JSON is a line of the output of
// `rehome watch --json`.
type Event struct {
	Time   time.Time `json:"time"`
	Kind   Kind      `json:"event"`
	Target string    `json:"target,omitempty"` // the files that changed, or the folder that has them

	Stores *Stores `json:"stores,omitempty"` // of Ready

	Store    string `json:"store,omitempty"` // slash path below the source; "." is the source itself
	Session  string `json:"session,omitempty"`
	Client   string `json:"client,omitempty"`
	Title    string `json:"title,omitempty"`
	Turns    *int64 `json:"turns,omitempty"`     // of the session; absent if unknown
	NewTurns *int64 `json:"new_turns,omitempty"` // since the last event of the session; absent if unknown
	Files    int    `json:"files,omitempty"`     // that were written

	Message string  `json:"message,omitempty"`
	Hint    string  `json:"hint,omitempty"`
	Retry   float64 `json:"retry_seconds,omitempty"` // until the next round; 0 = after the next change
}

// Kind is the kind of an Event.
type Kind string

// The kinds of events.
const (
	Ready     Kind = "ready"     // the first round is done, and the target is up to date
	Session   Kind = "session"   // a session has changed, and its text with it
	Store     Kind = "store"     // a store has changed, and which of its sessions is unknown
	Kept      Kind = "kept"      // a store or session has vanished, and stays in the target
	Problem   Kind = "problem"   // a store, or all of them, cannot be updated
	Recovered Kind = "recovered" // it can be again
	Polling   Kind = "polling"   // changes are found only by looking, because the system does not report all
)

// Stores counts the stores of a round by what was done with them.
type Stores struct {
	Added     int `json:"added"`
	Updated   int `json:"updated"`
	Unchanged int `json:"unchanged"`
	Kept      int `json:"kept"`
	Failed    int `json:"failed"`
}

func countStores(r *convert.Report) *Stores {
	var n Stores
	for i := range r.Stores {
		switch s := &r.Stores[i]; {
		case s.Status == convert.Failed, s.Status == convert.Skipped:
			n.Failed++
		case s.Change == convert.Unchanged:
			n.Unchanged++
		case s.Change == convert.Updated:
			n.Updated++
		case s.Change == convert.Kept:
			n.Kept++
		default:
			n.Added++
		}
	}
	return &n
}

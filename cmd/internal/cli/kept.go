package cli

import (
	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert/sessions"
	"rehome/formats/clients"
)

// keptClient is a client whose sessions `rehome backup` keeps, but nothing here reads.
type keptClient struct {
	Client    string   `json:"client"`
	Title     string   `json:"title"`
	Sessions  *int     `json:"sessions"` // null: not known
	Encrypted bool     `json:"encrypted"`
	Note      string   `json:"note,omitempty"`
	Places    []string `json:"places,omitempty"` // not in the report of doctor
}

// survey returns the clients of this machine whose sessions are kept and not read. Some
// keep theirs in the project folders of the sessions in a listing.
func survey(a *console.App, l *sessions.Listing) (out []keptClient) {
	folders := console.WorkingDirs()
	for _, s := range l.All() {
		folders = append(folders, s.Workspace)
	}
	for _, s := range clients.Survey(a.Ctx, a.Reg, console.Machine(a.Out.Getenv), folders) {
		k := keptClient{Client: s.Name, Title: s.Title, Encrypted: s.Encrypted, Note: s.Note, Places: s.Places}
		if s.Sessions >= 0 {
			k.Sessions = &s.Sessions
		}
		out = append(out, k)
	}
	return out
}

// line says what is known of the client.
func (k *keptClient) line() screen.Safe {
	count := screen.Safe("sessions that cannot be counted now")
	if k.Sessions != nil {
		count = screen.Plural(int64(*k.Sessions), "session")
	}
	if k.Encrypted {
		return "kept, encrypted: " + screen.Visible(k.Title) + ", " + count + "; only " + screen.Visible(k.Title) + " can read them"
	}
	return "kept, not read: " + screen.Visible(k.Title) + ", " + count
}

package console

import (
	"rehome/formats"
	"rehome/formats/session"
)

// ClientName returns the name of a client for people.
func ClientName(reg *formats.Registry, client string) string {
	switch client {
	case session.CursorIDE:
		return "Cursor IDE"
	case session.Codex:
		return "Codex"
	}
	for _, f := range reg.All() {
		if f.Home != nil && len(f.Clients) > 0 && f.Clients[0] == client {
			return FormatClient(reg, f.Name)
		}
	}
	return client
}

// FormatClient returns the name of the client of a format for people.
func FormatClient(reg *formats.Registry, format string) string {
	if f := reg.Lookup(format); f != nil && f.Home != nil && f.Home.Title != "" {
		return f.Home.Title
	}
	return format
}

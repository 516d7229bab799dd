package cli

import (
	"rehome/formats"
	"rehome/formats/session"
)

// clientName returns the name of a client for people.
func clientName(reg *formats.Registry, client string) string {
	switch client {
	case session.CursorIDE:
		return "Cursor IDE"
	case session.Codex:
		return "Codex"
	}
	for _, f := range reg.All() {
		if f.Home != nil && len(f.Clients) > 0 && f.Clients[0] == client {
			return clientOf(reg, f.Name)
		}
	}
	return client
}

// clientOf returns the name of the client of a format for people.
func clientOf(reg *formats.Registry, format string) string {
	if f := reg.Lookup(format); f != nil && f.Home != nil && f.Home.Title != "" {
		return f.Home.Title
	}
	return format
}

package convert

import (
	"context"
	"slices"

	"rehome/convert/internal/walk"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/session"
)

// place is where a session is: a store, and its id there if it is not the only one.
type place struct {
	format *formats.Format
	path   string
	ids    []string
}

// listImported returns where the client has the sessions that it imported, by their ids,
// see formats.Home.Import. What cannot be read is left out: the client says so when it
// imports more.
func listImported(ctx context.Context, reg *formats.Registry, to *formats.Format, o MigrateOptions) map[string]place {
	if to.Home.Import == nil || o.Machine.OS == "" {
		return nil
	}
	var roots []string
	for _, f := range reg.All() {
		if f != to && f.Home != nil && slices.Contains(f.Clients, to.Clients[0]) {
			roots = append(roots, slices.DeleteFunc(f.Home.Roots(o.Machine), func(root string) bool {
				_, err := walk.RealPath(root)
				return err != nil
			})...)
		}
	}
	if len(roots) == 0 {
		return nil // without paths, all clients would be listed
	}
	list, err := sessions.List(ctx, reg, sessions.Options{Paths: roots, Folders: o.Folders, Live: o.Live, Jobs: o.Jobs})
	if err != nil {
		return nil
	}
	out := map[string]place{}
	for _, s := range list.All() {
		if f := reg.Lookup(s.Sources[0].Format); f.Home.Resume != nil { // else the client has left it behind
			out[s.ID] = place{f, s.Sources[0].Path, []string{s.ID}}
		}
	}
	return out
}

// importedAt returns where the client has what it imported of a session, if it did.
func (m *migration) importedAt(h *session.Head) (at place, ok bool) {
	if m.o.imported != nil {
		at, ok = m.o.imported()[m.to.Writer.ID(h)]
	}
	return at, ok
}

// hasImported reports whether there is nothing to do for a staged session, since it is the
// client's own and the client has all of it. It returns an error if the client has imported
// it, and continued it since.
func (m *migration) hasImported(ctx context.Context, p fileMove) (bool, error) {
	at, ok := m.importedAt(&p.of.Head)
	if !ok {
		return false, nil
	}
	was, err := m.standing(ctx, p, at)
	switch own := slices.Contains(m.to.Clients, p.of.Agent); {
	case err != nil:
		return false, err
	case own && was != formats.Older && was != formats.Foreign:
		return true, nil
	case was == formats.Continued:
		return false, existsAs(was, &formats.Error{At: p.of.ID})
	}
	return false, nil
}

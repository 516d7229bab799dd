package cli

import (
	"errors"
	"fmt"

	"rehome/cmd/internal/console"
	"rehome/convert"
	"rehome/convert/sessions"
	"rehome/formats"
)

// bringBack appends the turns with which a migrated session was continued to the session
// that it was made from.
func (c *migrateCmd) bringBack(a *console.App, o convert.MigrateOptions) (*convert.Migration, error) {
	src, err := resolveSource(a, c.Src, c.Last, c.Live)
	if err != nil {
		return nil, err
	}
	listing, err := listAll(a, c.Live)
	if err != nil {
		return nil, err
	}
	from, err := migratedFrom(a, listing, src)
	if err != nil {
		return nil, err
	}
	for _, s := range listing.All() {
		if s.ID == from.Origin && s.Sources[0].Format != from.Sources[0].Format {
			f := a.Reg.Lookup(s.Sources[0].Format)
			if o.Dir, err = configDir(a, f, &c.ClientDirs); err != nil {
				return nil, err
			}
			return convert.Back(a.Ctx, a.Reg, backSource(a, from), backSource(a, s), o)
		}
	}
	return nil, &formats.Error{At: from.ID, Err: fmt.Errorf("session %s, from which it was made, is no longer on this machine", from.Origin)}
}

// migratedFrom returns the session of a listing that a source stands for, if rehome made
// it from another one; or the only one that rehome made from it.
func migratedFrom(a *console.App, l *sessions.Listing, src source) (*sessions.Listed, error) {
	id := src.session
	for _, s := range l.All() {
		switch {
		case s.ID != id && (id != "" || !sessions.SameFolder(s.Sources[0].Path, src.path)):
		case s.Origin != "":
			return s, nil
		default:
			id = s.ID
		}
	}
	if id == "" {
		return nil, &formats.Error{At: src.path, Err: errors.New("not the store of a session on this machine"),
			Hint: "name the session: `rehome ls` lists them"}
	}
	var copies []*sessions.Listed
	for _, s := range l.All() {
		if s.Origin == id {
			copies = append(copies, s)
		}
	}
	switch len(copies) {
	case 0:
		err := errors.New("rehome did not make this session from another one on this machine")
		return nil, &formats.Error{At: id, Err: err, Hint: "omit --back to migrate it"}
	case 1:
		return copies[0], nil
	}
	return nil, newAmbiguous(a, l, id, fmt.Sprintf("rehome made %d sessions from it", len(copies)), copies)
}

func backSource(a *console.App, s *sessions.Listed) convert.BackSource {
	return convert.BackSource{Path: fileOf(a.Reg, s), Format: s.Sources[0].Format, ID: s.ID, Folder: s.Workspace}
}

package sessions

import (
	"context"

	"rehome/formats"
	"rehome/formats/session"
)

// FindInside returns the first store of a listing that holds a session with this id
// which is in no list: a subagent whose records are part of its parent's. It
// returns "" if there is none. It decodes sessions, so use it last.
func (l *Listing) FindInside(ctx context.Context, id string, live bool) (string, error) {
	asked := map[string]bool{}
	for _, s := range l.All() {
		for _, src := range s.Sources {
			if asked[src.Path] || src.format.Sessions == nil || src.format.Sessions.Heads == nil {
				continue
			}
			asked[src.Path] = true
			if src.holds(ctx, id, live) {
				return src.Path, nil
			}
			if err := ctx.Err(); err != nil {
				return "", err
			}
		}
	}
	return "", nil
}

// holds reports whether a store yields a session with this id. It ignores
// errors.
func (s *Source) holds(ctx context.Context, id string, live bool) bool {
	loc, err := formats.Locate(s.Path)
	if err != nil {
		return false
	}
	v := formats.FullView(1)
	v.Live = live
	for one := range s.format.Sessions.Decode(ctx, loc, v, session.Selection{IDs: []string{id}}) {
		if one != nil && one.ID == id {
			return true
		}
	}
	return false
}

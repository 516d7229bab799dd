package convert

import (
	"context"

	"rehome/formats"
	"rehome/formats/session"
)

// Inside is the first store of a listing that holds a session of this id which
// no list names: a subagent whose records are a part of its parent's. "" if
// there is none. Unlike listing, this decodes, so that it is asked last.
func (l *Listing) Inside(ctx context.Context, id string, live bool) (string, error) {
	asked := map[string]bool{}
	for _, s := range l.All() {
		for _, src := range s.Sources {
			if asked[src.Path] || src.format.Heads == nil || src.format.Decode == nil {
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

// holds reports whether a store yields a session of this id. What is wrong with
// a store that does not is another matter.
func (s *Source) holds(ctx context.Context, id string, live bool) bool {
	loc, err := formats.Locate(s.Path)
	if err != nil {
		return false
	}
	v := wholeView(1)
	v.Live = live
	for one := range s.format.Decode(ctx, loc, v, session.Selection{IDs: []string{id}}) {
		if one != nil && one.ID == id {
			return true
		}
	}
	return false
}

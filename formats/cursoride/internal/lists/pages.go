package lists

import (
	"context"

	"rehome/formats/loss"
	"rehome/formats/store"
)

// pages are the records that list many sessions. They can be large and many,
// and are wanted again and again while sessions are decoded: as many as fit
// into maxPages are held.
type pages struct {
	*Store
	list map[pageKey]*page
	size int
}

// maxPages is how many bytes of them are held, and the one in use.
const maxPages = 16 << 20

type pageKey struct {
	Workspace *Workspace
	key       string
}

// page is one such record.
type page struct {
	pageKey
	Addr store.Addr
	body []byte // nil while it is not held, or could not be read
	held bool
}

// open reads a record for the first time; nil if there is none.
func (p *pages) open(ctx context.Context, s *Workspace, key string, note loss.Sink) (*page, error) {
	db, err := p.Database(ctx, s)
	if err != nil || db == nil {
		return nil, err
	}
	r, err := db.Get(ctx, ItemTable, key, note)
	if err != nil || r.Fate == Absent || r.Fate == Deleted {
		return nil, err
	}
	pg := &page{pageKey: pageKey{s, key}, Addr: r.Addr}
	if p.list == nil {
		p.list = map[pageKey]*page{}
	}
	p.list[pg.pageKey] = pg
	p.hold(pg, r.Body)
	return pg, nil
}

// hold keeps a record, and drops all others where they grow too many.
func (p *pages) hold(pg *page, body []byte) {
	if p.size += len(body); p.size > maxPages {
		for _, other := range p.list {
			other.body, other.held = nil, false
		}
		p.size = len(body)
	}
	pg.body, pg.held = body, body != nil
}

// whole is a record.
func (p *pages) whole(ctx context.Context, pg *page) ([]byte, error) {
	return p.Read(ctx, headAt{Page: pg, to: -1})
}

// Read is the bytes of a head.
func (p *pages) Read(ctx context.Context, at headAt) ([]byte, error) {
	if !at.Page.held {
		db, err := p.Database(ctx, at.Page.Workspace)
		if err != nil {
			return nil, err
		}
		r, err := db.Get(ctx, ItemTable, at.Page.key, func(loss.Loss) {})
		if err != nil {
			return nil, err
		}
		p.hold(at.Page, r.Body)
	}
	if at.to < 0 {
		return at.Page.body, nil
	}
	if at.to > len(at.Page.body) {
		return nil, nil
	}
	return at.Page.body[at.from:at.to], nil
}

package cursoride

import (
	"context"

	"rehome/formats/loss"
	"rehome/formats/store"
)

// pages are the records that list many sessions. They can be large and many,
// and are wanted again and again while sessions are decoded: as many as fit
// into mostPages are held.
type pages struct {
	*place
	list map[pageKey]*page
	size int
}

// mostPages is how many bytes of them are held, and the one in use.
const mostPages = 16 << 20

type pageKey struct {
	space *space
	key   string
}

// page is one such record.
type page struct {
	pageKey
	addr store.Addr
	body []byte // nil while it is not held, or could not be read
	held bool
}

// open reads a record for the first time; nil if there is none.
func (p *pages) open(ctx context.Context, s *space, key string, note loss.Sink) (*page, error) {
	shelf, err := p.shelf(ctx, s)
	if err != nil || shelf == nil {
		return nil, err
	}
	r, err := shelf.get(ctx, itemTable, key, note)
	if err != nil || r.fate == absent || r.fate == deleted {
		return nil, err
	}
	pg := &page{pageKey: pageKey{s, key}, addr: r.addr}
	if p.list == nil {
		p.list = map[pageKey]*page{}
	}
	p.list[pg.pageKey] = pg
	p.hold(pg, r.body)
	return pg, nil
}

// hold keeps a record, and drops all others where they grow too many.
func (p *pages) hold(pg *page, body []byte) {
	if p.size += len(body); p.size > mostPages {
		for _, other := range p.list {
			other.body, other.held = nil, false
		}
		p.size = len(body)
	}
	pg.body, pg.held = body, body != nil
}

// whole is a record.
func (p *pages) whole(ctx context.Context, pg *page) ([]byte, error) {
	return p.read(ctx, headAt{page: pg, to: -1})
}

// read is the bytes of a head.
func (p *pages) read(ctx context.Context, at headAt) ([]byte, error) {
	if !at.page.held {
		shelf, err := p.shelf(ctx, at.page.space)
		if err != nil {
			return nil, err
		}
		r, err := shelf.get(ctx, itemTable, at.page.key, func(loss.Loss) {})
		if err != nil {
			return nil, err
		}
		p.hold(at.page, r.body)
	}
	if at.to < 0 {
		return at.page.body, nil
	}
	if at.to > len(at.page.body) {
		return nil, nil
	}
	return at.page.body[at.from:at.to], nil
}

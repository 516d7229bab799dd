package cursoride

import (
	"context"
	"errors"
	"iter"

	"rehome/formats"
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/cursoride/internal/read"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/session"
)

// decoder is Decode with what databases taught so far.
func decoder(known *sqlitefile.Known) func(context.Context, *formats.Location, formats.View, session.Selection) iter.Seq2[*session.Session, error] {
	return func(ctx context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
		return opened(ctx, l, v, known, func(p *lists.Store, yield func(*session.Session, error) bool) error {
			return read.Decode(ctx, p, v, sel, yield)
		})
	}
}

// opened opens a store for walk and closes it afterwards. A consumer that has
// stopped is not told what was wrong with closing it.
func opened[T any](ctx context.Context, l *formats.Location, v formats.View, known *sqlitefile.Known, walk func(p *lists.Store, yield func(*T, error) bool) error) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		more := true
		p, err := lists.Open(ctx, l, v, known)
		if err == nil {
			err = walk(p, func(one *T, err error) bool {
				more = yield(one, err)
				return more
			})
			err = errors.Join(err, p.Close())
		}
		if err != nil && more {
			yield(nil, err)
		}
	}
}

// lister lists what a store's indexes know. Of bodies only keys are looked at,
// and the record of a session that has not a single bubble, if it is small.
func lister(known *sqlitefile.Known) func(context.Context, *formats.Location, formats.View) iter.Seq2[*session.Head, error] {
	return func(ctx context.Context, l *formats.Location, v formats.View) iter.Seq2[*session.Head, error] {
		return opened(ctx, l, v, known, func(p *lists.Store, yield func(*session.Head, error) bool) error {
			return lists.EachHead(ctx, p, v, func(h *session.Head) bool { return yield(h, nil) })
		})
	}
}

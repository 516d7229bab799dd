package claude

import (
	"context"
	"fmt"

	"rehome/cmd/rehome-fleet/internal/home"
	"rehome/formats"
)

// Place implements home.Home for the sessions of a folder: sessions that exist are refused unless
// o.Replace, and then moved to a backup.
func (s *Store) Place(ctx context.Context, path string, o home.PlaceOptions) (home.Placed, error) {
	t, err := s.layout.begin(ctx)
	if err != nil {
		return home.Placed{}, s.fail(err)
	}
	defer t.close()
	src := &source{refuse: t.refuse, change: t.change}
	defer src.close()
	if err := openSource(ctx, path, s.project, src); err != nil {
		return home.Placed{}, err
	}
	if o.Lost != nil {
		if err := o.Lost(src.lost.Groups()); err != nil {
			return home.Placed{}, err
		}
	}
	placed, err := place(ctx, t, src, o)
	if b, ok := t.(interface{ kept() string }); ok && err != nil && b.kept() != "" {
		err = &formats.Error{Err: fmt.Errorf("%w; replaced sessions are kept as %s", err, b.kept()), Hint: formats.Hint(err)}
	}
	return placed, s.fail(err)
}

// errRaced returns the error of a session that appeared after Place had looked for it.
func errRaced() error {
	return &formats.Error{Err: fmt.Errorf("%w: another program wrote one of the sessions meanwhile", formats.ErrBusy), Hint: "run the command again"}
}

// place writes the sessions of src and reads them again before they are committed.
func place(ctx context.Context, t target, src *source, o home.PlaceOptions) (home.Placed, error) {
	placed, todo, aside := home.Placed{}, [][]*transcript(nil), map[key]bool{}
	done, of := int64(0), int64(0)
	for _, session := range src.sessions() {
		k := session[0].Key.session()
		for _, tr := range session {
			placed.Documents += tr.Entries
		}
		exists, err := t.has(ctx, session)
		if err != nil {
			return placed, err
		}
		if exists {
			if equal, err := same(ctx, t, session); err != nil {
				return placed, err
			} else if equal {
				continue
			}
			if !o.Replace {
				return placed, &formats.Error{Err: fmt.Errorf("session %v %w, with other entries", k, formats.ErrExists), Hint: "use --replace to move the session there to a backup"}
			}
			aside[k] = true
		}
		todo = append(todo, session)
		for _, tr := range session {
			of += tr.Bytes
		}
	}
	for _, session := range todo {
		k := session[0].Key.session()
		if aside[k] {
			if err := t.setAside(ctx, k); err != nil {
				return placed, err
			}
		}
		err := t.put(ctx, session, func(tr *transcript, yield func(entry) error) error {
			return src.entries(ctx, tr, func(e entry) error {
				if done += int64(len(e.Line)) + 1; o.Progress != nil {
					o.Progress(done, of)
				}
				return yield(e)
			})
		})
		if err != nil {
			return placed, err
		}
		if equal, err := same(ctx, t, session); err != nil {
			return placed, err
		} else if !equal {
			return placed, fmt.Errorf("session %v: read again, it is not what was written", k)
		}
	}
	var err error
	placed.Backup, err = t.commit(ctx)
	if w, ok := t.(interface{ warn() string }); ok {
		placed.Warning = w.warn()
	}
	return placed, err
}

// same reports whether a session has these transcripts and no others.
func same(ctx context.Context, t target, session []*transcript) (bool, error) {
	sums := map[string]*summer{}
	err := t.read(ctx, session[0].Key.session(), func(k key, line []byte) error {
		if sums[k.Subpath] == nil {
			sums[k.Subpath] = newSummer()
		}
		e, _ := inspect(line)
		sums[k.Subpath].add(e.Sum)
		return nil
	})
	equal := err == nil && len(sums) == len(session)
	for _, tr := range session {
		equal = equal && sums[tr.Key.Subpath] != nil && sums[tr.Key.Subpath].is(tr)
	}
	return equal, err
}

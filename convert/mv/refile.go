package mv

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"rehome/convert/internal/undo"
	"rehome/formats"
)

// refiler files the sessions of one format under their new folder, in the stores that have
// them.
type refiler struct {
	*Options
	f      *formats.Format
	mv     *formats.Moved
	out    *Report
	stores [][]*refiled
}

// refiled is a session in its store, and in the report.
type refiled struct {
	*formats.Refiled
	session int // index in Report.Sessions
}

// find finds the sessions.
func (r *refiler) find(ctx context.Context) error {
	client := clientOf(r.f)
	for s, err := range r.f.Mover.Refiler.Find(ctx, r.Machine, r.mv) {
		if err != nil {
			return err
		}
		for _, path := range []*string{&s.Store, &s.From, &s.To} {
			if *path != "" { // an undo record is read anywhere
				if *path, err = filepath.Abs(*path); err != nil {
					return err
				}
			}
		}
		if s.Left != "" {
			r.out.Left = append(r.out.Left, Left{client, s.From, s.Left, s.Hint})
			continue
		}
		one := Session{Client: client, ID: s.ID, Title: s.Title, Cwd: s.Cwd, From: s.From, To: s.To, Status: Planned, InPlace: true, Untested: true, Bytes: s.Bytes}
		if s.Err != nil {
			one.fail(s.Err)
		}
		r.out.Sessions = append(r.out.Sessions, one)
		if s.Err != nil {
			continue
		}
		i := slices.IndexFunc(r.stores, func(l []*refiled) bool { return l[0].Store == s.Store })
		if i < 0 {
			i = len(r.stores)
			r.stores = append(r.stores, nil)
		}
		r.stores[i] = append(r.stores[i], &refiled{s, len(r.out.Sessions) - 1})
	}
	return ctx.Err()
}

// commit files the sessions of each store. If it cannot, all of the store stay, and the
// report says so.
func (r *refiler) commit(ctx context.Context) error {
	if r.DryRun {
		return nil
	}
	for _, list := range r.stores {
		err := r.refile(ctx, list)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for _, s := range list {
			if one := &r.out.Sessions[s.session]; err != nil {
				one.fail(full(err))
			} else if one.Status == Planned {
				one.Status = Moved
			}
		}
	}
	return nil
}

// refile files the sessions of one store, after an undo record of that is on disk.
func (r *refiler) refile(ctx context.Context, list []*refiled) (err error) {
	first := list[0]
	log, err := undo.Folder{Dir: r.UndoDir}.Begin(undo.Record{Made: undo.Made(r.Now), Format: r.f.Name, Store: first.Store, Session: first.ID, Title: first.Title,
		Refiled: len(list), Moved: &undo.Moved{Old: r.out.Old, New: r.out.New, Placed: true, Sources: []undo.Source{}}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	plain := make([]*formats.Refiled, len(list))
	for i, s := range list {
		plain[i] = s.Refiled
	}
	err = r.f.Mover.Refiler.Refile(ctx, plain, log)
	if !log.Saved {
		return err
	}
	if err != nil {
		err = errors.Join(err, log.TakeBack(ctx, r.f.Mover.Refiler.Undo))
	}
	if log.Record.ID != 0 {
		r.out.Undo = append(r.out.Undo, log.Record.ID)
	}
	if err != nil {
		return err
	}
	return r.verify(ctx, list)
}

// verify reads the store again, as its client would: each session has its new folder.
func (r *refiler) verify(ctx context.Context, list []*refiled) error {
	l, err := formats.Locate(list[0].Store)
	if err != nil {
		return err
	}
	is := map[string]string{}
	for h, err := range r.f.Sessions.Heads(ctx, l, formats.FullView(1)) {
		if err != nil {
			return err
		}
		is[h.ID] = h.Workspace
	}
	for _, s := range list {
		if is[s.ID] != s.Cwd {
			err := &formats.Error{Format: r.f.Name, At: s.Store, Op: "verify", Err: fmt.Errorf("the folder of session %s is %q, not %q", s.ID, is[s.ID], s.Cwd), Hint: "`rehome undo` files it as it was; this is a bug in rehome, please report it"}
			r.out.Sessions[s.session].fail(err)
		}
	}
	return ctx.Err()
}

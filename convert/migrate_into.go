package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"rehome/convert/internal/sidecar"
	"rehome/convert/internal/undo"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// storePath returns the store of a client in which it looks for the sessions of a
// folder, see formats.Writer.Into.
func (m *migration) storePath(cwd string) string {
	return m.to.Home.Store(m.o.Dir, cwd)
}

// adds reports whether sessions are added to a store that holds many.
func (m *migration) adds() bool { return m.to.Writer.Into != nil && m.to.Writer.Into.Add != nil }

// taken reports whether the client has a session with the id that h gets.
func (m *migration) taken(h *session.Head) bool {
	if !m.adds() {
		_, err := os.Lstat(m.path(h))
		_, imported := m.importedAt(h)
		return imported || !errors.Is(err, fs.ErrNotExist)
	}
	found, err := m.to.Writer.Into.Has(context.Background(), m.storePath(h.Workspace), m.to.Writer.ID(h))
	return found || err != nil
}

// placeInto adds a family to the store that its client uses.
func (m *migration) placeInto(ctx context.Context, f *plannedFamily) (status string, err error) {
	h, rep := f.root.placement.root, &f.rep
	rep.File, rep.Session = m.storePath(h.Workspace), m.to.Writer.ID(h)
	if f.root.placement.inPlace {
		return Same, nil
	}
	from := f.root.Path + ".store"
	losses, err := m.createFrom(ctx, f.root.Path, from)
	if err != nil {
		return "", err
	}
	rep.Losses = loss.Merge(rep.Losses, losses)
	defer func() { err = errors.Join(err, os.RemoveAll(from)) }()
	a := formats.Addition{From: from, To: rep.File, Update: m.o.Update, DryRun: m.o.DryRun}
	if !m.o.DryRun {
		log, err := undo.Folder{Dir: m.o.UndoDir}.Begin(undo.Record{Made: undo.Made(m.o.Now), Format: m.to.Name, Store: rep.File, Session: rep.Session, Title: rep.Title})
		if err != nil {
			return "", err
		}
		defer func() { err = errors.Join(err, log.Close()) }()
		m.recordCopies(log, f)
		a.Log = log
		defer func() { m.takeBack(ctx, log, rep, &err) }()
	}
	got, err := m.to.Writer.Into.Add(ctx, a)
	if err != nil {
		return "", err
	}
	if len(got.Left) > 0 {
		m.notify.Say(fmt.Sprintf("%s was created by an older version of the client, and has no columns %s: left out", rep.File, strings.Join(got.Left, ", ")))
	}
	switch {
	case got.Was == formats.Same:
		return Same, nil
	case got.Was == formats.Absent || got.Was == formats.Older && m.o.Update:
		if m.o.DryRun {
			return Checked, nil
		}
		if got.Was == formats.Absent {
			return Placed, nil
		}
		return Updated, nil
	}
	return "", existsAs(got.Was, &formats.Error{At: rep.File, Pointer: rep.Session})
}

// ErrContinued means that a session was continued in the client that it was migrated to.
var ErrContinued = fmt.Errorf("%w, and was continued there", formats.ErrExists)

// existsAs completes the error that says why a session that the client has is not replaced.
func existsAs(was formats.Standing, e *formats.Error) error {
	e.Err, e.Hint = formats.ErrExists, "--again writes another copy, with an id of its own"
	switch was {
	case formats.Older:
		e.Err, e.Hint = fmt.Errorf("%w: an older state of this session", formats.ErrExists), "pass --update to overwrite it; it was not continued there"
	case formats.Continued:
		e.Err, e.Hint = ErrContinued, "it was not touched; "+e.Hint
	}
	return e
}

// takeBack ends an addition: it undoes one that failed half-way.
func (m *migration) takeBack(ctx context.Context, log *undo.Log, rep *Migrated, err *error) {
	if !log.Saved {
		return
	}
	if *err != nil {
		*err = errors.Join(*err, log.TakeBack(ctx, m.to.Writer.Into.Undo))
	}
	rep.Undo = log.Record.ID
}

// createFrom creates a store of a draft, and verifies it as an exact conversion does. It
// returns what the store cannot hold of the draft.
func (m *migration) createFrom(ctx context.Context, draft, path string) ([]loss.Group, error) {
	c := &exactConversion{job: &job{input: m.input, rep: &Report{}, sidecar: &sidecar.Files{}}, source: Found{Rel: "."}, out: &StoreReport{}, staged: path, jobs: 1, omitted: sidecar.NewOmitted(".", true)}
	c.kind = joinedKind(m.to)
	err := c.join(ctx, m.to, []string{draft})
	return c.losses.Groups(), err
}

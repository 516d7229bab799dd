package mv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rehome/convert/internal/stage"
	"rehome/convert/internal/undo"
	"rehome/formats"
	"rehome/internal/fsx"
)

// family is a session with its files, its own last: once that exists, all of it does.
type family struct {
	Session
	pieces []*piece
}

// piece is a piece and its copy.
type piece struct {
	formats.Piece
	staged string
	digest string // of the original
	state  string // what tells the original from a changed one, cheaply
	there  bool   // the copy is at To already
	adds   bool   // its agents are added to the store at To
	known  bool   // an undo record names it
}

// mover moves the sessions of one format.
type mover struct {
	*Options
	f        *formats.Format
	mv       *formats.Moved
	out      *Report
	families []*family
	staging  map[string]*stage.Folder // by Piece.Root
	records  []undo.Record            // of earlier moves
}

// prepareAll finds what there is to move, and stages it. Its error is one because of which
// nothing is to be written: a client is running, or the disk is full.
func (m *mover) prepareAll(ctx context.Context) (err error) {
	if err := m.find(ctx); err != nil || len(m.families) == 0 {
		return err
	}
	if m.records, err = (undo.Folder{Dir: m.UndoDir}).List(); err != nil {
		return err
	}
	for _, f := range m.families {
		if f.err == nil {
			f.err = m.prepare(ctx, f)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if stage.DiskFull(f.err) || errors.Is(f.err, formats.ErrBusy) {
			return f.err
		}
	}
	return nil
}

// remove removes what was staged.
func (m *mover) remove() {
	for _, s := range m.staging {
		if err := s.Remove(); err != nil {
			m.say("temporary files not removed: " + err.Error())
		}
	}
}

// report adds what became of the families to the report.
func (m *mover) report() {
	for _, f := range m.families {
		if f.err != nil {
			f.fail(f.err)
		}
		m.out.Sessions = append(m.out.Sessions, f.Session)
	}
}

// find collects the pieces into families.
func (m *mover) find(ctx context.Context) error {
	byPath := map[string]*family{}
	for p, err := range m.f.Mover.Find(ctx, m.Machine, m.mv) {
		if err != nil {
			return err
		}
		client := clientOf(m.f)
		for _, path := range []*string{&p.From, &p.To, &p.Of, &p.Root} {
			if *path != "" { // an undo record is read anywhere
				if *path, err = filepath.Abs(*path); err != nil {
					return err
				}
			}
		}
		if p.Left != "" {
			m.out.Left = append(m.out.Left, Left{client, p.From, p.Left, p.Hint})
			continue
		}
		p.InPlace = p.InPlace || p.From == p.To // the client has one name for both folders
		f := byPath[p.Family()]
		if f == nil {
			f = &family{Session: Session{Client: client, To: p.Family()}}
			byPath[p.Family()] = f
			m.families = append(m.families, f)
		}
		if p.Of == "" {
			if f.From != "" {
				f.err = &formats.Error{At: p.From, Err: fmt.Errorf("%s has the same name at the new place", f.From), Hint: "move one of them away"}
				continue
			}
			f.ID, f.From, f.Cwd, f.InPlace = p.ID, p.From, p.Cwd, p.InPlace && p.ID != ""
		}
		f.pieces = append(f.pieces, &piece{Piece: p})
	}
	return nil
}

// clientOf returns the name of the client of a format, as session.Head.Agent has it.
func clientOf(f *formats.Format) string {
	if len(f.Clients) > 0 {
		return f.Clients[0]
	}
	return f.Name
}

// prepare stages the pieces of a family, and compares them with their originals and with
// what is at the new place.
func (m *mover) prepare(ctx context.Context, f *family) error {
	for _, p := range f.pieces {
		if err := m.stage(ctx, p); err != nil {
			return err
		}
	}
	for _, p := range f.pieces {
		if p.Prompts {
			if err := m.verify(ctx, f, p); err != nil {
				return err
			}
		}
	}
	missing := 0
	for _, p := range f.pieces {
		there, err := m.compare(ctx, p)
		if err != nil {
			return err
		}
		if p.there = there; !there {
			missing++
		}
	}
	f.Status = Planned
	if missing == 0 {
		f.Status = Same
	}
	return nil
}

// stage writes the copy of a piece to a folder beside its place.
func (m *mover) stage(ctx context.Context, p *piece) (err error) {
	s := m.staging[p.Root]
	if s == nil {
		at, err := stage.Resolve(filepath.Join(p.Root, "sessions"))
		if err != nil {
			return err
		}
		if s, err = stage.NewFor(m.DryRun, m.say, at); err != nil {
			return err
		}
		m.staging[p.Root] = s
	}
	rel, err := filepath.Rel(p.Root, p.To)
	if err != nil || !filepath.IsLocal(rel) {
		return &formats.Error{At: p.To, Err: errors.New("outside of the client's folder")}
	}
	p.staged = filepath.Join(s.Tree, rel)
	if p.state, err = stateOf(p.From); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.staged), 0o700); err != nil {
		return err
	}
	if err = m.write(ctx, p); err == nil {
		err = fsx.CopyAttributes(p.From, p.staged)
	}
	if err == nil {
		p.digest, err = fsx.DigestTree(p.From)
	}
	if err != nil {
		return s.WithTargetPath(err)
	}
	return p.unchanged()
}

// write writes the copy of a piece.
func (m *mover) write(ctx context.Context, p *piece) error {
	return filepath.WalkDir(p.From, func(from string, e fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(p.From, from)
		if err = errors.Join(err, relErr, ctx.Err()); err != nil {
			return err
		}
		to := filepath.Join(p.staged, rel)
		switch {
		case e.IsDir():
			return os.Mkdir(to, 0o700)
		case !e.Type().IsRegular():
			return &formats.Error{At: from, Err: errors.New("not a regular file"), Hint: "remove it, or put a file in its place"}
		}
		if done, err := m.f.Mover.File(ctx, from, to, m.mv); done || err != nil {
			return err
		}
		return fsx.Copy(from, to, 0o600)
	})
}

// stateOf returns the names, sizes and times of files.
func stateOf(path string) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && !e.IsDir() {
			fmt.Fprintf(&b, "%q %d %d\n", at, info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	return b.String(), err
}

// unchanged returns an error if the original changed since it was copied.
func (p *piece) unchanged() error {
	if now, err := stateOf(p.From); err != nil || now != p.state {
		return errors.Join(err, formats.Changed("", p.From))
	}
	return nil
}

// compare reports whether the copy is at its place already. Something else there is an error.
func (m *mover) compare(ctx context.Context, p *piece) (there bool, err error) {
	switch {
	case p.InPlace && fsx.SameTree(p.staged, p.To):
		p.known = true
		return true, nil
	case p.InPlace && (p.Prompts || p.Folder): // verified by its sessions, as every copy
		return false, nil
	case p.InPlace:
		return false, m.verifyLines(ctx, p)
	}
	info, err := os.Lstat(p.To)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, &formats.Error{At: p.To, Err: formats.Cause(err)}
	}
	if was, err := os.Lstat(p.From); err == nil && os.SameFile(was, info) {
		return false, &formats.Error{At: p.To, Err: errors.New("the old and the new name are one file on this disk"), Hint: "its file system does not tell upper case from lower case; move the project by way of another name"}
	}
	if p.known = m.movedBefore(p); p.known || fsx.SameTree(p.staged, p.To) {
		return true, nil
	}
	if p.Agents {
		p.adds = true
		return m.add(ctx, p, nil)
	}
	return false, exists(p)
}

func exists(p *piece) error {
	return &formats.Error{At: p.To, Err: fmt.Errorf("another one %w", formats.ErrExists), Hint: "both were kept; the other one is " + p.From}
}

// add adds the agents of a store to the one at the new place. Without a log, it only finds
// out whether they are there, or must not be added.
func (m *mover) add(ctx context.Context, p *piece, log formats.UndoLog) (there bool, err error) {
	got, err := m.f.Writer.Into.Add(ctx, formats.Addition{From: p.staged, To: p.To, Exact: true, DryRun: log == nil, Log: log})
	switch {
	case err != nil:
		return false, err
	case len(got.Left) > 0:
		return false, &formats.Error{At: p.To, Err: errors.New("an older client created it, without the columns " + strings.Join(got.Left, ", ")), Hint: "open it with the client that wrote " + p.From + ", and try again"}
	case got.Was != formats.Absent && got.Was != formats.Same:
		return false, exists(p)
	}
	return got.Was == formats.Same, nil
}

// movedBefore reports whether an earlier move put the copy there: the client may have
// continued it since.
func (m *mover) movedBefore(p *piece) bool {
	for _, r := range m.records {
		if r.Moved == nil || !r.Moved.Placed {
			continue
		}
		for _, s := range r.Moved.Sources {
			if s.Path == p.From && s.To == p.To && s.Digest == p.digest {
				return true
			}
		}
	}
	return false
}

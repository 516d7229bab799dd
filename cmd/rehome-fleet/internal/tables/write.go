package tables

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"rehome/convert"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/fsx"
	"rehome/internal/scratch"
)

// Meta is what every row says about its source.
type Meta struct {
	Machine, Unit string // "" = NULL
}

// Options are the options of Write.
type Options struct {
	NoText     bool               // leave out what somebody wrote, and paths; see the package
	Redact     *convert.Redaction // what to redact; nil = nothing
	Replace    bool               // keep an existing folder as <dir>.bak-<n>
	Live       bool               // read a store in use in place
	Jobs       int                // workers; 0 = one per CPU
	OnProgress func(convert.Progress)
	OnNotice   func(string)
}

// Write writes the sessions of a store, or of a folder of stores, to a new folder of
// tables. They are built beside dir and read again before they are placed, by one
// rename. Sessions and stores that cannot be read are only in the report, unless there
// is no other.
func Write(ctx context.Context, reg *formats.Registry, src, dir string, m Meta, o Options) (*Report, error) {
	return writeWith(ctx, reg, src, dir, m, o, fsx.Move)
}

// writeWith is Write with the function that renames what is placed.
func writeWith(ctx context.Context, reg *formats.Registry, src, dir string, m Meta, o Options, rename func(from, to string) error) (rep *Report, err error) {
	scratch.Sweep()
	if !utf8.ValidString(m.Machine + m.Unit) {
		return nil, convert.Misuse{Err: errors.New("the names of machine and unit must be UTF-8")}
	}
	t, err := NewTarget(src, dir, "choose another folder, or pass --replace", o.Replace, o.OnNotice)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.Stage.Remove()) }()
	// The text is not beside dir, where a killed run could leave it: it has more in it than
	// tables without text, which may be for others.
	text, err := scratch.New("", "tables")
	if err != nil {
		return nil, &formats.Error{At: os.TempDir(), Op: "create a folder for temporary files", Err: formats.Cause(err), Hint: "set TMPDIR to another folder"}
	}
	defer func() { err = errors.Join(err, text.Remove()) }()
	w := &writer{reg: reg, meta: m, opts: o, text: filepath.Join(text.Path, "sessions"), tables: filepath.Join(t.Stage.Path, "tables")}
	rep = &Report{Source: src, Target: dir, NoText: o.NoText, Tables: []TableReport{}, Stores: []StoreReport{}, Losses: []loss.Group{}}
	if err = w.write(ctx, src, rep); err == nil {
		rep.Backup, err = t.Place(w.tables, rename)
	}
	if err != nil {
		return nil, t.Named(err)
	}
	return rep, nil
}

// writer is one call of Write.
type writer struct {
	reg    *formats.Registry
	meta   Meta
	opts   Options
	text   string // the folder of canonical text that the tables are made of
	tables string
	set
	repaired []loss.Group
	places   map[*convert.StoreReport]string // names of stores
	ids      map[string]string               // without text: what takes the place of ids of sessions
}

// write converts the sessions to canonical text, and that to tables: so they are read,
// verified and redacted as for any other text, and each can be read more than once.
func (w *writer) write(ctx context.Context, src string, rep *Report) error {
	done, err := convert.Convert(ctx, w.reg, src, w.text, convert.Options{
		To: "canonical", BySession: true, Allow: loss.Unreadable, Sidecar: "none", State: convert.NoState,
		Redact: w.opts.Redact, Live: w.opts.Live, Jobs: w.opts.Jobs, OnProgress: w.opts.OnProgress, OnNotice: w.opts.OnNotice,
	})
	if err != nil {
		return err
	}
	if err := os.Mkdir(w.tables, 0o700); err != nil {
		return err
	}
	defer w.abandon()
	if err := w.create(); err != nil {
		return err
	}
	if err := w.all(ctx, done, rep); err != nil {
		return err
	}
	if err := w.finish(rep); err != nil {
		return err
	}
	rep.Redacted, rep.Losses = done.Redacted, loss.Merge(rep.Losses, w.repaired)
	return restrict(w.tables, w.text)
}

// entry is a session among those of all stores.
type entry struct {
	store *convert.StoreReport
	*convert.SessionReport
}

// all adds the rows of all sessions, sorted by session, and those of the losses that
// belong to none.
func (w *writer) all(ctx context.Context, done *convert.Report, rep *Report) error {
	var list []entry
	taken := map[string]int{} // how often
	w.places = map[*convert.StoreReport]string{}
	for i := range done.Stores {
		s := &done.Stores[i]
		name := PathText(s.Place())
		for first := name; taken[name] > 0; {
			taken[first]++
			name = first + " (" + strconv.Itoa(taken[first]) + ")"
		}
		taken[name]++
		w.places[s] = name
		rep.add(s, name)
		for k := range s.Sessions {
			list = append(list, entry{s, &s.Sessions[k]})
		}
	}
	slices.SortStableFunc(list, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.store.Place(), b.store.Place()))
	})
	if w.opts.NoText {
		w.ids = map[string]string{}
		for _, e := range list {
			if _, seen := w.ids[e.ID]; !seen && !isID(e.ID) {
				w.ids[e.ID] = "session-" + strconv.Itoa(len(w.ids)+1)
			}
		}
	}
	for _, e := range list {
		if err := cmp.Or(ctx.Err(), w.session(ctx, e)); err != nil {
			return err
		}
	}
	for i := range done.Stores {
		if err := w.storeLosses(&done.Stores[i]); err != nil {
			return err
		}
	}
	return nil
}

// session adds the rows of one session.
func (w *writer) session(ctx context.Context, e entry) error {
	b := &builder{set: &w.set, ids: w.ids}
	b.head.Origin = Origin{Machine: w.meta.Machine, UnitID: w.meta.Unit, Store: w.places[e.store], Agent: e.Agent, Workspace: e.Workspace, SessionID: b.sessionID(e.ID)}
	b.head.Format, b.head.Title = e.store.From, e.Title
	losses := e.Losses
	if e.Status == convert.Placed {
		err := w.read(ctx, e.File, func(s *session.Session) error {
			return b.session(ctx, s, func(f func(*session.Message) error) error {
				return w.read(ctx, e.File, func(s *session.Session) error { return session.Each(ctx, s.Messages, f) })
			})
		})
		if err != nil {
			return err
		}
	} else if e.Error != nil {
		b.head.ReadError = e.Error.Message
	}
	if b.repaired > 0 {
		g := loss.Loss{Code: loss.TextRepaired}.Group()
		g.Count, g.Places = b.repaired, []string{}
		losses = loss.Merge(losses, []loss.Group{g})
		w.repaired = loss.Merge(w.repaired, []loss.Group{g})
	}
	for _, g := range losses {
		b.head.LossesReported += g.Count
		if err := w.loss(b.head.Origin, g); err != nil {
			return err
		}
	}
	return put(b, w.sessions, &b.head)
}

// read decodes the text of one session.
func (w *writer) read(ctx context.Context, file string, f func(*session.Session) error) error {
	l, err := formats.Locate(filepath.Join(w.text, filepath.FromSlash(file)))
	if err != nil {
		return err
	}
	n := 0
	for s, err := range w.reg.Lookup("canonical").Sessions.Decode(ctx, l, formats.FullView(1), session.Selection{}) {
		if err != nil {
			return err
		}
		if n++; n > 1 {
			break
		}
		if err := f(s); err != nil {
			return err
		}
	}
	if n != 1 {
		return errors.New("the text of a session does not hold one session")
	}
	return nil
}

func (w *writer) loss(of Origin, g loss.Group) error {
	row := &Loss{Origin: of, Code: string(g.Code), Kind: g.Kind.String(), Consequence: string(g.Consequence), What: g.What, Count: g.Count, Places: slices.Clone(g.Places)}
	if row.Address = ""; len(g.Places) > 0 {
		row.Address = g.Places[0]
	}
	_, err := w.losses.put(row)
	return err
}

// storeLosses adds the losses of a store that are not those of a session.
func (w *writer) storeLosses(s *convert.StoreReport) error {
	counted := map[loss.Code]int64{}
	for _, one := range s.Sessions {
		for _, g := range one.Losses {
			counted[g.Code] += g.Count
		}
	}
	for _, g := range s.Losses {
		n := min(g.Count, counted[g.Code])
		counted[g.Code] -= n
		if g.Count -= n; g.Count == 0 {
			continue
		}
		if n > 0 {
			g.Places = nil // they may be those of sessions
		}
		if err := w.loss(Origin{Machine: w.meta.Machine, UnitID: w.meta.Unit, Store: w.places[s]}, g); err != nil {
			return err
		}
	}
	return nil
}

// PathText returns a path as text: its bytes that are not UTF-8 become \xNN.
func PathText(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); {
		r, n := utf8.DecodeRuneInString(path[i:])
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\x%02x`, path[i])
		} else {
			b.WriteString(path[i : i+n])
		}
		i += n
	}
	return b.String()
}

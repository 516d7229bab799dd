package cursorchat

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/internal/storedb"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// codec decodes stores of this shape.
type codec struct{ shape sqlitestore.Shape }

// decode yields the chat of a store, then the subagents in its state.
func (c codec) decode(ctx context.Context, l *formats.Location, v formats.View, sel session.Selection) iter.Seq2[*session.Session, error] {
	return func(yield func(*session.Session, error) bool) {
		d := &decoder{codec: c, view: v, sel: sel, yield: yield}
		if err := d.run(ctx, l); err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

var errStopped = errors.New("the decoder was stopped")

// decoder decodes one store.
type decoder struct {
	codec
	view  formats.View
	sel   session.Selection
	yield func(*session.Session, error) bool

	db    *sqlitefile.DB
	path  string
	file  string // as addresses name it
	dir   string // the chat's folder, "" if it is not known
	blobs *storedb.Blobs
	tally session.Account
	state *agentstate.State

	gathered     int64 // roots that are not in the store
	strangeBytes int
}

func (d *decoder) run(ctx context.Context, l *formats.Location) (err error) {
	d.path = l.Path
	if l.IsDir() {
		d.path, d.file = filepath.Join(l.Path, storeName), storeName
	}
	d.dir = chatFolder(d.path)
	if d.db, err = sqlitefile.Open(ctx, d.path, sqlitefile.Options{Live: d.view.Live, OnNotice: d.view.OnNotice, Verbose: d.view.Verbose, Known: d.shape.Known}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.db.Close()) }()
	s := &session.Session{Head: session.Head{Agent: session.CursorCLI, Turns: -1, Bytes: -1}}
	meta, err := d.meta(ctx, s)
	if err != nil {
		return err
	}
	if l.IsDir() {
		err = d.beside(l, s)
	} else if d.dir != "" {
		d.besideOne(s)
	}
	if err != nil {
		return err
	}
	d.settle(s)
	if err := d.tables(ctx, s); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.blobs.Close()) }()
	return d.sessions(ctx, s, meta)
}

// tables opens the blobs, and keeps the rows of other tables.
func (d *decoder) tables(ctx context.Context, s *session.Session) error {
	var table sqlitefile.Table
	for _, t := range d.db.Tables() {
		key, data := store.FindColumn(t.Columns, "id"), store.FindColumn(t.Columns, "data")
		var err error
		switch {
		case strings.EqualFold(t.Name, storedb.MetaTable):
		case strings.EqualFold(t.Name, storedb.BlobsTable) && key >= 0 && data >= 0:
			table = t
			err = d.oddColumns(ctx, s, t, key, data)
		default:
			err = d.strange(ctx, s, t)
		}
		if err != nil {
			return err
		}
	}
	misnamed := func(at store.Addr) { d.note(loss.BlobMisnamed, at) }
	var err error
	if d.blobs, err = storedb.OpenBlobs(ctx, d.db, table, storedb.Options{File: d.file, Digits: 12, Misnamed: misnamed}); err == nil {
		d.tally.Read += d.blobs.Rows
		d.tally.CarriedRaw += d.blobs.Misnamed
	}
	return err
}

// sessions yields the chat and its subagents, and accounts for them.
func (d *decoder) sessions(ctx context.Context, s *session.Session, meta *meta) error {
	blobs, root, err := d.root(ctx, meta, s)
	if err != nil {
		return err
	}
	if blobs == nil {
		s.Head.Turns, s.Mode = 0, cmp.Or(s.Mode, meta.mode)
		return d.finish(d.give(s, d.sel.Includes(s.ID)))
	}
	o := agentstate.Options{Blobs: blobs, Root: root, At: d.blobs.At, Note: d.view.OnLoss, History: d.sel.History, All: d.blobs.All(ctx)}
	if d.state, err = agentstate.Read(ctx, o); err != nil {
		return err
	}
	if why := d.state.Broken(); why != "" {
		s.Missing = append(s.Missing, "the conversation: "+why)
	}
	return d.finish(d.family(ctx, s, d.state, kin{mode: meta.mode}))
}

// kin is what a session inherits: a mode and a workspace, if its own state has none,
// and whether a session above it is selected.
type kin struct {
	mode, workspace string
	wanted          bool
}

// family yields a session and the subagents that it started.
func (d *decoder) family(ctx context.Context, s *session.Session, state *agentstate.State, of kin) error {
	state.Fill(s)
	s.Mode, s.Workspace = cmp.Or(s.Mode, of.mode), cmp.Or(s.Workspace, of.workspace)
	if s.Workspace == "" && d.dir != "" && s.Parent == nil {
		d.neighbors(s)
	}
	s.Head.Turns = int64(len(state.Turns()))
	if s.Messages == nil {
		s.Messages = state.Messages(ctx)
	}
	wanted := d.sel.Includes(s.ID) || of.wanted && d.sel.Inner
	if err := d.give(s, wanted); err != nil {
		return err
	}
	for _, c := range state.Children() {
		child, err := c.Open(ctx)
		if err != nil {
			return err
		}
		sub := &session.Session{Head: session.Head{ID: c.ID, Agent: s.Agent, Title: c.Title, Workspace: d.view.Cwd, Created: c.Created, Updated: c.Updated, Bytes: -1}}
		sub.Parent = &session.Link{Session: s.ID, Call: c.Call, Title: c.Title, Kind: c.Kind, Status: c.Status}
		sub.Model, sub.Status = c.Model, c.SessionStatus()
		if why := child.Broken(); why != "" {
			sub.Missing = append(sub.Missing, "the conversation: "+why)
		}
		if err := d.family(ctx, sub, child, kin{workspace: s.Workspace, wanted: wanted}); err != nil {
			return err
		}
	}
	return nil
}

// give yields a session and reads what the consumer leaves of it, so that the account
// includes the whole store whatever is selected.
func (d *decoder) give(s *session.Session, wanted bool) error {
	rest := drain{messages: s.Messages, files: s.Files}
	s.Messages, s.Files = rest.takeMessages, nil
	if rest.files != nil {
		s.Files = rest.takeFiles
	}
	if wanted && !d.yield(s, nil) {
		return errStopped
	}
	if d.sel.Account == nil {
		return rest.err
	}
	return rest.run()
}

// finish adds the whole store to the account, unless err is set, which it returns.
func (d *decoder) finish(err error) error {
	if err != nil {
		return err
	}
	var t session.Account
	if d.state != nil {
		t.Converted, t.CarriedRaw, t.Unreadable = d.state.Reached()-d.gathered, d.state.Opaque(), d.state.Unreadable()
		t.Members, t.MembersConverted, t.MembersRaw = d.state.Members()
	}
	t.Superseded = d.blobs.Rows - d.blobs.Misnamed - t.Converted - t.CarriedRaw - t.Unreadable
	d.tally.Add(t)
	d.sel.Account.Add(d.tally)
	return nil
}

func (d *decoder) note(code loss.Code, at store.Addr) {
	d.view.OnLoss.Add(loss.Loss{Code: code, At: at})
}

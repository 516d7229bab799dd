package cursorchat

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"os"
	"path/filepath"

	"rehome/formats"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/agentwrite"
	"rehome/formats/internal/envelope"
	"rehome/formats/internal/filename"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/storecheck"
	"rehome/formats/internal/storedb"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// namespace is the prefix of all hashed ids. It must never change, so that a session has
// the same id whenever it is written.
const namespace = "rehome/cursor-chat/1\x00"

// sessionID returns the id of a session as a chat. The CLI's own chats keep theirs. Others get
// one of their own, since `rehome ls` lists them beside their origins, and Cursor's clients
// share their ids.
func sessionID(h *session.Head) string {
	if h.Agent == session.CursorCLI && formats.IsUUID(h.ID) {
		return h.ID
	}
	return filename.NamedUUID(namespace, h.Agent, h.ID)
}

// folder is the name of the folder, below a config folder, that holds all chats.
const folder = "chats"

// sessionPath returns the path of a chat's folder below a config folder.
func sessionPath(h *session.Head) string {
	return folder + "/" + filename.HashOf(workspace(h.Workspace)) + "/" + sessionID(h)
}

// sink writes each session, with its subagents, as one chat: a folder with a database and
// the file that the client lists chats by.
type sink struct {
	bench *storecheck.Bench
	chat  *chat // of the last session without a parent, until Finish
}

// chat is a chat that is being written.
type chat struct {
	path    string
	cwd     string
	id      string
	note    loss.Sink
	created session.Stamp // times of the messages
	updated session.Stamp
	prompt  string // first line of the first prompt

	db    *sqlitefile.Writer
	put   *storedb.AsyncPut     // into db
	rows  *store.Batch          // of blobs, not yet put
	n     int64                 // number of blobs
	seen  map[[16]byte]struct{} // starts of the ids of all blobs: half of a hash is enough
	ids   hash.Hash             // of the ids of the blobs
	added [][16]byte            // to seen, since the mark

	session *session.Session // the outermost one
	family  *agentwrite.Family
}

// Put writes a session to a new chat, or a subagent to that of its parent.
func (k *sink) Put(ctx context.Context, s *session.Session, b formats.SessionBuild) (*formats.Draft, error) {
	if c := k.chat; c != nil && c.family.Includes(s, b.Root) {
		return &formats.Draft{Within: true}, c.subagent(ctx, s, b)
	}
	k.discard()
	c, err := newChat(ctx, s, b)
	if err != nil {
		return nil, err
	}
	k.chat = c
	c.session = s
	o := c.options(b)
	if b.Continues != nil {
		c.id, o.Continues = b.Continues.ID, b.Continues.Graph
	}
	state := agentwrite.New(s, o)
	c.family = agentwrite.NewFamily(&s.Head, state)
	if err := state.Tell(ctx, s, c.observe, nil); err != nil {
		k.discard()
		return nil, err
	}
	return &formats.Draft{Verify: func(ctx context.Context) error { return verify(ctx, b.Path, k.bench) }}, nil
}

// Finish writes what depends on subagents: the states that refer to theirs, and the root.
func (k *sink) Finish(ctx context.Context) error {
	if k.chat == nil {
		return nil
	}
	err := k.chat.finish(ctx)
	if err != nil {
		k.discard()
	}
	k.chat = nil
	return err
}

// discard removes a chat that cannot be completed.
func (k *sink) discard() {
	if k.chat != nil {
		k.chat.close()
		os.RemoveAll(k.chat.path)
		k.chat = nil
	}
}

func newChat(ctx context.Context, s *session.Session, b formats.SessionBuild) (*chat, error) {
	// As in the client, only the user may read it.
	if err := os.Mkdir(b.Path, 0o700); err != nil {
		if errors.Is(err, os.ErrExist) {
			err = formats.ErrExists
		}
		return nil, &formats.Error{Format: name, At: b.Path, Err: err}
	}
	c := &chat{path: b.Path, id: sessionID(&s.Head), cwd: workspace(cmp.Or(b.Cwd, s.Workspace)), note: b.OnLoss.Add, seen: map[[16]byte]struct{}{}, ids: sha256.New()}
	schema := store.Database{
		Pragmas: store.Pragmas{PageSize: 4096, Encoding: "UTF-8", JournalMode: "wal", UserVersion: 1},
		Objects: []store.Object{
			{Type: "table", Name: storedb.BlobsTable, Table: storedb.BlobsTable, SQL: storecheck.BlobsSQL},
			{Type: "table", Name: storedb.MetaTable, Table: storedb.MetaTable, SQL: storecheck.MetaSQL},
		},
	}
	var err error
	c.db, err = sqlitefile.Create(ctx, filepath.Join(b.Path, storeName), schema, []sqlitefile.TableSet{
		{Set: blobSet, Table: sqlitefile.Table{Name: storedb.BlobsTable, Columns: []string{"id", "data"}, RowIDs: true}},
		{Set: metaSet, Table: sqlitefile.Table{Name: storedb.MetaTable, Columns: []string{"key", "value"}, RowIDs: true}},
	})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(b.Path))
	}
	c.open(ctx)
	return c, nil
}

// open begins to put blobs.
func (c *chat) open(ctx context.Context) {
	c.put = storedb.NewAsyncPut(func(b *store.Batch) error { return c.db.Put(ctx, b) })
	c.rows = store.NewBatch(blobSet, 2)
}

// The tables of a database.
const (
	blobSet = iota
	metaSet
)

// options are those of a conversation whose blobs are in the chat. Cwd is not among them if
// the chat is in its own folder: its state can be copied then.
func (c *chat) options(b formats.SessionBuild) agentwrite.Options {
	o := agentwrite.Options{Put: c.blob, Cwd: c.cwd, DropThinking: b.DropThinking, FullHistory: b.FullHistory, OnLoss: b.OnLoss}
	if c.session.Workspace == c.cwd {
		o.Cwd = ""
	}
	return o
}

// subagent writes a subagent.
func (c *chat) subagent(ctx context.Context, s *session.Session, b formats.SessionBuild) error {
	here := *s
	here.Workspace = c.cwd
	state := agentwrite.New(&here, c.options(b))
	before, err := c.mark()
	if err != nil {
		return err
	}
	if err := state.Tell(ctx, s, c.observe, nil); err != nil {
		return errors.Join(err, c.reset(ctx, before))
	}
	c.added = nil
	c.family.Add(&s.Head, state)
	return nil
}

// mark begins a part that reset takes back, and returns the chat as it is.
func (c *chat) mark() (before chat, err error) {
	before = *c
	c.added = [][16]byte{}
	before.ids, err = c.ids.(hash.Cloner).Clone()
	return before, err
}

// reset takes back all blobs since mark.
func (c *chat) reset(ctx context.Context, before chat) error {
	for _, start := range c.added {
		delete(c.seen, start)
	}
	err := errors.Join(c.put.Put(c.rows), c.put.End())
	*c = before
	c.open(ctx)
	return errors.Join(err, c.db.Cut(ctx, blobSet, c.n))
}

// observe takes from a message what the list of chats shows.
func (c *chat) observe(m *session.Message) {
	for _, at := range []session.Stamp{m.At, m.End} {
		if !at.Known() {
			continue
		}
		if !c.created.Known() {
			c.created = at
		}
		if !c.updated.Known() || at.Millis() > c.updated.Millis() {
			c.updated = at
		}
	}
	if c.prompt != "" || m.Role != session.User {
		return
	}
	for _, p := range m.Parts {
		if text, ok := p.(*session.Text); ok && c.prompt == "" {
			c.prompt = envelope.FirstLine(text.Text)
		}
	}
}

// blob writes a blob, unless it is there.
func (c *chat) blob(_ context.Context, id agentstate.ID, data []byte) error {
	start := [16]byte(id[:])
	if _, ok := c.seen[start]; ok {
		return nil
	}
	c.seen[start] = struct{}{}
	if c.added != nil {
		c.added = append(c.added, start)
	}
	c.ids.Write(id[:])
	c.n++
	b := c.rows
	b.Row(c.n)
	b.End(store.Text, hex.AppendEncode(b.Begin(), id[:]))
	b.AddBytes(store.Blob, data)
	if !b.Full() {
		return nil
	}
	c.rows = store.NewBatch(blobSet, 2)
	return c.put.Put(b)
}

func (c *chat) finish(ctx context.Context) error {
	root, err := c.family.Root(ctx)
	if err != nil {
		return err
	}
	rows := c.rows
	c.rows = nil // Put releases them
	if err := errors.Join(c.put.Put(rows), c.put.End()); err != nil {
		return err
	}
	if err := c.describe(ctx, root); err != nil {
		return err
	}
	if err := c.db.Finish(ctx); err != nil {
		return err
	}
	return c.close()
}

// close closes the database, which removes it if it is not finished.
func (c *chat) close() error {
	if c.rows != nil {
		c.rows.Release()
		c.rows = nil
	}
	c.put.End() // it was reported when it happened
	return c.db.Close()
}

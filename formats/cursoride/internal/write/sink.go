package write

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"rehome/formats"
	"rehome/formats/internal/agentstate"
	"rehome/formats/internal/agentwrite"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// Writer returns how sessions are written to a new user dir.
func Writer() *formats.Writer {
	return &formats.Writer{
		New:     func() formats.Sink { return &sink{} },
		ID:      ComposerID,
		Path:    ComposerID,
		Folders: true,
		Join:    join,
		Losses:  append(agentwrite.Losses(), loss.TitleFromPrompt, loss.PartHidden),
	}
}

// Files of a draft.
const (
	rowsFile  = "rows"
	headsFile = "heads"
)

// sink writes families, one after the other.
type sink struct{ open *family }

// family is a session and its subagents.
type family struct {
	build   formats.SessionBuild
	disk    *disk
	root    *composer
	members map[string]*composer // by the id of the session
	stored  []byte               // the blob that was stored last, if it is wanted
	wanted  bool
}

// errUnfinished is the error of a family that another one follows before it is finished.
var errUnfinished = errors.New("the sessions of the previous draft are not finished")

// Put writes a session.
func (k *sink) Put(ctx context.Context, s *session.Session, b formats.SessionBuild) (*formats.Draft, error) {
	if s.Parent != nil && b.Root != nil && k.open != nil && k.open.root.s.ID == b.Root.ID {
		return &formats.Draft{Within: true}, k.open.subagent(ctx, s, b)
	}
	if k.open != nil {
		err := errors.Join(errUnfinished, k.open.disk.close())
		k.open = nil
		return nil, err
	}
	if err := os.Mkdir(b.Path, 0o700); err != nil {
		return nil, err
	}
	d, err := newDisk(filepath.Join(b.Path, rowsFile))
	if err != nil {
		return nil, err
	}
	f := &family{build: b, disk: d, members: map[string]*composer{}}
	f.root = f.composer(s, b, nil)
	if s.Parent != nil {
		f.root.note(loss.LinkDropped)
	}
	if err := f.root.converse(ctx, s); err != nil {
		return nil, errors.Join(err, d.close())
	}
	f.members[s.ID] = f.root
	k.open = f
	return &formats.Draft{Verify: func(ctx context.Context) error { return verify(ctx, b.Path) }}, nil
}

// Finish completes the draft of the family that is open.
func (k *sink) Finish(ctx context.Context) error {
	f := k.open
	k.open = nil
	if f == nil {
		return nil
	}
	var heads []byte
	err := f.root.adopt(ctx)
	if err == nil {
		err = f.root.finish(ctx, &heads)
	}
	if err = errors.Join(err, f.disk.close()); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(f.build.Path, headsFile), heads, 0o600)
}

// subagent writes a subagent. If that fails, nothing of it is left.
func (f *family) subagent(ctx context.Context, s *session.Session, b formats.SessionBuild) error {
	parent := f.members[s.Parent.Session]
	if parent == nil {
		parent = f.root // its own parent was not written
	}
	c := f.composer(s, b, parent)
	f.disk.mark()
	if err := c.converse(ctx, s); err != nil {
		return errors.Join(err, f.disk.reset())
	}
	parent.children = append(parent.children, c)
	f.members[s.ID] = c
	return nil
}

// put writes a blob of the agents' states.
func (f *family) put(ctx context.Context, id agentstate.ID, data []byte) error {
	if f.wanted {
		f.stored = append(f.stored[:0], data...)
	}
	if key := blobKey(id); f.disk.once(key) {
		f.disk.row(key, data, true)
	}
	return ctx.Err()
}

func (c *composer) note(code loss.Code) {
	c.build.OnLoss.Add(loss.Loss{Code: code, At: store.Addr{File: c.s.ID}})
}

// noteAt reports what is lost of a message.
func (c *composer) noteAt(m *session.Message, code loss.Code) {
	c.build.OnLoss.Add(loss.Loss{Code: code, At: store.Addr{File: agentwrite.Place(m)}})
}

// converse writes the messages and files of a session, and calls that have no result.
func (c *composer) converse(ctx context.Context, s *session.Session) error {
	if err := c.talk.Tell(ctx, s, c.message, nil); err != nil {
		return err
	}
	c.settle(0)
	return nil
}

// adopt gives the state of a session those of its subagents, theirs first.
func (c *composer) adopt(ctx context.Context) error {
	for _, kid := range c.children {
		if err := kid.adopt(ctx); err != nil {
			return err
		}
		if len(c.same) > 0 {
			continue // it is in the state that was copied
		}
		h := kid.s.Head
		h.ID = kid.id
		if err := c.talk.Adopt(ctx, &h, kid.talk); err != nil {
			return err
		}
	}
	return nil
}

package sdkwrite

import (
	"context"
	"errors"

	"rehome/formats"
	"rehome/formats/internal/agentwrite"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// Writer returns how sessions are written as agents of the SDK.
func Writer() *formats.Writer {
	return &formats.Writer{
		New:     func() formats.Sink { return &sink{} },
		ID:      AgentID,
		Path:    path,
		Folders: true,
		Join:    join,
		Losses:  append(agentwrite.Losses(), loss.TitleFromPrompt, loss.TimeUnknown),
	}
}

// sink writes families, one after the other.
type sink struct {
	open *family
}

// family is an agent that is being written, and its subagents.
type family struct {
	*agent
	root    *member
	members map[string]*member // by the id of the session
}

// member is a session of a family.
type member struct {
	head     session.Head
	talk     *agentwrite.Conversation
	children []*member
}

// errUnfinished is the error of a family that another one follows before it is finished.
var errUnfinished = errors.New("the sessions of the previous draft are not finished")

// Put writes a session.
func (k *sink) Put(ctx context.Context, s *session.Session, b formats.SessionBuild) (*formats.Draft, error) {
	if s.Parent != nil && b.Root != nil && k.open != nil && k.open.root.head.ID == b.Root.ID {
		return &formats.Draft{Within: true}, k.open.subagent(ctx, s, b)
	}
	if k.open != nil {
		err := errors.Join(errUnfinished, k.open.close())
		k.open = nil
		return nil, err
	}
	a, err := newAgent(s, b)
	if err != nil {
		return nil, err
	}
	f := &family{agent: a, root: &member{head: s.Head}, members: map[string]*member{}}
	f.members[s.ID] = f.root
	o := f.options(b)
	o.Runs = a
	f.root.talk = agentwrite.New(a.bare(s), o)
	if err := f.converse(ctx, s, f.root.talk, true); err != nil {
		return nil, errors.Join(err, f.close())
	}
	k.open = f
	return &formats.Draft{Verify: func(ctx context.Context) error { return verify(ctx, b.Path, a.before) }}, nil
}

// Finish completes the draft of the family that is open. Canceled, it only closes it.
func (k *sink) Finish(ctx context.Context) error {
	f := k.open
	k.open = nil
	if f == nil {
		return nil
	}
	return errors.Join(f.finish(ctx), f.close())
}

// options are those of a conversation whose blobs are in the draft.
func (f *family) options(b formats.SessionBuild) agentwrite.Options {
	return agentwrite.Options{Put: f.blobs.put, Cwd: b.Cwd, DropThinking: b.DropThinking, FullHistory: b.FullHistory, Events: true, OnLoss: b.OnLoss}
}

// subagent writes a subagent. If that fails, nothing of it is left.
func (f *family) subagent(ctx context.Context, s *session.Session, b formats.SessionBuild) error {
	parent := f.members[s.Parent.Session]
	if parent == nil {
		parent = f.root // its own parent was not written
	}
	m := &member{head: s.Head, talk: agentwrite.New(s, f.options(b))}
	f.blobs.mark()
	if err := f.converse(ctx, s, m.talk, false); err != nil {
		return errors.Join(err, f.blobs.reset())
	}
	parent.children = append(parent.children, m)
	f.members[s.ID] = m
	return nil
}

// converse writes the messages and files of a session. Only those of an agent are in the
// transcript.
func (f *family) converse(ctx context.Context, s *session.Session, talk *agentwrite.Conversation, copied bool) error {
	if s.Messages != nil {
		for m, err := range s.Messages {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			if copied {
				f.message(m)
			}
			if err := talk.Message(ctx, m); err != nil {
				return err
			}
			if copied {
				f.copy.end()
			}
		}
	}
	if s.Files != nil {
		for file, err := range s.Files {
			if err == nil {
				err = ctx.Err()
			}
			if err == nil {
				err = talk.File(ctx, file)
			}
			if err != nil {
				return err
			}
		}
	}
	return talk.End(ctx)
}

// finish writes what needs the root of the conversation.
func (f *family) finish(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := f.root.adopt(ctx); err != nil {
		return err
	}
	root, err := f.root.talk.Root(ctx)
	if err != nil {
		return err
	}
	return f.end(root.String())
}

// adopt gives a conversation its subagents, those of subagents first.
func (m *member) adopt(ctx context.Context) error {
	for _, c := range m.children {
		if err := c.adopt(ctx); err != nil {
			return err
		}
		if err := m.talk.Adopt(ctx, &c.head, c.talk); err != nil {
			return err
		}
	}
	return nil
}

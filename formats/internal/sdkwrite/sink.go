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
	*agentwrite.Family
}

// errUnfinished is the error of a family that another one follows before it is finished.
var errUnfinished = errors.New("the sessions of the previous draft are not finished")

// Put writes a session.
func (k *sink) Put(ctx context.Context, s *session.Session, b formats.SessionBuild) (*formats.Draft, error) {
	if k.open != nil && k.open.Includes(s, b.Root) {
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
	if s.Parent != nil {
		a.note(loss.LinkDropped)
	}
	s = a.besides(s)
	o := a.options(b)
	o.Runs = a
	if b.Continues != nil {
		o.Continues = b.Continues.Graph
	}
	talk := agentwrite.New(a.bare(s), o)
	f := &family{agent: a, Family: agentwrite.NewFamily(&s.Head, talk)}
	if err := talk.Tell(ctx, s, a.message, func(*session.Message) { a.copy.end() }); err != nil {
		return nil, errors.Join(err, f.close())
	}
	k.open = f
	return &formats.Draft{Verify: func(ctx context.Context) error { return verify(ctx, b.Path, a.before, a.turns) }}, nil
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
func (a *agent) options(b formats.SessionBuild) agentwrite.Options {
	return agentwrite.Options{Put: a.blobs.put, Cwd: b.Cwd, DropThinking: b.DropThinking, FullHistory: b.FullHistory, Events: true, OnLoss: b.OnLoss}
}

// subagent writes a subagent. If that fails, nothing of it is left.
func (f *family) subagent(ctx context.Context, s *session.Session, b formats.SessionBuild) error {
	talk := agentwrite.New(s, f.options(b))
	if err := f.blobs.mark(); err != nil {
		return err
	}
	if err := talk.Tell(ctx, s, nil, nil); err != nil {
		return errors.Join(err, f.blobs.reset())
	}
	f.Add(&s.Head, talk)
	return nil
}

// finish writes what needs the root of the conversation.
func (f *family) finish(ctx context.Context) error {
	root, err := f.Root(ctx)
	if err != nil {
		return err
	}
	return f.end(root.String())
}

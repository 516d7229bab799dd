package pipe

import (
	"context"
	"errors"
	"fmt"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// family is a session with its subagents, which the sink writes into one draft. Their
// results wait until the draft is complete, and then follow in the order of the
// sessions. A session that fails takes its subagents with it. A subagent that fails is
// left out with those below it, which is a loss of the outermost session.
type family struct {
	pipe    *Pipe
	sink    formats.FamilySink
	ids     map[string]*Result // of its sessions; nil if no family is open
	root    *Result
	results []waiting
}

// waiting is a result that waits for the draft of its family.
type waiting struct {
	*Result
	judge *judge
}

// enter begins with a session: it ends the family before, unless the session is part of
// it. old is the id that the decoder gave to the session. The error of a session says
// why it cannot be written.
func (f *family) enter(ctx context.Context, s *session.Session, old string, r *Result) error {
	if f == nil {
		return nil
	}
	if s.Parent != nil && s.Parent.Session == old {
		s.Parent = nil // no session is its own subagent: Plan says so, too
	}
	var parent *Result
	if s.Parent != nil {
		parent = f.ids[s.Parent.Session]
	}
	if parent == nil {
		if err := f.end(ctx); f.pipe.Fatal(err) {
			return err
		}
		f.ids, f.root = map[string]*Result{}, r
	}
	f.ids[old], f.ids[r.ID] = r, r
	switch {
	case parent == nil && s.Parent != nil && r.Plan.Build.Root != nil:
		return &formats.Error{At: r.ID, Err: fmt.Errorf("a subagent of session %q, but not next to it in the source", s.Parent.Session),
			Hint: "convert the source to a folder of canonical text first, which puts them in order"}
	case parent == nil:
		return nil
	}
	r.Root = f.root
	if parent.Err != nil {
		return &formats.Error{At: r.ID, Err: fmt.Errorf("its parent session %q was not written", s.Parent.Session), Hint: formats.Hint(parent.Err)}
	}
	return nil
}

// end completes the draft of the family, and lets its results go.
func (f *family) end(ctx context.Context) error {
	if f == nil || f.ids == nil {
		return nil
	}
	root, all := f.root, f.results
	f.ids, f.root, f.results = nil, nil, nil
	if root.Err == nil && root.Draft != nil {
		root.Err = f.sink.Finish(ctx)
	}
	var failed []loss.Loss // which have results of their own
	for _, r := range all {
		switch r.Worst = r.Losses.Worst(); {
		case r.Root == nil:
		case r.Err != nil && root.Err == nil:
			n := loss.Loss{Code: loss.SubagentFailed}
			n.At.File = r.ID
			failed = append(failed, n)
		case r.Draft != nil && r.Draft.Within:
			r.Path = ""
			root.Worst = max(root.Worst, r.Worst)
		}
	}
	for _, n := range failed {
		f.pipe.lose(root, n)
	}
	var errs []error
	for _, r := range all {
		if r.Draft != nil && r.Draft.Within {
			r.Worst = root.Worst
		}
		err := f.pipe.pass(ctx, r.Result, r.judge)
		if errs = append(errs, err); f.pipe.Fatal(err) {
			return err
		}
	}
	return errors.Join(errs...)
}

// abandon removes the draft of a family that was not completed.
func (f *family) abandon() {
	if f == nil {
		return
	}
	if f.ids != nil && f.root.Draft != nil {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		f.sink.Finish(ctx) // it fails, and closes what the draft has open
	}
	for _, r := range f.results {
		r.Remove()
	}
}

// lose adds a loss to a session that was read before.
func (p *Pipe) lose(r *Result, n loss.Loss) {
	r.Losses.Add(n)
	p.OnLoss.Add(n)
}

// errRootFailed is the error of a subagent whose draft is that of a session that failed.
func errRootFailed(r *Result) error {
	return &formats.Error{At: r.ID, Err: fmt.Errorf("its parent session %q was not written", r.Root.ID), Hint: formats.Hint(r.Root.Err)}
}

package convert

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/shell"
)

// BackSource is a session, and the store that holds it.
type BackSource struct {
	Path   string // of the store; of the original: its file
	Format string
	ID     string
	Folder string // of the session, as sessions.List found it; "" = what it states
}

// Back appends the turns with which a migrated session was continued to the session that
// it was made from. Both must begin with the same turns, and the original must have no
// others. MigrateOptions.To and Dir are those of the original's client.
func Back(ctx context.Context, reg *formats.Registry, from, original BackSource, o MigrateOptions) (*Migration, error) {
	b := &bringing{reg: reg, from: from, original: original, o: o, to: reg.Lookup(original.Format)}
	if b.to == nil || b.to.Writer == nil || !b.to.Writer.Appends && (b.to.Writer.Into == nil || b.to.Writer.Into.Extend == nil) {
		return nil, &formats.Error{At: original.Format, Err: errors.New("turns cannot be appended to sessions of this format"), Hint: "run `rehome migrate` without --back to make a new session of it"}
	}
	if info, err := os.Stat(original.Path); b.to.Writer.Appends && (err != nil || !info.Mode().IsRegular()) {
		return nil, &formats.Error{At: original.Path, Err: errors.New("not the file of a session"), Hint: "the session must be where its client looks for it"}
	}
	if err := b.run(ctx); err != nil {
		return nil, err
	}
	return &Migration{To: original.Format, Dir: o.Dir, DryRun: o.DryRun, Migrated: []Migrated{b.rep}}, nil
}

// bringing is one call of Back.
type bringing struct {
	reg            *formats.Registry
	from, original BackSource
	to             *formats.Format
	o              MigrateOptions
	losses         loss.Log
	rep            Migrated
	was, is        outlined // the two sessions
	added          outlined // what comes back
}

func (b *bringing) run(ctx context.Context) (err error) {
	if b.was, err = b.outline(ctx, b.original, nil); err != nil {
		return err
	}
	turns := len(b.was.prompts)
	if b.is, err = b.outline(ctx, b.from, &b.was); err != nil {
		return err
	}
	common := 0
	for common < min(turns, len(b.is.prompts)) && b.was.prompts[common].same(b.is.prompts[common]) {
		common++
	}
	b.rep = Migrated{Source: b.from.Path, ID: b.from.ID, Agent: b.is.head.Agent, Title: b.is.head.Title, Status: Same, Cwd: cmp.Or(b.original.Folder, b.was.head.Workspace), Session: b.original.ID, File: b.original.Path, Losses: []loss.Group{}}
	switch {
	case common == len(b.is.prompts) && (common < turns || !b.is.grown):
		return nil // there is nothing new
	case common < turns:
		return &formats.Error{At: b.original.ID, Err: fmt.Errorf("both this session and %s were continued after turn %d", b.from.ID, common), Hint: "run `" + shell.Command("rehome", "migrate", b.from.ID, "--again") + "` to make a session of its own of the other one"}
	}
	b.rep.Turns = int64(len(b.is.prompts) - common)
	if b.to.Writer.Appends {
		return b.append(ctx)
	}
	return b.extend(ctx)
}

// pass passes on a session, then each of its subagents.
func (b *bringing) pass(ctx context.Context, of BackSource, root, subagent func(s *session.Session) error) error {
	loc, err := formats.Locate(of.Path)
	if err != nil {
		return err
	}
	v := formats.View{Secrets: formats.WithholdSecrets, OnNotice: b.o.OnNotice, Live: b.o.Live, Jobs: 1}
	if v.OnNotice == nil {
		v.OnNotice = func(string) {}
	}
	ids, err := withSubagents(ctx, b.reg, MigrateSource{Path: of.Path, Sessions: []string{of.ID}}, b.o.Live, 1)
	if err != nil {
		return err
	}
	slices.Sort(ids)
	found := false
	for s, err := range b.reg.Lookup(of.Format).Sessions.Decode(ctx, loc, v, session.Selection{IDs: ids, Sorted: true, Inner: true}) {
		switch {
		case err != nil:
			return err
		case s.ID == of.ID && !found:
			found = true
			err = root(s)
		default:
			err = subagent(s)
		}
		if err != nil {
			return err
		}
	}
	if !found {
		return &formats.Error{At: of.Path, Err: errors.New("no session " + of.ID), Hint: "run `rehome ls` to list sessions"}
	}
	return nil
}

// verify reads the original again, and compares it with what it should have now.
func (b *bringing) verify(ctx context.Context, at BackSource) error {
	now, err := b.outline(ctx, at, nil)
	if err != nil {
		return err
	}
	want, is := [3]int{b.was.calls + b.added.calls, b.was.results + b.added.results, b.added.subagents}, [3]int{now.calls, now.results, now.subagents}
	if at.Path == b.original.Path {
		want[2] += b.was.subagents
	}
	if !slices.EqualFunc(now.prompts, b.is.prompts, prompt.same) || is[0] != want[0] || is[1] < want[1] || is[2] != want[2] {
		return &formats.Error{Format: b.to.Name, Op: "verify", At: b.original.Path, Err: fmt.Errorf("%d turns, %d calls, %d results and %d subagents were read back instead of %d, %d, %d and %d",
			len(now.prompts), is[0], is[1], is[2], len(b.is.prompts), want[0], want[1], want[2]), Hint: bugHint}
	}
	return nil
}

// copyHashed copies a file, unless to is "", and returns its digest and length.
func copyHashed(from, to string) (sum string, size int64, err error) {
	in, err := os.Open(from)
	if err != nil {
		return "", 0, err
	}
	defer in.Close()
	h := sha256.New()
	w := io.Writer(h)
	if to != "" {
		out, e := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if e != nil {
			return "", 0, e
		}
		defer func() { err = errors.Join(err, out.Close()) }()
		w = io.MultiWriter(h, out)
	}
	size, err = io.Copy(w, in)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

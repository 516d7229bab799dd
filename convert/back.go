package convert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rehome/convert/internal/stage"
	"rehome/convert/internal/undo"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// BackSource is a session, and the store that holds it.
type BackSource struct {
	Path   string // of the store; of the original: its file
	Format string
	ID     string
}

// Back appends the turns with which a migrated session was continued to the session that
// it was made from. Both must begin with the same turns, and the original must have no
// others. MigrateOptions.To and Dir are those of the original's client.
func Back(ctx context.Context, reg *formats.Registry, from, original BackSource, o MigrateOptions) (*Migration, error) {
	b := &bringing{reg: reg, from: from, original: original, o: o, to: reg.Lookup(original.Format)}
	if b.to == nil || b.to.Writer == nil || b.to.Writer.Append == nil && b.to.Writer.Into == nil {
		return nil, &formats.Error{At: original.Format, Err: errors.New("turns cannot be appended to sessions of this format"), Hint: "run `rehome migrate` without --back to make a new session of it"}
	}
	if info, err := os.Stat(original.Path); b.to.Writer.Append != nil && (err != nil || !info.Mode().IsRegular()) {
		return nil, &formats.Error{At: original.Path, Err: errors.New("not the file of a session"), Hint: "the session must be where its client looks for it"}
	}
	m, err := b.run(ctx)
	if err != nil {
		return nil, err
	}
	return &Migration{To: original.Format, Dir: o.Dir, DryRun: o.DryRun, Migrated: []Migrated{*m}}, nil
}

// bringing is one call of Back.
type bringing struct {
	reg            *formats.Registry
	from, original BackSource
	to             *formats.Format
	o              MigrateOptions
	losses         loss.Log
	rep            Migrated
}

func (b *bringing) run(ctx context.Context) (*Migrated, error) {
	was, err := b.outline(ctx, b.original)
	if err != nil {
		return nil, err
	}
	is, err := b.outline(ctx, b.from)
	if err != nil {
		return nil, err
	}
	common := 0
	for common < min(len(was.prompts), len(is.prompts)) && was.prompts[common] == is.prompts[common] {
		common++
	}
	b.rep = Migrated{Source: b.from.Path, ID: b.from.ID, Agent: is.head.Agent, Title: is.head.Title, Status: Same, Cwd: was.head.Workspace, Session: b.original.ID, File: b.original.Path, Losses: []loss.Group{}}
	switch {
	case common == len(is.prompts):
		return &b.rep, nil // there is nothing new
	case common < len(was.prompts):
		return nil, &formats.Error{At: b.original.ID, Err: fmt.Errorf("both this session and %s were continued after turn %d", b.from.ID, common), Hint: "run `rehome migrate " + b.from.ID + " --again` to make a session of its own of the other one"}
	}
	b.rep.Turns = int64(len(is.prompts) - common)
	if b.to.Writer.Append == nil {
		return &b.rep, b.extend(ctx, common, is)
	}
	return &b.rep, b.append(ctx, common, is)
}

// outlined is what decides how two sessions continue each other.
type outlined struct {
	head    session.Head
	prompts []string // of each turn, as a digest
	calls   int
	results int
}

// each passes on a session.
func (b *bringing) each(ctx context.Context, of BackSource, f func(s *session.Session) error) error {
	loc, err := formats.Locate(of.Path)
	if err != nil {
		return err
	}
	found := false
	v := formats.View{Secrets: formats.WithholdSecrets, OnNotice: b.o.OnNotice, Live: b.o.Live, Jobs: 1}
	if v.OnNotice == nil {
		v.OnNotice = func(string) {}
	}
	for s, err := range b.reg.Lookup(of.Format).Sessions.Decode(ctx, loc, v, session.Selection{IDs: []string{of.ID}, Sorted: true}) {
		if err != nil {
			return err
		}
		if s.ID == of.ID && !found {
			found = true
			if err := f(s); err != nil {
				return err
			}
			continue
		}
		for _, err := range s.Messages { // a subagent
			if err != nil {
				return err
			}
		}
	}
	if !found {
		return &formats.Error{At: of.Path, Err: errors.New("no session " + of.ID), Hint: "run `rehome ls` to list sessions"}
	}
	return nil
}

func (b *bringing) outline(ctx context.Context, of BackSource) (out outlined, err error) {
	err = b.each(ctx, of, func(s *session.Session) error {
		out.head = s.Head
		for m, err := range s.Messages {
			if err != nil {
				return err
			}
			out.add(m)
		}
		return nil
	})
	return out, err
}

func (o *outlined) add(m *session.Message) {
	sum := sha256.New()
	for _, p := range m.Parts {
		switch p := p.(type) {
		case *session.Text:
			io.WriteString(sum, strings.TrimSpace(p.Text)+"\n")
		case *session.ToolCall:
			o.calls++
		case *session.ToolResult:
			o.results++
		}
	}
	if m.Turn != nil && m.Role == session.User {
		o.prompts = append(o.prompts, hex.EncodeToString(sum.Sum(nil)[:8]))
	}
}

// append appends the turns after the first ones to a copy of the original, verifies it,
// and puts it in place of the original.
func (b *bringing) append(ctx context.Context, common int, is outlined) (err error) {
	staged, remove, err := stageBeside(b.original.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	before, size, err := copyHashed(b.original.Path, staged)
	if err != nil {
		return &formats.Error{At: b.original.Path, Err: formats.Cause(err)}
	}
	old, err := b.outline(ctx, BackSource{staged, b.original.Format, b.original.ID})
	if err != nil {
		return err
	}
	added := outlined{}
	err = b.each(ctx, b.from, func(s *session.Session) error {
		rest := *s
		rest.Files, rest.Messages = nil, b.after(s.Messages, common, &added)
		return b.to.Writer.Append(ctx, staged, &rest, formats.SessionBuild{Cwd: b.rep.Cwd, DropThinking: b.o.DropThinking, FullHistory: b.o.FullHistory, OnLoss: b.losses.Add})
	})
	if err != nil {
		return err
	}
	b.rep.Losses = append(b.rep.Losses, b.losses.Groups()...)
	now, err := b.outline(ctx, BackSource{staged, b.original.Format, b.original.ID})
	if err != nil {
		return err
	}
	if !slices.Equal(now.prompts, is.prompts) || now.calls != old.calls+added.calls || now.results < old.results+added.results {
		return &formats.Error{Format: b.to.Name, Op: "verify", At: b.original.Path, Err: fmt.Errorf("%d turns, %d calls and %d results were read back instead of %d, %d and %d", len(now.prompts), now.calls, now.results, len(is.prompts), old.calls+added.calls, old.results+added.results), Hint: bugHint}
	}
	if b.o.DryRun {
		b.rep.Status = Checked
		return nil
	}
	return b.replace(staged, before, size)
}

// stageBeside returns a path in a private folder for what is to replace a file. The name
// is the same.
func stageBeside(path string) (staged string, remove func() error, err error) {
	at, err := stage.Resolve(path)
	if err != nil {
		return "", nil, err
	}
	stage.Sweep(at, func(string) {})
	dir, err := stage.New(at)
	if err != nil {
		return "", nil, err
	}
	return filepath.Join(dir.Root, filepath.Base(path)), dir.Remove, nil
}

// after passes on the messages after the first turns.
func (b *bringing) after(all iter.Seq2[*session.Message, error], turns int, added *outlined) iter.Seq2[*session.Message, error] {
	return func(yield func(*session.Message, error) bool) {
		for m, err := range all {
			if err != nil {
				yield(nil, err)
				return
			}
			if m.Turn != nil && m.Role == session.User {
				turns--
			}
			if turns < 0 {
				b.rep.Messages++
				added.add(m)
				if !yield(m, nil) {
					return
				}
			}
		}
	}
}

// replace puts the staged file in place of the original, unless that has changed. Its
// length and digest are recorded first.
func (b *bringing) replace(staged, before string, size int64) (err error) {
	path := b.original.Path
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	after, _, err := copyHashed(staged, "")
	if err == nil {
		err = errors.Join(os.Chmod(staged, info.Mode().Perm()), stage.SyncFile(staged))
	}
	if err != nil {
		return err
	}
	folder := undo.Folder{Dir: b.o.UndoDir}
	log, err := folder.Begin(undo.Record{Made: b.now(), Format: b.to.Name, Store: path, Session: b.original.ID, Title: b.rep.Title, Files: []undo.File{{Path: path, Size: size, Before: before, After: after}}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if err := log.Save(nil); err != nil {
		return err
	}
	is, _, err := copyHashed(path, "")
	if err == nil && is != before {
		err = formats.Changed(b.to.Name, path)
	}
	if err == nil {
		err = os.Rename(staged, path)
	}
	if err != nil {
		return errors.Join(err, folder.Remove(log.Record.ID))
	}
	b.rep.Status, b.rep.Undo = Updated, log.Record.ID
	return stage.SyncFolder(filepath.Dir(path))
}

func (b *bringing) now() time.Time {
	if b.o.Now != nil {
		return b.o.Now().UTC().Truncate(time.Second)
	}
	return time.Now().UTC().Truncate(time.Second)
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

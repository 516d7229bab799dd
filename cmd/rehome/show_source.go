package main

import (
	"context"
	"iter"
	"os"

	"rehome/cmd/rehome/internal/prose"
	"rehome/convert"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// viewing is one call of show.
type viewing struct {
	*house
	cmd    *showCmd
	form   string
	turns  prose.Turns
	source string // what commands call the store; "" for a pipe
	live   bool   // its sessions are shown as they come
	lost   loss.Log
}

// decoding begins to decode; a second pass over a file calls it again.
type decoding func(ctx context.Context, v formats.View) iter.Seq2[*session.Session, error]

func (v *viewing) selection(id string) session.Selection {
	sel := session.Selection{History: v.cmd.History}
	if id != "" {
		sel.IDs = []string{id}
	}
	return sel
}

// stored decodes a session that lies in a store.
func (v *viewing) stored(c chosen) decoding {
	return func(ctx context.Context, view formats.View) iter.Seq2[*session.Session, error] {
		return func(yield func(*session.Session, error) bool) {
			f, l, err := v.decoder(c.path)
			if err != nil {
				yield(nil, err)
				return
			}
			convert.NewFolders(v.reg, append(here(), c.folder)...).Decode(ctx, f, l, view, v.selection(c.session))(yield)
		}
	}
}

// decoder is the format that can tell what a store's sessions say.
func (v *viewing) decoder(path string) (*formats.Format, *formats.Location, error) {
	l, err := formats.Locate(path)
	if err != nil {
		return nil, nil, err
	}
	found, err := v.reg.Detect(v.ctx, l)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range found {
		if d.Format.Decode != nil {
			return d.Format, l, nil
		}
	}
	if len(found) > 0 {
		return nil, nil, v.notYet(found[0].Format.Name, path, convert.ErrNotYet)
	}
	return nil, nil, &formats.Error{At: path, Err: formats.ErrUnknown, Hint: "name the store itself"}
}

// notYet is the error of a store that cannot be shown. Most text can be
// restored to the store it came from.
func (h *house) notYet(format, path string, err error) error {
	hint := "`rehome convert` can convert the whole store"
	if f := h.reg.Lookup(format); f != nil && f.Text && f.Open != nil {
		hint = "restore it first: rehome convert ARCHIVE STORE"
	}
	return &formats.Error{Format: format, At: path, Err: err, Hint: hint}
}

// pipe shows what comes through stdin: as it comes, where the format can be
// read so and no later part decides what is shown.
func (v *viewing) pipe() error {
	if !v.turns.FromEnd() && !isTerminal(os.Stdin) {
		f, r, s, err := v.follow(os.Stdin)
		if err != nil {
			return err
		}
		defer s.remove()
		if f != nil {
			v.live = true
			return v.show(func(ctx context.Context, view formats.View) iter.Seq2[*session.Session, error] {
				return f.Stream(ctx, r, view, v.selection(""))
			})
		}
		return s.restate(v.show(v.stored(chosen{path: s.path})))
	}
	s, err := v.stdin(stdinName)
	if err != nil {
		return err
	}
	defer s.remove()
	return s.restate(v.show(v.stored(chosen{path: s.path})))
}

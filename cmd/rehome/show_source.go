package main

import (
	"context"
	"iter"
	"os"

	"rehome/cmd/rehome/internal/prose"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// viewer is one invocation of show.
type viewer struct {
	*app
	cmd       *showCmd
	format    string
	turns     prose.Turns
	source    string // path of the store, for commands; "" for stdin
	streaming bool   // sessions are printed as they arrive
	lost      loss.Log
}

// decodeFunc decodes sessions. It can be called again for a second pass, except
// on a stream.
type decodeFunc func(ctx context.Context, v formats.View) iter.Seq2[*session.Session, error]

func (v *viewer) selection(id string) session.Selection {
	sel := session.Selection{History: v.cmd.History}
	if id != "" {
		sel.IDs = []string{id}
	}
	return sel
}

// storeDecoder returns a function that decodes a session, or all sessions, of a store.
func (v *viewer) storeDecoder(c source) decodeFunc {
	return func(ctx context.Context, view formats.View) iter.Seq2[*session.Session, error] {
		return func(yield func(*session.Session, error) bool) {
			f, l, err := v.findDecoder(c.path)
			if err != nil {
				yield(nil, err)
				return
			}
			sessions.NewFolders(v.reg, append(workingDirs(), c.folder)...).Decode(ctx, f, l, view, v.selection(c.session))(yield)
		}
	}
}

// findDecoder returns the format that decodes the sessions of a store.
func (v *viewer) findDecoder(path string) (*formats.Format, *formats.Location, error) {
	l, err := formats.Locate(path)
	if err != nil {
		return nil, nil, err
	}
	found, err := v.reg.Detect(v.ctx, l)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range found {
		if f := sessions.Readable(v.reg, d.Format); f.Sessions != nil {
			return f, l, nil
		}
	}
	if len(found) > 0 {
		return nil, nil, v.notReadable(found[0].Format.Name, path, sessions.ErrUnsupported)
	}
	return nil, nil, &formats.Error{At: path, Err: formats.ErrUnknown, Hint: "run `rehome formats` to list the supported formats"}
}

// notReadable returns the error for a store whose sessions cannot be read.
func (a *app) notReadable(format, path string, err error) error {
	return &formats.Error{Format: format, At: path, Err: err, Hint: "`rehome convert` can convert the whole store"}
}

// showStdin prints the sessions that arrive on stdin. It prints them as they
// arrive if the format can be read that way and the range of turns does not
// count from the end.
func (v *viewer) showStdin() error {
	if !v.turns.FromEnd() && !isTerminal(os.Stdin) {
		f, r, s, err := v.openStream(os.Stdin)
		if err != nil {
			return err
		}
		defer s.remove()
		if f != nil {
			v.streaming = true
			return v.show(func(ctx context.Context, view formats.View) iter.Seq2[*session.Session, error] {
				return f.Sessions.Stream(ctx, r, view, v.selection(""))
			})
		}
		return s.restate(v.show(v.storeDecoder(source{path: s.path})))
	}
	s, err := v.stdin(stdinName)
	if err != nil {
		return err
	}
	defer s.remove()
	return s.restate(v.show(v.storeDecoder(source{path: s.path})))
}

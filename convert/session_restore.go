package convert

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"rehome/convert/internal/stage"
	"rehome/formats"
	"rehome/formats/loss"
)

// tryOpen opens and closes a store that was detected by its name alone, and
// returns what is wrong with it.
func (c *sessionStore) tryOpen(ctx context.Context, from *formats.Format) error {
	if from.Records == nil {
		return nil
	}
	v := formats.FullView(1)
	v.Live, v.OnNotice, v.Verbose = c.opts.Live, c.say, c.opts.Verbose
	r, err := from.Records.Open(ctx, c.at.Loc, v)
	if err != nil {
		return err
	}
	return r.Close()
}

// restore restores the store in a text to a private folder, for formats that
// can only decode the store itself.
func (c *sessionStore) restore(ctx context.Context, text *formats.Format) (*formats.Format, *formats.Location, error) {
	refuse := func(err error) (*formats.Format, *formats.Location, error) {
		return nil, nil, &formats.Error{Format: text.Name, At: c.at.Loc.Path, Err: err, Hint: "run `rehome formats` to see which formats have sessions"}
	}
	if text.Records == nil || !text.Text {
		if err := c.tryOpen(ctx, text); err != nil {
			return nil, nil, err
		}
		return refuse(fmt.Errorf("no exact conversion to %s, and sessions cannot be read from this format", c.to.Name))
	}
	origin, err := c.originOf(ctx, text, c.at.Loc)
	if err != nil {
		return nil, nil, err
	}
	of := c.reg.Lookup(origin)
	if of == nil || of.Sessions == nil || of.Records == nil || !formats.Related(text, of) {
		return refuse(fmt.Errorf("made from %q, a format whose sessions cannot be read", origin))
	}
	// Clients name stores after the folders they are in, so those two names
	// stay.
	at, err := filepath.Abs(c.at.Loc.Path)
	if err != nil {
		return nil, nil, err
	}
	dst := filepath.Join(c.restoreDir(), "folder-"+filepath.Base(filepath.Dir(at)), filepath.Base(at))
	if parent := filepath.Base(filepath.Dir(at)); parent != string(filepath.Separator) && !strings.ContainsAny(parent, `:\/`) {
		dst = filepath.Join(c.restoreDir(), parent, filepath.Base(at))
	}
	if err := os.MkdirAll(filepath.Dir(dst), 0o777); err != nil {
		return nil, nil, err
	}
	rep, err := convertWith(ctx, c.reg, c.at.Loc.Path, dst, Options{From: text.Name, To: origin, Allow: loss.Unreadable, Sidecar: "none", Jobs: c.pipe.Jobs, OnNotice: c.opts.OnNotice}, stage.Move)
	if err == nil && !rep.Placed {
		err = errors.New("the store cannot be restored from its text")
	}
	if err != nil {
		return nil, nil, formats.ReplacePath(err, dst, c.at.Loc.Path)
	}
	loc, err := formats.Locate(dst)
	return of, loc, err
}

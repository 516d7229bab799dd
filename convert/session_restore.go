package convert

import (
	"context"
	"fmt"

	"rehome/convert/sessions"
	"rehome/formats"
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
	if text.Records == nil || !text.Text {
		if err := c.tryOpen(ctx, text); err != nil {
			return nil, nil, err
		}
		return nil, nil, &formats.Error{Format: text.Name, At: c.at.Loc.Path, Err: fmt.Errorf("no exact conversion to %s, and sessions cannot be read from this format", c.to.Name), Hint: "run `rehome formats` to see which formats have sessions"}
	}
	return sessions.Restore(ctx, c.reg, text, c.at.Loc, c.restoreDir(), formats.View{OnNotice: c.say, Verbose: c.opts.Verbose, Jobs: c.pipe.Jobs}, 0)
}

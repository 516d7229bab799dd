package convert

import (
	"context"
	"encoding/json"
	"os"
	"slices"

	"rehome/formats"
	"rehome/formats/loss"
)

// An update of text from records reads only what changed in a store since the
// previous one, if that is known: the source proves what changed (see
// formats.Changes), and the target is as the previous update wrote it. Then only the
// shards that changed are staged, and all other files stay.

// openChanges opens what changed in the source since the previous update; nil if the
// source has to be read as a whole.
func (c *exactConversion) openChanges(ctx context.Context, from, to *formats.Format, v formats.View) *formats.Changes {
	u, o := c.update, c.opts
	if u == nil || o.Redact != nil || u.state == "" || from.Records.Changes == nil || to.Records.ShardFiles == nil || c.kind != formats.Tables ||
		c.whole || o.Compress != "" && o.Compress != "none" || o.Cwd != "" || o.Verify == VerifyFull || u.selects() ||
		c.sidecar.Exists || c.sidecar.PreviousExists {
		return nil
	}
	known := u.knownChanges(c.source.Rel)
	ch, err := from.Records.Changes(ctx, c.source.Loc, v, known)
	if err != nil && known != nil {
		known = nil
		ch, err = from.Records.Changes(ctx, c.source.Loc, v, nil)
	}
	if err != nil {
		return nil // opening the store as a whole reports what is wrong with it
	}
	c.partial = known != nil
	return ch
}

// knownChanges returns what the previous update knew of a source, nil if the target is
// not what that update made of it.
func (u *update) knownChanges(rel string) []byte {
	if !u.exists || u.before == nil || u.before.Made != u.after.Made || u.opts.Redact != nil {
		return nil
	}
	was, ok := u.before.Stores[rel]
	if !ok || was.Changes == "" || was.Kept && u.opts.Delete || !u.asWritten(rel) {
		return nil
	}
	return u.before.Changes(u.state, rel)
}

// readAsWhole begins again, after what was read of the changes does not count.
func (c *exactConversion) readAsWhole() error {
	c.whole, c.partial, c.changes = true, false, nil
	c.losses = loss.Log{}
	return os.RemoveAll(c.staged)
}

// keepChanges has the update remember what it read, and which files it replaces.
func (c *exactConversion) keepChanges(to *formats.Format) error {
	if c.changes == nil {
		return nil
	}
	b, err := c.changes.Mark()
	if err != nil {
		return err
	}
	n := &noted{state: b, partial: c.partial}
	for i := range c.changes.Schema().Sets {
		n.owned = append(n.owned, to.Records.ShardFiles(&c.changes.Schema().Sets[i], c.changes.Shards[i], c.changes.Lists[i]))
	}
	c.update.noteChanges(c.source.Rel, n)
	return nil
}

// noted is what is known of a source that was read by its changes.
type noted struct {
	state   []byte
	partial bool                     // only what changed is staged,
	owned   []func(path string) bool // which is all that these files hold, by paths below the store
}

func (u *update) noteChanges(rel string, n *noted) {
	u.noting.Lock()
	defer u.noting.Unlock()
	if u.noted == nil {
		u.noted = map[string]*noted{}
	}
	u.noted[rel] = n
}

// holds reports whether what is staged decides on a file of the target.
func (n *noted) holds(below string) bool {
	return n == nil || !n.partial || slices.ContainsFunc(n.owned, func(owns func(string) bool) bool { return owns(below) })
}

// reportOf is the report of a store for updates that skip it. It has no counts if only
// what changed was counted.
func (u *update) reportOf(rep *StoreReport) (json.RawMessage, error) {
	if rep.Partial {
		rep.Sets, rep.Rows, rep.Bytes, rep.Omitted = []SetReport{}, 0, 0, 0
	}
	return json.Marshal(rep)
}

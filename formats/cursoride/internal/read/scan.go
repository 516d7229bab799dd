package read

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// aside is a record of a session that is not one of its bubbles.
type aside struct {
	family, rest string // its key without the session's id
	used         bool
}

// scan reads the keys of a session: its records, and bubbles that are not listed. If
// the list is lost, it is made of the bubbles.
func (c *Chat) scan(ctx context.Context, lost bool) error {
	if c.Database == nil || c.Database.Disk == nil {
		c.nameless()
		return c.abandoned(ctx, nil)
	}
	c.rows = map[string]bool{}
	var ids, past []string
	var found int64
	err := c.Database.Family(ctx, lists.BubbleRow+c.ID+":", func(rest string) bool {
		if len(c.beside) > 0 {
			c.rows[rest] = true
		}
		switch {
		case c.listed[rest]:
			found++
		case lost && !c.spine:
			ids = append(ids, rest)
		default:
			past = append(past, rest)
		}
		return true
	})
	if err != nil {
		return err
	}
	if found < int64(len(c.headers)) && len(past) > 0 {
		if err := c.locate(ctx); err != nil {
			return err
		}
		past = slices.DeleteFunc(past, func(rest string) bool { return c.listed[rest] })
	}
	c.nameless()
	for _, f := range lists.Families() {
		if !f.Aside {
			continue
		}
		err := c.Database.Family(ctx, f.Prefix+c.ID+":", func(rest string) bool {
			c.asides = append(c.asides, aside{family: f.Prefix, rest: rest})
			return true
		})
		if err != nil {
			return err
		}
	}
	slices.SortStableFunc(c.asides, func(a, b aside) int { return strings.Compare(a.family+a.rest, b.family+b.rest) })
	if len(ids) > 0 {
		if err := c.recover(ctx, ids); err != nil {
			return err
		}
	}
	if !c.x.history {
		if err := c.leaveOut(ctx, past); err != nil {
			return err
		}
		past = nil
	}
	return c.abandoned(ctx, past)
}

// recover orders bubbles whose list is lost: by their times, or else as they were
// stored.
func (c *Chat) recover(ctx context.Context, ids []string) error {
	type place struct {
		header
		row int64
	}
	var list []place
	at := c.addr
	for _, id := range ids {
		r, err := c.Database.Get(ctx, lists.DiskTable, lists.BubbleRow+c.ID+":"+id, func(loss.Loss) {})
		if err != nil {
			return err
		}
		b := bubble{header: header{user: userType(r.Body)}}
		b.rename(id)
		b.f.SplitBy(r.Body, "", bubbleTable())
		b.at = b.when()
		list = append(list, place{b.header, r.Addr.RowID})
		if at.File == "" { // nothing else is left of the session
			at = r.Addr
		}
	}
	timed := !slices.ContainsFunc(list, func(p place) bool { return !p.at.Known() })
	slices.SortFunc(list, func(a, b place) int {
		if timed && a.at.Millis() != b.at.Millis() {
			return cmp.Compare(a.at.Millis(), b.at.Millis())
		}
		return cmp.Compare(a.row, b.row)
	})
	for _, p := range list {
		c.enter(p.header, nil)
	}
	c.note.Add(loss.Loss{Code: loss.OrderInferred, At: at})
	return nil
}

// remains counts the records that are left of a deleted session.
func (c *Chat) remains(ctx context.Context) error {
	for _, f := range lists.Families() {
		if !f.Aside && f.Prefix != lists.BubbleRow {
			continue
		}
		n, err := c.Database.Number(ctx, f.Prefix+c.ID+":")
		if err != nil {
			return err
		}
		c.tally.Read += n
		c.tally.Superseded += n
	}
	if _, ok, err := c.Database.Disk.Get(ctx, lists.RootRow+c.ID, 0); err != nil {
		return err
	} else if ok {
		c.tally.Read++
		c.tally.Superseded++
	}
	left, err := c.x.HasBubbles(ctx, c.ID)
	if left {
		c.note.Add(loss.Loss{Code: loss.DeletedRemains, At: c.addr})
	}
	return err
}

// aside finds a record by its key.
func (c *Chat) aside(family, rest string) *aside {
	i, ok := slices.BinarySearchFunc(c.asides, family+rest, func(a aside, key string) int { return strings.Compare(a.family+a.rest, key) })
	if !ok {
		return nil
	}
	return &c.asides[i]
}

// sides adds to a message the records of its prompt in rows of their own.
func (c *Chat) sides(d *assembler, b *bubble, m *session.Message) {
	for _, family := range [...]string{lists.RequestRow, lists.BubbleRootRow} {
		a := c.aside(family, b.id)
		if a == nil || a.used {
			continue
		}
		a.used = true
		if err := d.side(a, m); err != nil && d.err == nil {
			d.err = err
		}
	}
}

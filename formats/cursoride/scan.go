package cursoride

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"rehome/formats/loss"
	"rehome/formats/session"
)

// The families of keys that belong to one session, besides composerData.
const (
	bubbleRow     = "bubbleId:"
	checkpointRow = "checkpointId:"
	requestRow    = "messageRequestContext:"
	diffRow       = "codeBlockDiff:"
	fateRow       = "codeBlockPartialInlineDiffFates:"
	originalRow   = "ofsContent:"
	rootRow       = "agentKv:checkpoint:"
	bubbleRootRow = "agentKv:bubbleCheckpoint:"
)

// aside is a record of a session that is none of its bubbles.
type aside struct {
	family, rest string // its key without the session's id
	used         bool
}

// ownedRows are the families besides bubbles of which each session has many rows.
var ownedRows = [...]string{checkpointRow, requestRow, diffRow, fateRow, originalRow, bubbleRootRow}

// scan looks at the keys of a session: what belongs to it, and what its list of
// bubbles leaves out. Where there is no such list, the bubbles are all it has.
func (c *chat) scan(ctx context.Context, lost bool) error {
	if c.shelf == nil || c.shelf.disk == nil {
		c.nameless()
		return nil
	}
	var ids, past []string
	var orphans, found int64
	err := c.shelf.family(ctx, bubbleRow+c.id+":", func(rest string) bool {
		switch {
		case c.listed[rest]:
			found++
		case lost && !c.spine:
			ids = append(ids, rest)
		case c.x.history:
			past = append(past, rest)
		default:
			orphans++
		}
		return true
	})
	if err != nil {
		return err
	}
	if found < int64(len(c.headers)) && orphans+int64(len(past)) > 0 {
		located, err := c.locate(ctx)
		if err != nil {
			return err
		}
		if past = slices.DeleteFunc(past, func(rest string) bool { return c.listed[rest] }); !c.x.history {
			orphans -= located
		}
	}
	c.nameless()
	c.tally.Read += orphans
	c.tally.Superseded += orphans
	for _, family := range ownedRows {
		err := c.shelf.family(ctx, family+c.id+":", func(rest string) bool {
			c.asides = append(c.asides, aside{family: family, rest: rest})
			return true
		})
		if err != nil {
			return err
		}
	}
	slices.SortStableFunc(c.asides, func(a, b aside) int { return strings.Compare(a.family+a.rest, b.family+b.rest) })
	if len(ids) > 0 {
		return c.recover(ctx, ids)
	}
	return c.abandoned(ctx, past)
}

// recover puts bubbles in an order whose list is gone: by the times they state,
// else as they were stored.
func (c *chat) recover(ctx context.Context, ids []string) error {
	type place struct {
		header
		row int64
	}
	var list []place
	for _, id := range ids {
		r, err := c.shelf.get(ctx, diskTable, bubbleRow+c.id+":"+id, func(loss.Loss) {})
		if err != nil {
			return err
		}
		b := bubble{header: header{user: userType(r.body)}}
		b.rename(id)
		b.f.split(r.body, "", bubbleTable())
		b.at = b.when()
		list = append(list, place{b.header, r.addr.RowID})
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
	c.note(loss.Loss{Code: loss.OrderInferred, At: c.addr})
	return nil
}

// remains counts what is left of a deleted session.
func (c *chat) remains(ctx context.Context) error {
	for _, family := range append([]string{bubbleRow}, ownedRows[:]...) {
		n, err := c.shelf.number(ctx, family+c.id+":")
		if err != nil {
			return err
		}
		c.tally.Read += n
		c.tally.Superseded += n
	}
	if _, ok, err := c.shelf.disk.Get(ctx, rootRow+c.id, 0); err != nil || ok {
		c.tally.Read++
		c.tally.Superseded++
		return err
	}
	return nil
}

// number counts the keys that begin so.
func (s *shelf) number(ctx context.Context, prefix string) (n int64, err error) {
	err = s.family(ctx, prefix, func(string) bool {
		n++
		return true
	})
	return n, err
}

// strays counts the rows of sessions that nothing names. Of each such session
// one key is looked for, whatever the number of rows in between.
func (x *index) strays(ctx context.Context, s *shelf) (t session.Account, err error) {
	if s == nil || s.disk == nil {
		return t, nil
	}
	for _, family := range append([]string{bubbleRow, rootRow}, ownedRows[:]...) {
		for from := family; ; {
			key, ok, err := s.disk.First(ctx, from, behind(family))
			if err != nil {
				return t, err
			}
			if !ok {
				break
			}
			id, _, more := strings.Cut(key[len(family):], ":")
			prefix := family + id + ":"
			if from = behind(prefix); !more {
				from = key + "\x00"
			}
			if e := x.byID[id]; e != nil && more == (family != rootRow) {
				continue
			}
			n := int64(1)
			if more {
				if n, err = s.number(ctx, prefix); err != nil {
					return t, err
				}
			}
			t.Read += n
			t.Superseded += n
		}
	}
	return t, nil
}

// aside finds a record by its key.
func (c *chat) aside(family, rest string) *aside {
	i, ok := slices.BinarySearchFunc(c.asides, family+rest, func(a aside, key string) int { return strings.Compare(a.family+a.rest, key) })
	if !ok {
		return nil
	}
	return &c.asides[i]
}

// sides adds to a message what was recorded of its prompt in rows of their own.
func (c *chat) sides(d *desk, b *bubble, m *session.Message) {
	for _, family := range [...]string{requestRow, bubbleRootRow} {
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

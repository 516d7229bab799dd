package read

import (
	"cmp"
	"context"
	"slices"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// The id in the key of a bubble's row usually is the listed one. In some rows only the
// id inside the bubble is; some bubbles are listed, and stored, without an id.

// locate finds listed bubbles by the ids inside of rows that are not listed.
func (c *Chat) locate(ctx context.Context) error {
	at := make(map[string]int, len(c.headers))
	var blank []int
	for i, h := range c.headers {
		if at[h.id] = i; h.id == "" {
			blank = append(blank, i)
		}
	}
	var spare []spareRow
	prefix := lists.BubbleRow + c.ID + ":"
	err := c.Database.Each(ctx, prefix, func(rest string) error {
		if c.listed[rest] {
			return nil
		}
		r, err := c.Database.Get(ctx, lists.DiskTable, prefix+rest, func(loss.Loss) {})
		id := rawjson.Last(r.Body, "bubbleId")
		i, listed := at[rawjson.Text(id)]
		if err != nil || !listed || id == nil {
			return err
		}
		h := &c.headers[i]
		if h.id == "" {
			b := bubble{}
			b.f.SplitBy(r.Body, "", bubbleTable())
			spare = append(spare, spareRow{rest, b.when()})
		}
		if h.id == "" || h.row != "" || h.inline != nil {
			return nil
		}
		_, own, err := c.Database.Disk.Get(ctx, prefix+h.id, 0)
		if err == nil && !own {
			h.row, c.listed[rest] = ":"+rest, true
		}
		return err
	})
	slices.SortStableFunc(spare, func(a, b spareRow) int { return cmp.Compare(a.at.Millis(), b.at.Millis()) })
	for k, i := range blank[:min(len(blank), len(spare))] {
		c.headers[i].rename(spare[k].rest)
		c.listed[spare[k].rest] = true
	}
	return err
}

// rename sets the id of a header to the name of its row.
func (h *header) rename(rest string) {
	if h.id = rest; rest == "" {
		h.id, h.row = "nameless", ":"
	}
}

// spareRow is a bubble without an id.
type spareRow struct {
	rest string
	at   session.Stamp
}

// nameless removes listed bubbles that have neither an id nor a row.
func (c *Chat) nameless() {
	past := c.past
	for i, h := range c.headers {
		if h.id != "" {
			continue
		}
		c.note.Add(loss.Loss{Code: loss.MessageNoID, At: c.addr})
		if i <= past {
			c.past--
		}
	}
	c.headers = slices.DeleteFunc(c.headers, func(h header) bool { return h.id == "" })
}

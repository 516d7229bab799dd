package cursoride

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"rehome/formats/internal/rawjson"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// typedKeys are the client's own lists of what was typed. They name no session.
var typedKeys = [...]string{
	"aiService.prompts",     // [{"text":…,"commandType":4}], the newest last
	"aiService.generations", // [{"unixMs":…,"generationUUID":…,"type":"composer","textDescription":…}], the last fifty or hundred
}

const (
	typText = iota
	typCommand
	typTime
	typID
	typKind
	typLabel
)

var typedTable = sync.OnceValue(func() *table {
	return newTable([]string{typText: "text", typCommand: "commandType", typTime: "unixMs", typID: "generationUUID", typKind: "type", typLabel: "textDescription"})
})

// mostTyped is more than ten times the longest such list that was seen.
const mostTyped = 4 << 20

// typedLists are those of one database.
type typedLists struct {
	space  *space
	pages  [len(typedKeys)]*page
	owners owners
	listed bool                // its rest is among the heads, see settleTyped
	rest   *entry              // which is that session, if there is a rest
	others [len(typedKeys)]int // entries that say no prompt
}

// typed is an entry of such a list: what somebody typed.
type typed struct {
	text   string
	page   *page
	number int // in the list, from 1
	at     session.Stamp
	id     string // of the request
	raw    []byte
	twin   *typed // the same in the other list,
	place  int    // and where that stands
	owner  *entry // whose it is, as its time says; nil if nothing tells
}

// readTyped finds the lists of a database.
func (x *index) readTyped(ctx context.Context, s *space) error {
	h := &typedLists{space: s}
	for i, key := range typedKeys {
		pg, err := x.pages.open(ctx, s, key, x.note)
		if err != nil {
			return err
		}
		if pg == nil {
			continue
		}
		x.tally.Read++
		switch {
		case len(pg.body) > mostTyped:
			x.note(loss.Loss{Code: loss.ValueTooLarge, At: pg.addr, Args: []string{"4 MB"}})
			fallthrough
		case pg.body == nil:
			x.tally.Unreadable++
			continue
		case pg.body[0] != '[':
			h.others[i] = 1
		}
		x.tally.Converted++
		h.pages[i] = pg
	}
	if h.pages != [len(typedKeys)]*page{} {
		x.typed = append(x.typed, h)
	}
	return nil
}

// prompts are the entries of both lists in one order: that of the prompts, and
// among them, by their times, the requests that are none of these.
func (x *index) prompts(ctx context.Context, h *typedLists) ([]*typed, error) {
	var both [len(typedKeys)][]*typed
	for i, pg := range h.pages {
		if pg == nil {
			continue
		}
		body, err := x.pages.whole(ctx, pg)
		if err != nil {
			return nil, err
		}
		n := 0
		for raw := range rawjson.Elements(body) {
			n++
			if t := h.entry(pg, n, raw); t != nil {
				both[i] = append(both[i], t)
			}
		}
		if body[0] == '[' {
			h.others[i] = n - len(both[i])
		}
	}
	plain, timed := both[0], both[1]
	slices.SortStableFunc(timed, func(a, b *typed) int { return cmp.Compare(a.at.Millis(), b.at.Millis()) })
	free := map[string][]int{}
	for i, t := range timed {
		free[t.text] = append(free[t.text], i)
	}
	for _, t := range plain {
		if same := free[t.text]; len(same) > 0 {
			t.place, t.twin = same[0], timed[same[0]]
			t.twin.twin, free[t.text] = t, same[1:]
		}
	}
	return merged(plain, timed), nil
}

// entry takes an element of a list apart; nil where it says nothing that
// somebody typed.
func (h *typedLists) entry(pg *page, number int, raw []byte) *typed {
	t := &typed{page: pg, number: number, raw: raw, text: rawjson.Text(raw)}
	var f fields
	if f.split(raw, "", typedTable()) {
		t.text = cmp.Or(rawjson.Text(f.raw(typText)), rawjson.Text(f.raw(typLabel)))
		t.at, _ = moment(f.raw(typTime))
		t.id = rawjson.Text(f.raw(typID))
		if rawjson.Text(f.raw(typKind)) != "cmdk" { // asked of a line in an editor, in no session
			t.owner = h.owners.at(t.at)
		}
	}
	if strings.TrimSpace(t.text) == "" {
		return nil
	}
	return t
}

// merged puts each request that is no prompt in front of the first prompt that
// was sent later.
func merged(plain, timed []*typed) (out []*typed) {
	next := 0
	until := func(end int) {
		for ; next < end; next++ {
			if timed[next].twin == nil {
				out = append(out, timed[next])
			}
		}
	}
	for _, t := range plain {
		if t.twin != nil {
			until(t.place)
		}
		if t.twin != nil && t.twin.owner != nil {
			t = t.twin
		}
		out = append(out, t)
	}
	until(len(timed))
	return out
}

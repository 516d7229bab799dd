package lists

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"rehome/formats/internal/members"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

const (
	typText = iota
	TypCommand
	TypTime
	TypID
	TypKind
	typLabel
)

var TypedTable = sync.OnceValue(func() *members.Table {
	return members.NewTable([]string{typText: "text", TypCommand: "commandType", TypTime: "unixMs", TypID: "generationUUID", TypKind: "type", typLabel: "textDescription"})
})

// maxTyped is the size of the largest list that is read, ten times the largest
// one seen.
const maxTyped = 4 << 20

// PromptLists are the lists of prompts of one database.
type PromptLists struct {
	Workspace *Workspace
	Pages     [len(PromptKeys)]*page
	owners    owners
	Listed    bool                 // its rest is among the heads, see settleTyped
	Rest      *Entry               // which is that session, if there is a rest
	others    [len(PromptKeys)]int // entries that say no prompt
}

// Typed is an element of a list of prompts.
type Typed struct {
	Text   string
	Page   *page
	Number int // in the list, from 1
	At     session.Stamp
	id     string // of the request
	Raw    []byte
	Twin   *Typed // the same in the other list,
	place  int    // and where that stands
	Owner  *Entry // whose it is, as its time says; nil if nothing tells
}

// readTyped finds the lists of a database.
func (x *Index) readTyped(ctx context.Context, s *Workspace) error {
	h := &PromptLists{Workspace: s}
	for i, key := range PromptKeys {
		pg, err := x.Pages.open(ctx, s, key, x.Note)
		if err != nil {
			return err
		}
		if pg == nil {
			continue
		}
		x.Account.Read++
		switch {
		case len(pg.body) > maxTyped:
			x.Note.Add(loss.Loss{Code: loss.ValueTooLarge, At: pg.Addr, Args: []string{"4 MB"}})
			fallthrough
		case pg.body == nil:
			x.Account.Unreadable++
			continue
		case pg.body[0] != '[':
			h.others[i] = 1
		}
		x.Account.Converted++
		h.Pages[i] = pg
	}
	if h.Pages != [len(PromptKeys)]*page{} {
		x.Typed = append(x.Typed, h)
	}
	return nil
}

// Prompts returns the elements of both lists in one order: the prompts as they
// are listed, and the other requests among them by their times.
func (x *Index) Prompts(ctx context.Context, h *PromptLists) ([]*Typed, error) {
	var both [len(PromptKeys)][]*Typed
	for i, pg := range h.Pages {
		if pg == nil {
			continue
		}
		body, err := x.Pages.whole(ctx, pg)
		if err != nil {
			return nil, err
		}
		n := 0
		for raw := range rawjson.Elements(body) {
			n++
			if t := h.Entry(pg, n, raw); t != nil {
				both[i] = append(both[i], t)
			}
		}
		if body[0] == '[' {
			h.others[i] = n - len(both[i])
		}
	}
	plain, timed := both[0], both[1]
	slices.SortStableFunc(timed, func(a, b *Typed) int { return cmp.Compare(a.At.Millis(), b.At.Millis()) })
	free := map[string][]int{}
	for i, t := range timed {
		free[t.Text] = append(free[t.Text], i)
	}
	for _, t := range plain {
		if same := free[t.Text]; len(same) > 0 {
			t.place, t.Twin = same[0], timed[same[0]]
			t.Twin.Twin, free[t.Text] = t, same[1:]
		}
	}
	return merged(plain, timed), nil
}

// Entry parses an element of a list; nil if it has no prompt.
func (h *PromptLists) Entry(pg *page, number int, raw []byte) *Typed {
	t := &Typed{Page: pg, Number: number, Raw: raw, Text: rawjson.Text(raw)}
	var f members.Object
	if f.SplitBy(raw, "", TypedTable()) {
		t.Text = cmp.Or(rawjson.Text(f.Raw(typText)), rawjson.Text(f.Raw(typLabel)))
		t.At, _ = Moment(f.Raw(TypTime))
		t.id = rawjson.Text(f.Raw(TypID))
		if rawjson.Text(f.Raw(TypKind)) != "cmdk" { // asked of a line in an editor, in no session
			t.Owner = h.owners.at(t.At)
		}
	}
	if strings.TrimSpace(t.Text) == "" {
		return nil
	}
	return t
}

// merged puts each request that is no prompt in front of the first prompt that
// was sent later.
func merged(plain, timed []*Typed) (out []*Typed) {
	next := 0
	until := func(end int) {
		for ; next < end; next++ {
			if timed[next].Twin == nil {
				out = append(out, timed[next])
			}
		}
	}
	for _, t := range plain {
		if t.Twin != nil {
			until(t.place)
		}
		if t.Twin != nil && t.Twin.Owner != nil {
			t = t.Twin
		}
		out = append(out, t)
	}
	until(len(timed))
	return out
}

// Request returns the id of the request that a prompt was sent with.
func (t *Typed) Request() string {
	if t.Twin != nil {
		return cmp.Or(t.id, t.Twin.id)
	}
	return t.id
}

// NoteOthers reports the elements that are not prompts.
func (h *PromptLists) NoteOthers(note loss.Sink) {
	for i, n := range h.others {
		for range n {
			note.Add(loss.Loss{Code: loss.HistoryEntryEmpty, At: h.Pages[i].Addr})
		}
	}
}

package cursoride

import (
	"cmp"
	"context"
	"strings"

	"rehome/formats/internal/rawjson"
	"rehome/formats/loss"
)

// readList reads a record that holds heads in an array.
func (x *index) readList(ctx context.Context, s *space, shelf *shelf, key, member string, id int) error {
	pg, err := x.pages.open(ctx, s, key, x.note)
	if err != nil || pg == nil {
		return err
	}
	x.tally.Read++
	if pg.body == nil {
		x.tally.Unreadable++
		return nil
	}
	x.tally.Converted++
	base := pg.body
	for name, value := range rawjson.Members(base) {
		x.tally.Members++
		x.tally.MembersConverted++ // what is selected or open is the window's, no session's
		if string(name) != member {
			if !windowState(name) && !hollow(value) {
				x.note(loss.Loss{Code: loss.ListMemberUnknown, At: pg.addr})
			}
			continue
		}
		n := 0
		for head := range rawjson.Elements(value) {
			n++
			x.f.split(head, "", headNames())
			key := plainText(x.f.raw(id))
			if key == "" && id == headTabID {
				key = cmp.Or(plainText(x.f.raw(headPlainID)), s.tab(n))
			}
			if key == "" {
				continue
			}
			x.list(s, key, headAt{pg, offset(base, head), offset(base, head) + len(head)})
		}
	}
	return nil
}

// windowState reports a member that says what a window shows.
func windowState(name []byte) bool {
	for _, known := range [...]string{"selected", "lastFocused", "hasMigrated", "composerDataVersion", "isInEditor", "version", "viewPane", "displayMode"} {
		if strings.HasPrefix(string(name), known) {
			return true
		}
	}
	return false
}

// list enters the head that x.f holds.
func (x *index) list(s *space, id string, at headAt) {
	e := x.entry(id)
	e.take(&x.f, at)
	if s != nil && e.space == "" {
		e.space = s.id
	}
	if e.body != nowhere {
		return
	}
	switch {
	case x.f.raw(headTabBubbles) != nil:
		e.body, e.where, e.hollow = inTab, s, x.f.full(headTabBubbles) == nil && x.f.full(headMessages) == nil
	case x.f.raw(headMessages) != nil:
		e.body, e.where, e.hollow = inTab, s, x.f.full(headMessages) == nil
	case x.f.raw(headTalk) != nil:
		e.body, e.where, e.hollow = inHead, s, x.f.full(headTalk) == nil
	}
}

// offset is where a view begins in what it is a view of.
func offset(whole, view []byte) int { return cap(whole) - cap(view) }

// readPanes finds sessions that were open: an early third version lists those
// of a workspace nowhere else. A pane's members are named by them.
func (x *index) readPanes(ctx context.Context, s *space, shelf *shelf) error {
	var keys []string
	err := shelf.items.Keys(ctx, panePrefix, behind(panePrefix), func(key string) bool {
		if !strings.HasSuffix(key, ".hidden") {
			keys = append(keys, key)
		}
		return true
	})
	for _, key := range keys {
		r, rerr := shelf.get(ctx, itemTable, key, x.note)
		if rerr != nil {
			return rerr
		}
		x.tally.Read++
		if r.fate == broken {
			x.tally.Unreadable++
			continue
		}
		x.tally.Converted++
		for name := range rawjson.Members(r.body) {
			x.tally.Members++
			x.tally.MembersConverted++
			id, ok := strings.CutPrefix(string(name), paneMember)
			if !ok || id == "" || id == "aichat" || strings.Contains(id, ".") {
				continue
			}
			if e := x.byID[id]; e != nil && e.space == "" && s != nil {
				e.space = s.id
			} else if e == nil && looksLikeID(id) {
				e = x.entry(id)
				if s != nil {
					e.space = s.id
				}
			}
		}
	}
	return err
}

// readMembers finds sessions that stand in the agents' sidebar: objects whose
// members are named by them, or lists of objects that name them.
func (x *index) readMembers(ctx context.Context, shelf *shelf) error {
	r, err := shelf.get(ctx, itemTable, memberKey, x.note)
	if err != nil || r.fate == absent {
		return err
	}
	x.tally.Read++
	if r.fate == broken {
		x.tally.Unreadable++
		return nil
	}
	x.tally.Converted++
	x.memberOf(r.body, 1)
	return nil
}

func (x *index) memberOf(b []byte, depth int) {
	for name, value := range rawjson.Members(b) {
		x.tally.Members++
		x.tally.MembersConverted++
		switch id := string(name); {
		case looksLikeID(id):
			x.entry(id)
		case depth > 0:
			x.memberOf(value, depth-1)
		}
	}
	for value := range rawjson.Elements(b) {
		if id := rawjson.Text(rawjson.Last(value, "composerId")); looksLikeID(id) {
			x.entry(id)
		}
	}
}

// looksLikeID tells sessions from the panes of other things.
func looksLikeID(id string) bool { return uuid(id) || strings.HasPrefix(id, taskPrefix) }

func uuid(id string) bool {
	if len(id) != 36 {
		return false
	}
	for i, c := range []byte(id) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f') {
			return false
		}
	}
	return true
}

// readCloud finds agents that work elsewhere: this machine knows their names.
func (x *index) readCloud(ctx context.Context, shelf *shelf) error {
	for _, key := range cloudKeys {
		r, err := shelf.get(ctx, itemTable, key, x.note)
		if err != nil {
			return err
		}
		if r.fate == absent {
			continue
		}
		x.tally.Read++
		if r.fate == broken {
			x.tally.Unreadable++
			continue
		}
		x.tally.Converted++
		for _, id := range cloudIDs(r.body) {
			x.entry(id).remote = true
		}
	}
	return nil
}

// cloudIDs are all strings and names in some JSON that name a cloud agent.
func cloudIDs(b []byte) (out []string) {
	text := string(b)
	for {
		i := strings.Index(text, `"`+cloudPrefix)
		if i < 0 {
			return out
		}
		text = text[i+1:]
		if id, _, ok := strings.Cut(text, `"`); ok && uuid(strings.TrimPrefix(id, cloudPrefix)) {
			out = append(out, id)
		}
	}
}

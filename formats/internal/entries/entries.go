// Package entries splits JSON values that list sessions into a frame and one entry
// for each session, and joins them, byte for byte.
//
// A client keeps such a list in one value, so two people who each add a session
// change the same value. Split, the list is a set of entries whose text depends on
// no other entry, wherever possible:
//
//   - Entries are sorted by a fixed rule, not numbered: by createdAt, the newest
//     first, or by unixMs, the oldest first; then by id.
//   - An entry that the client keeps in another place names one neighbor: the entry
//     that it follows (After), or that it precedes (Before).
//
// So a new entry at the front or end of a list that is sorted by time, either way,
// changes no other entry. In a list of ids, which has no such order, that is true of
// the end; at the front it may change the entries that it comes before.
//
// Objects without an id get one from their text. If an array has an id more than once,
// the later ones end in a number.
package entries

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"rehome/formats/internal/digest"
	"rehome/internal/rawjson"
)

// Member names a member of an object that is a list: an array, or an object whose
// member names are the ids.
type Member struct {
	Name string // "" if the value itself is the list
	ID   string // the member with the id of an entry; "" if the entries are the ids or have none
}

// Entry is an entry of a list.
type Entry struct {
	Member string // the name of the list
	ID     string // unique in the list
	After  string // the id of the entry before it, if it is not in natural order
	Before string // the id of the entry after it; at most one of the two is set
	JSON   []byte // the element of the array, or the value of the object's member
}

// maxEntries is how many entries a list may have to be split. The memory for them
// is a multiple of their text.
const maxEntries = 1 << 17

// Split takes the entries out of the lists of an object. The frame is the object
// with these lists empty. A list that Join could not restore byte for byte remains
// in the frame: one with blanks between its entries, or with ids that are
// repeated names of members or invalid UTF-8. If no list can be split, ok is false.
//
// The entries are in the order of the value, and refer to its bytes.
func Split(value []byte, members []Member) (frame []byte, list []Entry, ok bool) {
	found, err := find(value, func(name []byte) bool {
		return slices.ContainsFunc(members, func(m Member) bool { return m.Name == string(name) })
	})
	if err != nil {
		return nil, nil, false
	}
	at := 0
	for _, f := range found {
		m := members[slices.IndexFunc(members, func(m Member) bool { return m.Name == f.Name })]
		raw := value[f.From:f.To]
		part, able := take(raw, m)
		if !able {
			continue
		}
		list = append(list, part...)
		frame = append(append(frame, value[at:f.From]...), raw[0], raw[len(raw)-1])
		at, ok = f.To, true
	}
	if !ok {
		return nil, nil, false
	}
	return append(frame, value[at:]...), list, true
}

// take returns the entries of a list, if they can be joined again.
func take(raw []byte, m Member) (list []Entry, ok bool) {
	add := func(id string, json []byte) bool {
		list = append(list, Entry{Member: m.Name, ID: id, JSON: json})
		return id != "" && utf8.ValidString(id) && len(list) <= maxEntries
	}
	switch raw[0] {
	case '[':
		seen := map[string]int{}
		for e := range rawjson.Elements(raw) {
			id := e
			if m.ID != "" {
				id = rawjson.Last(e, m.ID)
			}
			if !add(nth(seen, rawjson.Text(id), e), e) {
				return nil, false
			}
		}
	case '{':
		for name, value := range rawjson.Members(raw) {
			if !add(string(name), value) {
				return nil, false
			}
		}
	default:
		return nil, false
	}
	o, err := newOrder(list)
	if err != nil {
		return nil, false
	}
	o.mark()
	joined, err := appendList(nil, raw[0] == '{', list)
	return list, err == nil && bytes.Equal(joined, raw)
}

// nth returns the id of an entry that may have none, or that of an earlier one.
func nth(seen map[string]int, id string, e []byte) string {
	if id == "" && e[0] == '{' {
		id = fmt.Sprintf("%016x", digest.Name(string(e)))
	}
	if seen[id]++; seen[id] > 1 {
		return fmt.Sprintf("%s-%d", id, seen[id])
	}
	return id
}

// Join puts entries, in any order, back into the lists of a frame. Entries that were
// added to the same place in two copies of a list are next to each other, in natural
// order; an entry whose neighbor is missing is where natural order puts it.
func Join(frame []byte, list []Entry) ([]byte, error) {
	lists := map[string][]Entry{}
	for _, e := range list {
		if e.ID == "" || !utf8.ValidString(e.ID) || !rawjson.Valid(e.JSON) {
			return nil, fmt.Errorf("entry %q of %q has an invalid id or invalid JSON", e.ID, e.Member)
		}
		lists[e.Member] = append(lists[e.Member], e)
	}
	found, err := find(frame, func(name []byte) bool { return lists[string(name)] != nil })
	if err != nil {
		return nil, err
	}
	var value []byte
	at := 0
	for _, f := range found {
		if raw := string(frame[f.From:f.To]); raw != "[]" && raw != "{}" {
			continue
		}
		if value, err = appendList(append(value, frame[at:f.From]...), frame[f.From] == '{', lists[f.Name]); err != nil {
			return nil, err
		}
		at = f.To
		delete(lists, f.Name)
	}
	for _, e := range list {
		if lists[e.Member] != nil {
			return nil, fmt.Errorf("no empty list %q for entry %q", e.Member, e.ID)
		}
	}
	return append(value, frame[at:]...), nil
}

// appendList appends a list with all of its entries.
func appendList(b []byte, object bool, list []Entry) ([]byte, error) {
	o, err := newOrder(list)
	if err != nil {
		return nil, err
	}
	brackets := "[]"
	if object {
		brackets = "{}"
	}
	b = append(b, brackets[0])
	for n, i := range o.sequence() {
		if n > 0 {
			b = append(b, ',')
		}
		if object {
			b = append(rawjson.Quote(b, []byte(list[i].ID)), ':')
		}
		b = append(b, list[i].JSON...)
	}
	return append(b, brackets[1]), nil
}

// find returns the members of an object that are wanted and are there once, in
// their order. If "" is wanted, it returns the whole value.
func find(b []byte, want func(name []byte) bool) (found []rawjson.Member, err error) {
	if want(nil) && rawjson.Valid(b) {
		return []rawjson.Member{{To: len(b)}}, nil
	}
	seen := map[string]int{}
	err = rawjson.Find(b, func(name []byte, depth int) string {
		if depth == 1 && want(name) {
			return string(name)
		}
		return ""
	}, func(m rawjson.Member) bool {
		seen[m.Name]++
		found = append(found, m)
		return true
	})
	return slices.DeleteFunc(found, func(m rawjson.Member) bool { return seen[m.Name] > 1 }), err
}

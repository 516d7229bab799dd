package cursoride

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"rehome/formats/internal/linecheck"
	"rehome/formats/internal/rawjson"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// listing is what the lists say of one session, all generations together.
type listing struct {
	at      store.Addr // of the best head
	pointer string
	from    generation // of it
	space   string     // the workspace's id, where a head says it
	title   uint64     // a hash; 0 where no head says it
	differs bool

	body   bool // it has a record of its own, or one that was deleted
	inline bool // a head holds the conversation
	remote bool // Cursor's service does
	draft  bool
}

// generation is a list of sessions by its age, the newest first.
type generation uint8

const (
	inTable  generation = iota // composerHeaders
	inGlobal                   // composer.composerHeaders
	inSpaces                   // composer.composerData of a workspace
	inTabs                     // chat tabs
)

// lists reads the lists of sessions in a database; space is the workspace that
// it is of, "" for the global one.
func (x *examination) lists(s *base, space string) error {
	if !x.q.Enabled(rule.References) && !x.q.Enabled(rule.Meaning) && !x.q.Enabled(rule.Schema) && !x.q.Enabled(rule.Container) {
		return nil
	}
	l := &headReader{examination: x, s: s, space: space, seed: maphash.MakeSeed()}
	if x.q.Enabled(rule.Schema) {
		l.head = x.q.Schema("cursor-ide-head-1")
	}
	if err := l.table(); err != nil || s.items == nil {
		return err
	}
	if err := l.record(headersKey, "allComposers", inGlobal); err != nil {
		return err
	}
	if err := l.record(composersKey, "allComposers", inSpaces); err != nil {
		return err
	}
	for _, key := range tabKeys {
		if err := l.record(key, "tabs", inTabs); err != nil {
			return err
		}
	}
	if err := l.panes(); err != nil {
		return err
	}
	if err := l.sidebar(); err != nil {
		return err
	}
	return l.cloud()
}

type headReader struct {
	*examination
	s     *base
	space string
	head  rule.Validator
	seed  maphash.Seed
	f     fields
}

// table reads composerHeaders.
func (l *headReader) table() error {
	if l.s.heads == nil {
		return nil
	}
	for _, t := range l.s.db.Tables() {
		if t.Name != headTable {
			continue
		}
		id, value, space := slices.Index(t.Columns, "composerId"), slices.Index(t.Columns, "value"), slices.Index(t.Columns, "workspaceId")
		for b, err := range l.s.db.Scan(l.ctx, 0, t) {
			if err != nil {
				return err
			}
			for i := range b.Rows() {
				key := b.Cell(i, id)
				if key.Class != store.Text {
					continue
				}
				at := kept(store.Addr{File: l.s.file, Set: headTable, RowID: b.RowID(i), HasID: true, Key: key})
				var doc []byte
				if cell := b.Cell(i, value); cell.Class == store.Text || cell.Class == store.Blob {
					doc = cell.Bytes()
				}
				if len(doc) > 0 && l.sound(doc, at) {
					l.q.Matches(l.head, doc, at, "")
				} else {
					doc = nil
				}
				column := ""
				if space >= 0 {
					column = string(b.Cell(i, space).Bytes())
				}
				l.row(string(key.Bytes()), at, doc, column)
			}
			b.Release()
		}
	}
	return nil
}

// row enters a row of composerHeaders. Its columns repeat what its value says.
func (l *headReader) row(id string, at store.Addr, doc []byte, space string) {
	l.f.split(doc, "", headNames())
	if own := plainText(l.f.raw(headID)); own != "" && own != id && l.q.Enabled(rule.References) {
		l.found("RH349", at, "/composerId", "")
	}
	if stated, _ := identified(l.f.raw(headSpace)); stated != "" && space != "" && stated != space && l.q.Enabled(rule.References) {
		l.found("RH346", at, "/workspaceIdentifier/id", "the column workspaceId has another value")
	}
	l.enter(id, at, "", inTable, space)
}

// sound asks a value of a list as text, where that is asked for; false if
// nothing can be read from it.
func (l *headReader) sound(doc []byte, at store.Addr) bool {
	if l.q.Enabled(rule.Container) {
		return linecheck.Value(doc, at, l.q)
	}
	return true
}

// record reads a record of ItemTable that lists sessions.
func (l *headReader) record(key, member string, from generation) error {
	found, ok, err := l.s.items.Get(l.ctx, key, mostValue)
	if err != nil || !ok || len(found.Bytes) == 0 || string(found.Bytes) == "null" {
		return err
	}
	at := l.s.addr(itemTable, key, found.RowID)
	if !l.sound(found.Bytes, at) {
		return nil
	}
	seen := map[string]bool{}
	n := 0
	for head := range rawjson.Elements(rawjson.Last(found.Bytes, member)) {
		pointer := "/" + member + "/" + strconv.Itoa(n)
		n++
		if from != inTabs {
			l.q.Matches(l.head, head, at, pointer)
		}
		l.f.split(head, "", headNames())
		id := plainText(l.f.raw(headID))
		if from == inTabs {
			id = plainText(l.f.raw(headTabID))
		}
		if id == "" {
			continue
		}
		if seen[id] && l.q.Enabled(rule.References) {
			l.found("RH336", at, pointer, "")
			continue
		}
		seen[id] = true
		l.enter(id, at, pointer, from, l.space)
	}
	if from == inSpaces {
		l.window(found.Bytes, at)
	}
	return nil
}

// enter takes what the head that l.f holds says.
func (l *headReader) enter(id string, at store.Addr, pointer string, from generation, space string) {
	e := l.listed[id]
	if e == nil {
		e = &listing{at: at, pointer: pointer, from: from}
		l.listed[id] = e
	} else if from < e.from {
		e.at, e.pointer, e.from = at, pointer, from
	}
	stated, _ := identified(l.f.raw(headSpace))
	if stated = cmp.Or(stated, space); stated != "" && e.space == "" {
		e.space = stated
	} else if stated != "" && stated != e.space {
		e.differs = true
	}
	if name := l.f.raw(headName); len(name) > 2 {
		if title := maphash.Bytes(l.seed, name); e.title == 0 {
			e.title = title
		}
	}
	e.inline = e.inline || l.f.raw(headTalk) != nil || l.f.raw(headTabBubbles) != nil
	e.remote = e.remote || l.f.flag(headRemote) || strings.HasPrefix(id, cloudPrefix)
	e.draft = e.draft || l.f.flag(headDraft) || id == draftID
}

// window notes what a workspace's window shows; whether it is there is known
// later.
func (l *headReader) window(doc []byte, at store.Addr) {
	for _, name := range [...]string{"selectedComposerIds", "lastFocusedComposerIds"} {
		n := 0
		for id := range rawjson.Elements(rawjson.Last(doc, name)) {
			if text := rawjson.Text(id); text != "" {
				l.shown = append(l.shown, named{at, fmt.Sprintf("/%s/%d", name, n), text})
			}
			n++
		}
	}
}

// panes enters the sessions that were open: an early third version lists those
// of a workspace nowhere else.
func (l *headReader) panes() error {
	var keys []string
	err := l.s.items.Keys(l.ctx, panePrefix, behind(panePrefix), func(key string) bool {
		if !strings.HasSuffix(key, ".hidden") {
			keys = append(keys, key)
		}
		return true
	})
	for _, key := range keys {
		found, ok, gerr := l.s.items.Get(l.ctx, key, mostValue)
		if gerr != nil {
			return gerr
		}
		if !ok || !l.sound(found.Bytes, l.s.addr(itemTable, key, found.RowID)) {
			continue
		}
		for name := range rawjson.Members(found.Bytes) {
			if id, ok := strings.CutPrefix(string(name), paneMember); ok && looksLikeID(id) {
				l.paned[id] = true
			}
		}
	}
	return err
}

// sidebar enters the sessions that stand in the agents' sidebar, by the names of
// members, or in lists of objects that name them.
func (l *headReader) sidebar() error {
	found, ok, err := l.s.items.Get(l.ctx, memberKey, mostValue)
	if err != nil || !ok || !l.sound(found.Bytes, l.s.addr(itemTable, memberKey, found.RowID)) {
		return err
	}
	enter := func(b []byte) {
		for name := range rawjson.Members(b) {
			if id := string(name); looksLikeID(id) {
				l.paned[id] = true
			}
		}
		for value := range rawjson.Elements(b) {
			l.paned[rawjson.Text(rawjson.Last(value, "composerId"))] = true
		}
	}
	enter(found.Bytes)
	for _, value := range rawjson.Members(found.Bytes) {
		enter(value)
	}
	return nil
}

// cloud enters the agents that work elsewhere.
func (l *headReader) cloud() error {
	for _, key := range cloudKeys {
		found, ok, err := l.s.items.Get(l.ctx, key, mostValue)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		at := l.s.addr(itemTable, key, found.RowID)
		for _, id := range cloudIDs(found.Bytes) {
			if l.listed[id] == nil {
				l.listed[id] = &listing{at: at, from: inTabs}
			}
			l.listed[id].remote = true
		}
	}
	return nil
}

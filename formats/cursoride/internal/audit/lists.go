package audit

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"strconv"
	"strings"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/linecheck"
	"rehome/formats/internal/members"
	"rehome/formats/rule"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// listing is what the lists of all generations state about one session.
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

// generation is a kind of list of sessions, the newest first.
type generation uint8

const (
	inTable  generation = iota // composerHeaders
	inGlobal                   // composer.composerHeaders
	inSpaces                   // composer.composerData of a workspace
	inTabs                     // chat tabs
)

// lists reads the lists of sessions in a database. space is the id of its workspace,
// "" for the global database.
func (x *examination) lists(s *base, space string) error {
	if !x.q.Enabled(rule.References) && !x.q.Enabled(rule.Meaning) && !x.q.Enabled(rule.Schema) && !x.q.Enabled(rule.Container) {
		return nil
	}
	l := &headReader{examination: x, s: s, space: space, seed: maphash.MakeSeed()}
	if x.q.Enabled(rule.Schema) {
		l.head = x.q.Schema("cursor-ide-head-1")
	}
	if err := l.table(); err != nil {
		return err
	}
	return s.Database.Lists(x.ctx, l.item)
}

type headReader struct {
	*examination
	s     *base
	space string
	head  rule.Validator
	seed  maphash.Seed
	f     members.Object
}

// table reads composerHeaders.
func (l *headReader) table() error {
	if l.s.Heads == nil {
		return nil
	}
	return l.s.HeadRows(l.ctx, func(r lists.HeadRow) {
		key := r.Cell("composerId")
		if key.Class != store.Text {
			return
		}
		at := r.Addr
		at.Key = key
		at = kept(at)
		var doc []byte
		if cell := r.Cell("value"); cell.Class == store.Text || cell.Class == store.Blob {
			doc = cell.Bytes()
		}
		if len(doc) > 0 && l.sound(doc, at) {
			l.q.Matches(l.head, doc, at, "")
		} else {
			doc = nil
		}
		l.row(string(key.Bytes()), at, doc, r.Text("workspaceId"))
	})
}

// row adds a row of composerHeaders. Its columns repeat members of its value.
func (l *headReader) row(id string, at store.Addr, doc []byte, space string) {
	l.f.SplitBy(doc, "", lists.HeadNames())
	if own := lists.PlainText(l.f.Raw(lists.HeadID)); own != "" && own != id && l.q.Enabled(rule.References) {
		l.found("RH349", at, "/composerId", "")
	}
	if stated, _ := lists.Identified(l.f.Raw(lists.HeadSpace)); stated != "" && space != "" && stated != space && l.q.Enabled(rule.References) {
		l.found("RH346", at, "/workspaceIdentifier/id", "the column workspaceId has another value")
	}
	l.enter(id, at, "", inTable, space)
}

// sound checks that a value of a list is JSON, if that layer is enabled; false if
// nothing can be read from it.
func (l *headReader) sound(doc []byte, at store.Addr) bool {
	if l.q.Enabled(rule.Container) {
		return linecheck.Value(doc, at, l.q)
	}
	return true
}

// item reads a list in ItemTable.
func (l *headReader) item(row lists.List) error {
	if row.Hidden || row.Kind == lists.ListPrompts {
		return nil
	}
	found, ok, err := l.s.Items.Get(l.ctx, row.Key, lists.MaxValue)
	if err != nil || !ok {
		return err
	}
	at, doc := l.s.Addr(lists.ItemTable, row.Key, found.RowID), found.Bytes
	switch {
	case row.Kind == lists.ListCloud:
		for _, id := range lists.CloudIDs(doc) {
			if l.listed[id] == nil {
				l.listed[id] = &listing{at: at, from: inTabs}
			}
			l.listed[id].remote = true
		}
	case row.Member != "" && (len(doc) == 0 || string(doc) == "null"), !l.sound(doc, at):
	case row.Kind == lists.ListPane:
		for name := range rawjson.Members(doc) {
			if id, ok := lists.PaneSession(string(name)); ok && lists.LooksLikeID(id) {
				l.paned[id] = true
			}
		}
	case row.Kind == lists.ListSidebar:
		lists.SidebarSessions(doc, 1, func(id string) { l.paned[id] = true })
	default:
		l.heads(doc, at, row)
	}
	return nil
}

// heads reads a list of heads.
func (l *headReader) heads(doc []byte, at store.Addr, row lists.List) {
	from := inTabs
	switch row.Kind {
	case lists.ListGlobal:
		from = inGlobal
	case lists.ListWorkspace:
		from = inSpaces
	}
	seen := map[string]bool{}
	n := 0
	for head := range rawjson.Elements(rawjson.Last(doc, row.Member)) {
		pointer := "/" + row.Member + "/" + strconv.Itoa(n)
		n++
		if from != inTabs {
			l.q.Matches(l.head, head, at, pointer)
		}
		l.f.SplitBy(head, "", lists.HeadNames())
		id := lists.PlainText(l.f.Raw(row.ID))
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
		l.window(doc, at)
	}
}

// enter adds what the head in l.f states.
func (l *headReader) enter(id string, at store.Addr, pointer string, from generation, space string) {
	e := l.listed[id]
	if e == nil {
		e = &listing{at: at, pointer: pointer, from: from}
		l.listed[id] = e
	} else if from < e.from {
		e.at, e.pointer, e.from = at, pointer, from
	}
	stated, _ := lists.Identified(l.f.Raw(lists.HeadSpace))
	if stated = cmp.Or(stated, space); stated != "" && e.space == "" {
		e.space = stated
	} else if stated != "" && stated != e.space {
		e.differs = true
	}
	if name := l.f.Raw(lists.HeadName); len(name) > 2 {
		if title := maphash.Bytes(l.seed, name); e.title == 0 {
			e.title = title
		}
	}
	e.inline = e.inline || l.f.Raw(lists.HeadTalk) != nil || l.f.Raw(lists.HeadTabBubbles) != nil
	e.remote = e.remote || l.f.Flag(lists.HeadRemote) || strings.HasPrefix(id, lists.CloudPrefix)
	e.draft = e.draft || l.f.Flag(lists.HeadDraft) || id == lists.DraftID
}

// window records which sessions the window of a workspace displays. Whether they exist
// is checked later.
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

package audit

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/members"
	"rehome/formats/rule"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// bodiesOf checks the records of sessions in a database, and what belongs to them.
func (x *examination) bodiesOf(s *base) error {
	if s.Disk == nil {
		return nil
	}
	if !x.q.Enabled(rule.References) && !x.q.Enabled(rule.Meaning) {
		return nil
	}
	var ids []string
	if err := s.Family(x.ctx, lists.ComposerRow, func(id string) bool {
		ids = append(ids, id)
		return true
	}); err != nil {
		return err
	}
	for _, id := range ids {
		if x.listed[id] != nil {
			x.listed[id].body = true
		}
	}
	x.bodies = append(x.bodies, ids...)
	slices.Sort(x.bodies)
	r := &records{examination: x, s: s, listedBubbles: map[string]bool{}}
	r.graph = r.newGraph()
	for _, id := range ids {
		if err := r.session(id); err != nil {
			return err
		}
	}
	if r.graph.some {
		r.graph.Finish(store.Addr{File: s.File, Set: lists.DiskTable, Key: store.TextCell([]byte(lists.BlobRow))})
	}
	if err := r.strays(ids); err != nil {
		return err
	}
	return r.lookUp()
}

// records is the check of the sessions of one database.
type records struct {
	*examination
	s             *base
	f             members.Object
	graph         *graph
	listedBubbles map[string]bool // of the current session; false: it was found
}

// session checks the record of one session.
func (r *records) session(id string) error {
	found, ok, err := r.s.Disk.Get(r.ctx, lists.ComposerRow+id, lists.MaxValue)
	if err != nil || !ok {
		return err
	}
	at := r.s.Addr(lists.DiskTable, lists.ComposerRow+id, found.RowID)
	doc, fate := lists.QuietLine(found)
	if fate == lists.Deleted {
		return r.orphans(id, at, nil)
	}
	if doc == nil {
		return nil // the check of its value reported it
	}
	r.f.SplitBy(doc, "", lists.ComposerTable())
	r.own(id, at)
	headers, inline := r.headers(at)
	if err := r.orphans(id, at, inline); err != nil {
		return err
	}
	r.missing(id, at, inline)
	r.summary(at)
	r.running(id, at)
	if r.q.Enabled(rule.Meaning) && headers == 0 && len(inline) == 0 && r.f.Full(lists.ComTalk) == nil && r.f.Full(lists.ComTabBubbles) == nil {
		if n, err := r.s.Number(r.ctx, lists.BubbleRow+id+":"); err != nil {
			return err
		} else if n > 0 {
			r.found("RH423", at, "/fullConversationHeadersOnly", "%v", rule.Count(n, "bubble"))
		}
	}
	return r.state(id, at)
}

// own checks what a record states about its session: its id, its workspace, and the
// sessions that it is related to.
func (r *records) own(id string, at store.Addr) {
	if !r.q.Enabled(rule.References) {
		return
	}
	if own := lists.PlainText(r.f.Raw(lists.ComID)); own != "" && own != id {
		r.found("RH349", at, "/composerId", "")
	}
	e := r.listed[id]
	if space, _ := lists.Identified(r.f.Raw(lists.ComSpace)); space != "" {
		switch {
		case e == nil:
			r.stray = append(r.stray, named{at, "/workspaceIdentifier/id", space})
		case e.space == "":
			e.space = space
		case e.space != space:
			e.differs = true
		}
	}
	if e == nil && !r.isChild() && id != lists.DraftID && !r.f.Flag(lists.ComDraft) {
		r.unlisted = append(r.unlisted, named{at: at, id: id})
	}
	for _, list := range [...]struct {
		member int
		name   string
	}{{lists.ComSubagents, "/subagentComposerIds/"}, {lists.ComSubs, "/subComposerIds/"}} {
		n := 0
		for value := range rawjson.Elements(r.f.Raw(list.member)) {
			pointer := list.name + strconv.Itoa(n)
			n++
			switch kid := rawjson.Text(value); kid {
			case "":
			case id:
				r.found("RH337", at, pointer, "")
			default:
				r.kids = append(r.kids, named{at, pointer, kid})
			}
		}
	}
	if of := rawjson.TextAt(r.f.Raw(lists.ComSubagentInfo), "parentComposerId"); of != "" {
		r.parents = append(r.parents, named{at, "/subagentInfo/parentComposerId", of})
	}
}

// isChild reports whether lists may leave a session out, because its parent names it.
func (r *records) isChild() bool {
	return r.f.Full(lists.ComSubagentInfo) != nil || r.f.Flag(lists.ComBestOf)
}

// headers reads the list of bubbles into listedBubbles, and returns the bubbles in the
// record itself.
func (r *records) headers(at store.Addr) (n int, inline map[string]bool) {
	clear(r.listedBubbles)
	inline = map[string]bool{}
	for name := range rawjson.Members(r.f.Raw(lists.ComMap)) {
		inline[string(name)] = true
	}
	for value := range rawjson.Elements(r.f.Raw(lists.ComTalk)) {
		if id := rawjson.TextAt(value, "bubbleId"); id != "" {
			inline[id] = true
		}
	}
	for value := range rawjson.Elements(r.f.Raw(lists.ComHeaders)) {
		id := rawjson.TextAt(value, "bubbleId")
		_, twice := r.listedBubbles[id]
		if twice && id != "" && r.q.Enabled(rule.References) {
			r.found("RH348", at, "/fullConversationHeadersOnly/"+strconv.Itoa(n), "bubble %q", id)
		}
		if id != "" {
			r.listedBubbles[id] = true
		}
		n++
	}
	return n, inline
}

// orphans walks the keys of a session's bubbles: it marks listed ones as found, and
// counts the others.
func (r *records) orphans(id string, at store.Addr, inline map[string]bool) error {
	if inline == nil {
		clear(r.listedBubbles)
	}
	if !r.q.Enabled(rule.References) {
		return nil
	}
	var all, orphans int64
	err := r.s.Family(r.ctx, lists.BubbleRow+id+":", func(rest string) bool {
		all++
		if _, listed := r.listedBubbles[rest]; listed {
			r.listedBubbles[rest] = false
		} else if !inline[rest] {
			orphans++
		}
		return true
	})
	if err == nil && orphans > 0 && (len(r.listedBubbles) > 0 || inline == nil) {
		r.found("RH331", at, "", "%v of its %v", rule.Count(orphans, ""), rule.Count(all, "bubble"))
	}
	return err
}

// missing reports listed bubbles that are in no row, not even under another key, which
// RH349 reports.
func (r *records) missing(session string, at store.Addr, inline map[string]bool) {
	if !r.q.Enabled(rule.References) {
		return
	}
	n := 0
	for value := range rawjson.Elements(r.f.Raw(lists.ComHeaders)) {
		id := rawjson.TextAt(value, "bubbleId")
		if id != "" && r.listedBubbles[id] && !inline[id] && !r.s.named.misplaced[session+":"+id] {
			r.listedBubbles[id] = false // report it once, even if it is listed twice
			r.found("RH330", at, "/fullConversationHeadersOnly/"+strconv.Itoa(n), "bubble %q", id)
		}
		n++
	}
}

// summary checks that the last bubble of a summary is in the list.
func (r *records) summary(at store.Addr) {
	raw := r.f.Full(lists.ComSummary)
	if raw == nil || !r.q.Enabled(rule.Meaning) {
		return
	}
	pointer := "/latestConversationSummary/truncationLastBubbleIdInclusive"
	last := rawjson.TextAt(raw, "truncationLastBubbleIdInclusive")
	if last == "" {
		pointer = "/latestConversationSummary/summary/truncationLastBubbleIdInclusive"
		last = rawjson.TextAt(raw, "summary", "truncationLastBubbleIdInclusive")
	}
	if _, listed := r.listedBubbles[last]; last != "" && !listed && len(r.listedBubbles) > 0 {
		r.found("RH425", at, pointer, "bubble %q", last)
	}
}

// running reports a session that is marked as running, and unfinished calls in one
// that is not.
func (r *records) running(id string, at store.Addr) {
	if !r.q.Enabled(rule.Meaning) {
		return
	}
	if lists.PlainText(r.f.Raw(lists.ComStatus)) == "generating" || unended(&r.f) {
		r.found("RH422", at, "/status", "")
		return
	}
	for _, call := range r.s.named.calls[id] {
		r.found("RH420", call.at, call.pointer, "")
	}
}

// unended reports bubbles that are marked as incomplete.
func unended(f *members.Object) bool {
	for i := range f.Extras {
		if f.Extras[i].Name == "generatingBubbleIds" && !members.Empty(f.Extras[i].Raw) {
			return true
		}
	}
	return false
}

// strays counts the bubbles of sessions that have no record.
func (r *records) strays(ids []string) error {
	if !r.q.Enabled(rule.References) {
		return nil
	}
	known := make(map[string]bool, len(ids))
	for _, id := range ids {
		known[id] = true
	}
	for from := lists.BubbleRow; ; {
		key, ok, err := r.s.Disk.First(r.ctx, from, lists.PrefixEnd(lists.BubbleRow))
		if err != nil || !ok {
			return err
		}
		id, _, more := strings.Cut(key[len(lists.BubbleRow):], ":")
		if !more {
			from = key + "\x00"
			continue
		}
		prefix := lists.BubbleRow + id + ":"
		from = lists.PrefixEnd(prefix)
		if known[id] {
			continue
		}
		n, err := r.s.Number(r.ctx, prefix)
		if err != nil {
			return err
		}
		r.found("RH331", store.Addr{File: r.s.File, Set: lists.DiskTable, Key: store.TextCell([]byte(prefix))}, "", "%v of a session without a record", rule.Count(n, "bubble"))
	}
}

// lookUp looks up what rows refer to.
func (r *records) lookUp() error {
	if !r.q.Enabled(rule.References) {
		return nil
	}
	has := func(key string) (bool, error) {
		_, ok, err := r.s.Disk.First(r.ctx, key, key+"\x00")
		return ok, err
	}
	for _, c := range r.s.named.checkpoints {
		ok, err := has(c.id)
		if err != nil {
			return err
		}
		if !ok {
			r.found("RH342", c.at, c.pointer, "")
		}
	}
	for _, c := range slices.SortedFunc(maps.Values(r.s.named.contents), func(a, b named) int { return strings.Compare(a.id, b.id) }) {
		ok, err := has(lists.ContentRow + c.id)
		if err != nil {
			return err
		}
		if !ok {
			r.found("RH341", c.at, c.pointer, "%s", lists.ContentRow+c.id)
		}
	}
	return nil
}

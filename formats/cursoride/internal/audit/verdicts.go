package audit

import (
	"maps"
	"slices"

	"rehome/formats/rule"
)

// verdicts reports sessions that one place names and another lacks, once all lists and
// records are known. disk: the database has a table for records.
func (x *examination) verdicts(disk bool) {
	meaning, references := x.q.Enabled(rule.Meaning), x.q.Enabled(rule.References)
	newer := x.newest()
	ids := slices.Sorted(maps.Keys(x.listed))
	if references {
		for _, n := range x.unlisted {
			if x.listed[n.id] == nil && !x.paned[n.id] {
				x.found("RH335", n.at, "", "")
			}
		}
		x.relations()
		x.places(ids)
	}
	for _, id := range ids {
		e := x.listed[id]
		absent := !e.body && !e.inline && !e.remote && !e.draft && disk
		switch {
		case meaning && e.remote && !e.body:
			x.found("RH426", e.at, e.pointer, "session %q", id)
		case references && absent && e.from > newer:
			x.found("RH334", e.at, e.pointer, "session %q", id)
		case references && absent:
			x.found("RH333", e.at, e.pointer, "session %q", id)
		}
		if references && e.differs {
			x.found("RH346", e.at, e.pointer, "other lists have another workspace for session %q", id)
		}
	}
	if !meaning || !disk {
		return
	}
	for _, n := range x.shown {
		if !x.there(n.id) {
			x.found("RH427", n.at, n.pointer, "session %q", n.id)
		}
	}
}

// newest returns the newest list that names a session.
func (x *examination) newest() generation {
	newest := inTabs
	for _, e := range x.listed {
		newest = min(newest, e.from)
	}
	return newest
}

// there reports whether a session has a record, or its conversation is elsewhere.
func (x *examination) there(id string) bool {
	if _, ok := slices.BinarySearch(x.bodies, id); ok {
		return true
	}
	e := x.listed[id]
	return e != nil && (e.inline || e.remote || e.draft)
}

// relations checks parents and children.
func (x *examination) relations() {
	for _, n := range x.kids {
		if !x.there(n.id) {
			x.found("RH338", n.at, n.pointer, "session %q", n.id)
		}
	}
	for _, n := range x.parents {
		if !x.there(n.id) {
			x.found("RH339", n.at, n.pointer, "session %q", n.id)
		}
	}
}

// places reports missing workspaces of sessions, each once.
func (x *examination) places(ids []string) {
	if !x.whole || x.spaces == nil {
		return
	}
	first, count := map[string]named{}, map[string]int{}
	add := func(n named) {
		if _, ok := first[n.id]; !ok {
			first[n.id] = n
		}
		count[n.id]++
	}
	for _, id := range ids {
		if e := x.listed[id]; e.space != "" && !e.remote && (e.body || e.inline) {
			add(named{e.at, e.pointer, e.space})
		}
	}
	for _, n := range x.stray {
		add(n)
	}
	for _, space := range slices.Sorted(maps.Keys(first)) {
		if n := first[space]; !x.spaces[space] && !windowID(space) {
			x.found("RH344", n.at, n.pointer, "workspace %q, %v", space, rule.Count(int64(count[space]), "session"))
		}
	}
}

// windowID reports whether an id is that of a window without a folder, which has no
// folder in workspaceStorage: a word, or the time when the window was opened.
func windowID(id string) bool {
	if id == "empty-window" || id == "ext-dev" {
		return true
	}
	for _, c := range []byte(id) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(id) == 13
}

package formatstest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rehome/formats"
	"rehome/formats/session"
)

// heads: the list of a store has the sessions that decoding it yields, in the same
// order and with the same members, without anything that decoding does not find.
func heads(t *testing.T, c Case, s source) {
	f, path := c.Format, s.path
	if f.Sessions.Heads == nil {
		return
	}
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	decoded := mustDecode(t, c, path, formats.View{}, session.Selection{}).heads
	for _, d := range decoded {
		if len(f.Clients) > 0 && !slices.Contains(f.Clients, d.Agent) {
			t.Errorf("%q is a session of %q, and the format names %q", d.ID, d.Agent, f.Clients)
		}
	}
	listed := map[int]bool{}
	last := -1
	for h, err := range f.Sessions.Heads(t.Context(), l, silent()) {
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(decoded, func(d session.Head) bool { return d.ID == h.ID && d.Agent == h.Agent })
		if at < 0 || listed[at] {
			t.Fatalf("%q is listed twice, or listed and not decoded", h.ID)
		}
		listed[at] = true
		agree(t, h, &decoded[at])
		if h.Mark == "best of n" {
			continue // the record of the session that it belongs to says so
		}
		if at < last {
			t.Errorf("%q is listed behind %q, and decoded before it", h.ID, decoded[last].ID)
		}
		last = at
	}
	outside := ""
	if f.Home != nil && f.Home.External != nil {
		outside, _ = f.Home.External("", "")
	}
	for i, d := range decoded {
		_, err := os.Stat(filepath.Join(path, outside, d.ID))
		apart := outside != "" && err == nil                  // that folder has a list of its own
		rest := d.Mark == session.PromptHistory               // what no session has: only reading them all tells
		if !listed[i] && !apart && !rest && d.Parent == nil { // a subagent may lie inside of its parent's records
			t.Errorf("%q is decoded, and not listed", d.ID)
		}
	}
}

// agree compares the members that a list has.
func agree(t *testing.T, h, d *session.Head) {
	t.Helper()
	switch {
	case h.Agent != d.Agent,
		h.Title != "" && h.Title != d.Title,
		h.Workspace != "" && h.Workspace != d.Workspace,
		h.Created.Known() && h.Created != d.Created,
		h.Updated.Known() && h.Updated != d.Updated,
		h.Turns >= 0 && d.Turns >= 0 && h.Turns != d.Turns,
		h.Bytes >= 0 && d.Bytes >= 0 && h.Bytes != d.Bytes,
		h.Parent != nil && (d.Parent == nil || h.Parent.Session != d.Parent.Session):
		t.Errorf("the list says\n%+v\nand the session\n%+v", *h, *d)
	}
}

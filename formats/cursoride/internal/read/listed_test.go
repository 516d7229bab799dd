package read

import (
	"testing"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/members"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// TestNameless: each listed bubble without an id is reported, wherever it is in the
// list, and the last archived one stays the last archived one.
func TestNameless(t *testing.T) {
	for _, c := range []struct {
		ids        string // a space for each bubble without an id
		past, want int
	}{{"ab", 1, 1}, {"a b c", 2, 1}, {"   a", 3, 0}, {"   ", 2, -1}, {"a ", 0, 0}, {" a b", 3, 1}, {"a b", -1, -1}} {
		chat, lost := &Chat{past: c.past}, 0
		chat.note = func(n loss.Loss) { lost++ }
		for _, id := range c.ids {
			h := header{id: string(id)}
			if id == ' ' {
				h.id = ""
			}
			chat.headers = append(chat.headers, h)
		}
		chat.nameless()
		if lost+len(chat.headers) != len(c.ids) || chat.past != c.want {
			t.Errorf("%q: %d reported, %d left, archived until %d, want %d", c.ids, lost, len(chat.headers), chat.past, c.want)
		}
	}
}

// TestFamily: a child that is listed twice, or that is the session itself, does not
// hide those after it.
func TestFamily(t *testing.T) {
	const doc = `{"composerId":"c","subagentComposerIds":["c","a","a","","b"],"subComposerIds":["b","d"]}`
	body, _ := lists.Line([]byte(doc), store.Addr{}, func(loss.Loss) {})
	x := New(&lists.Store{}, nil)
	c := &Chat{Entry: x.Entry("c"), x: x, note: x.Note, past: -1}
	c.Out.ID = "c"
	var m members.Object
	m.SplitBy(body, "", lists.ComposerTable())
	c.family(&m)
	got := ""
	for _, l := range c.Out.Children {
		got += l.Session
	}
	if got != "abd" {
		t.Errorf("children %q, want abd", got)
	}
}

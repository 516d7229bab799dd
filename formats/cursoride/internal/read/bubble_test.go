package read

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/internal/members"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/schemas"
)

// FuzzBubble: whatever stands in a bubble or in a session's record, the lines
// are as the schema says and the books balance.
func FuzzBubble(f *testing.F) {
	list, err := filepath.Glob("../../../../testdata/ide/cases/*.sql")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range list {
		script, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, piece := range strings.Split(string(script), "'") {
			if strings.HasPrefix(piece, "{") {
				f.Add([]byte(piece), []byte(`{"composerId":"c1","fullConversationHeadersOnly":[{"bubbleId":"b1","type":2}]}`))
				f.Add([]byte(`{"type":2,"text":"x"}`), []byte(piece))
			}
		}
	}
	f.Fuzz(func(t *testing.T, bubble, composer []byte) {
		body, fate := lists.Line(composer, store.Addr{}, func(loss.Loss) {})
		inner, fate2 := lists.Line(bubble, store.Addr{}, func(loss.Loss) {})
		if fate != lists.Claimed || fate2 != lists.Claimed {
			return
		}
		for _, doc := range [][]byte{body, inner} { // numbers that no line may hold
			if schemas.Validate("canonical-1", fmt.Appendf(nil, `{"type":"session","version":1,"id":"x","agent":"x","extras":[{"name":"x","raw":%s}]}`, doc)) != nil {
				return
			}
		}
		x := New(&lists.Store{}, nil)
		c := &Chat{Entry: x.Entry("c1"), x: x, ctx: t.Context(), note: x.Note, past: -1}
		var m members.Object
		m.SplitBy(body, "", lists.ComposerTable())
		c.fill(&m)
		c.list(&m)
		c.nameless()
		c.headExtras(&m, inner)
		c.Out.Extras = append(c.Out.Extras, m.Settle(&c.tally)...)
		lines := []string{string(session.AppendHead(nil, &c.Out))}
		ids := map[string]bool{}
		d := assembler{chat: c, past: c.past, give: func(m *session.Message) {
			if ids[m.ID] {
				t.Errorf("two messages are %q", m.ID)
			}
			ids[m.ID] = true
			lines = append(lines, string(session.AppendMessage(nil, m)))
		}}
		for i := range c.headers {
			c.headers[i].inline = inner
			b, err := c.read(t.Context(), c.headers[i], i, x.Note)
			if err != nil {
				t.Fatal(err)
			}
			d.take(b)
		}
		d.flush()
		judge, err := schemas.NewLines("canonical-1")
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lines {
			if err := judge.Validate([]byte(l)); err != nil {
				t.Errorf("%v\n%.2000s", err, l)
			}
		}
		for _, n := range []session.Account{c.tally, d.tally} {
			if !n.Balanced() {
				t.Errorf("%+v", n)
			}
		}
	})
}

package cursorchat

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/rule"
	"rehome/formats/session"
)

// TestRootless: a chat whose state was lost, when its client stopped or the log was lost, is
// read as the messages that are in the store, and can be repaired.
func TestRootless(t *testing.T) {
	user, answer := []byte(`{"role":"user","content":"Wet stairs?"}`), []byte(`{"id":"1","role":"assistant","content":[{"type":"text","text":"Mop them."}]}`)
	second, third := []byte(`{"role":"user","content":"Again?"}`), []byte(`{"role":"assistant","content":"Yes."}`)
	link := append(linked(user, answer), second...) // as stores of 2025 have it
	other := []byte{0x0a, 0x02, 'h', 'i'}
	gone := strings.Repeat("ab", 32)
	for name, c := range map[string]struct {
		meta  string
		blobs [][]byte
		want  string
		rest  int64
		same  bool // the state is the one that is missing
	}{
		"messages":          {gone, [][]byte{user, answer, second, other, third}, "Wet stairs?|Mop them.|Again?|Yes.", 0, false},
		"links":             {gone, [][]byte{user, answer, link, third}, "Wet stairs?|Mop them.|Again?|Yes.", 0, false},
		"a root that lacks": {gone, [][]byte{user, answer, linked(user, answer, other)}, "Wet stairs?|Mop them.", 1, false},
		"no root is named":  {"", [][]byte{user}, "Wet stairs?", 0, false},
		"nothing is said":   {gone, [][]byte{other}, "", 1, false},
		"proven":            {idOf(linked(user, answer)), [][]byte{user, answer}, "Wet stairs?|Mop them.", 0, true},
	} {
		dir := laid(t, "chats", nil)
		made(t, dir, `{"agentId":"x","latestRootBlobId":"`+c.meta+`","name":"N","createdAt":1790000000000}`, c.blobs...)
		d := decoded(t, dir, session.Selection{})
		if got := said(d); got != c.want || d.noted("inferred", "L824") != (c.want != "" && !c.same) ||
			d.noted("dropped", "L826") != (name == "messages") {
			t.Errorf("%s: %q, %v", name, got, d.notes)
		}
		if a := d.tally; a.Superseded != c.rest || !a.Balanced() {
			t.Errorf("%s: %+v", name, a)
		}
		if c.meta == "" {
			continue
		}
		acts := 0
		r := &formats.Repair{Findings: []rule.Finding{{Rule: "RH303"}}, Report: func(formats.Act) { acts++ }}
		if err := Format().Repair(t.Context(), dir+"/"+storeName, r); err != nil {
			t.Fatal(err)
		}
		if d = decoded(t, dir, session.Selection{}); said(d) != c.want || d.noted("inferred", "L824") || (acts == 1) != (c.want != "") {
			t.Errorf("%s: repaired in %d acts, it is %q, %v", name, acts, said(d), d.notes)
		}
	}
}

func idOf(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// said returns what the messages say.
func said(d *told) string {
	var out []string
	for _, part := range strings.Split(d.text(), `"type":"text","text":"`)[1:] {
		words, _, _ := strings.Cut(part, `"`)
		out = append(out, words)
	}
	return strings.Join(out, "|")
}

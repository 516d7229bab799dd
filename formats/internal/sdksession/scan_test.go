package sdksession

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
)

// word is what the tests of Scan look for: an é can be stored as an escape.
const word = "needlé"

func newWordScan() *Scan {
	span := len(word) * 6
	return NewScan(formats.NewScan(1, 0, span, func(b []byte) uint64 {
		if bytes.Contains(bytes.ReplaceAll(b, []byte(`\u00e9`), []byte("é")), []byte(word)) {
			return 1
		}
		return 0
	}))
}

// payloadOf returns an event as clients of all sorts could write it.
func payloadOf(r *rand.Rand, kind what, run, text string) string {
	q, _ := json.Marshal(text)
	if r.IntN(3) == 0 {
		q = bytes.ReplaceAll(q, []byte("é"), []byte(`\u00e9`))
	}
	body := fmt.Sprintf(`"type":"thinking","text":%s`, q)
	if kind == assistantText {
		body = fmt.Sprintf(`"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":%s}]}`, q)
	}
	if r.IntN(10) == 0 {
		body += fmt.Sprintf(`,"more":%d`, r.IntN(9))
	}
	return fmt.Sprintf(`{"schemaVersion":1,"type":"sdk_message","runId":%q,"message":{%s}}`, run, body)
}

// TestScanJoined: a word is found in the agent that said it and in no other, wherever its
// events divide it, as rows and as lines.
func TestScanJoined(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	found := 0
	for round := range 2000 {
		c := newWordScan()
		if round%3 == 0 {
			c.gap, c.next = 40, 40 // search often
		}
		const runs = 3
		var pieces [runs][]string
		var want [runs]bool
		kinds := []what{assistantText, thinking}
		for n := range runs {
			text := strings.Repeat(`x"\ y`, r.IntN(5))
			if want[n] = r.IntN(3) == 0; want[n] {
				text += word + strings.Repeat("z", r.IntN(40))
				found++
			}
			for text != "" {
				k := 1 + r.IntN(4)
				for k < len(text) && text[k]&0xc0 == 0x80 {
					k++
				}
				k = min(k, len(text))
				pieces[n], text = append(pieces[n], text[:k]), text[k:]
			}
			c.Run(fmt.Sprint("run", n), fmt.Sprint("agent", n))
		}
		kind := kinds[r.IntN(2)]
		for seq := int64(1); len(pieces[0])+len(pieces[1])+len(pieces[2]) > 0; seq++ {
			n := r.IntN(runs)
			if len(pieces[n]) == 0 {
				continue
			}
			run := fmt.Sprint("run", n)
			other := payloadOf(r, kinds[0]+kinds[1]-kind, "run"+run, "needl")
			for _, p := range []string{payloadOf(r, kind, run, pieces[n][0]), other}[:1+r.IntN(2)] {
				seq++
				line := fmt.Sprintf(`{"runId":%q,"seq":%d,"payload":%s,"createdAt":"then"}`, run, seq, p)
				if round%2 == 0 {
					c.Line([]byte(line))
				} else {
					c.Event([]byte(run), seq, []byte(p), []byte(p))
				}
			}
			pieces[n] = pieces[n][1:]
		}
		c.End(nil)
		for n := range runs {
			if got := c.Matches(fmt.Sprint("agent", n)); got != want[n] {
				t.Fatalf("round %d: run %d has the word: %v, want %v", round, n, got, want[n])
			}
		}
	}
	if found < 1000 {
		t.Errorf("only %d words", found)
	}
}

// TestScanText: the fast way is taken for events that differ only in their text, and for
// no others.
func TestScanText(t *testing.T) {
	s := &said{prefix: []byte(`{"text":"`), suffix: []byte(`"}`)}
	for payload, want := range map[string]string{
		`{"text":"a b"}`: "a b", `{"text":""}`: "", `{"text":"a\"b\\"}`: `a\"b\\`,
		`{"text":"a","b":"c"}`: "-", `{"text":"a\"}`: "-", `{"text":"a\\","b":"c"}`: "-", `{"text":"`: "-", `{"test":"a"}`: "-",
	} {
		got, ok := s.textOf([]byte(payload))
		if !ok {
			got = []byte("-")
		}
		if string(got) != want {
			t.Errorf("%s: %s, want %s", payload, got, want)
		}
	}
}

// TestScanParts: an event with two texts is not taken for one that has only the first.
func TestScanParts(t *testing.T) {
	c := newWordScan()
	c.Run("run", "agent")
	for seq, texts := range []string{`{"type":"text","text":"q"},{"type":"text","text":"need"}`, `{"type":"text","text":"q"},{"type":"text","text":"need"}`, `{"type":"text","text":"lé"}`} {
		c.Event([]byte("run"), int64(seq), fmt.Appendf(nil, `{"schemaVersion":1,"type":"sdk_message","runId":"run","message":{"type":"assistant","message":{"role":"assistant","content":[%s]}}}`, texts), nil)
	}
	if c.End(nil); !c.Matches("agent") {
		t.Error("the word is not found")
	}
}

// TestScanDecodes: what cannot be joined is decoded: the agents of a run whose events are
// out of order, and every agent if more text is held than fits.
func TestScanDecodes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	c := newWordScan()
	c.Run("run1", "agent1")
	c.Run("run1", "agent2")
	c.Run("run2", "agent3")
	for _, seq := range []int64{1, 3, 2} {
		c.Event([]byte("run1"), seq, []byte(payloadOf(r, thinking, "run1", "x")), nil)
	}
	c.Event([]byte("run2"), 1, []byte(payloadOf(r, thinking, "run2", "x")), nil)
	c.Event([]byte("run3"), 1, []byte(payloadOf(r, thinking, "run3", "x")), nil)
	c.End(nil)
	if !c.Matches("agent1") || !c.Matches("agent2") || c.Matches("agent3") {
		t.Error("out of order: not the agents of the run")
	}
	c.Event([]byte("run3"), 1, []byte(payloadOf(r, thinking, "run3", "x")), nil)
	if c.End(nil); !c.Matches("agent3") {
		t.Error("out of order: a run that no record has can be of any agent")
	}

	c = newWordScan()
	c.gap, c.next, c.max = 1000, 1000, 3000
	for n := 0; n < 1000 && !c.Done(); n++ {
		run := fmt.Sprint("run", n)
		c.Event([]byte(run), 1, []byte(payloadOf(r, thinking, run, strings.Repeat("x", 100))), nil)
	}
	if !c.Matches("agent") || c.joined > 10_000 {
		t.Errorf("too much text: %d bytes are held", c.joined)
	}
}

// TestUnwanted: events are left out only if their run is known, and of no agent that is
// wanted.
func TestUnwanted(t *testing.T) {
	x := NewIndex()
	for _, r := range [][2]string{{"a", "r1"}, {"b", "r2"}, {"a", "r3"}, {"b", "r3"}} {
		if !x.Add(sdkdoc.Run, fmt.Appendf(nil, `{"agentId":%q,"runId":%q}`, r[0], r[1]), Place{}) {
			t.Fatal(r)
		}
	}
	if x.Unwanted(nil) != nil || x.Unwanted([]string{"a", "c"}) != nil {
		t.Error("all events are wanted, or those of an agent that may come")
	}
	unwanted := x.Unwanted([]string{"a"})
	for run, want := range map[string]bool{"r1": false, "r2": true, "r3": false, "r4": false} {
		if got := unwanted([]byte(run)); got != want {
			t.Errorf("%s: %v, want %v", run, got, want)
		}
	}
}

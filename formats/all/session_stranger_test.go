package all_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats/formatstest/graphgen"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// TestSessionStrangers puts an unknown field into every protobuf message and an
// unknown member into every JSON object of a store. Each has a mark of its own,
// and each mark comes out again.
func TestSessionStrangers(t *testing.T) {
	for seed := range uint64(max(4, *seeds/4)) {
		p := graphgen.New(seed, graphgen.Whole)
		for name, decode := range map[string]func(*testing.T, *graphgen.Graph) *outcome{
			"cursor-chat": func(t *testing.T, g *graphgen.Graph) *outcome {
				return decodeStore(t, "cursor-chat", chatStore(t, p, g, graphgen.Odd{}), session.Selection{})
			},
			"cursor-sdk": func(t *testing.T, g *graphgen.Graph) *outcome {
				return decodeStore(t, "cursor-sdk", sdkStore(t, p, g, graphgen.Odd{}).Project, session.Selection{})
			},
			"cursor-ndjson": func(t *testing.T, g *graphgen.Graph) *outcome {
				return decodeStore(t, "cursor-ndjson", lineStore(t, p, g), session.Selection{})
			},
		} {
			t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) {
				g := p.StrangeGraph()
				got := decode(t, g)
				sound(t, got, p)
				read := opened(got)
				missing := 0
				told := 0 // a line of checkpoints.ndjson is one blob's, and has no place for more: it is said
				for _, n := range got.notes {
					if n.Code == loss.CheckpointMember {
						told++
					}
				}
				for _, mark := range g.Strangers() {
					if strings.Contains(read, mark) {
						continue
					}
					if missing++; missing > told && missing <= told+12 {
						t.Errorf("lost in silence: %s", around(g.Live(), mark))
					}
				}
				if missing != told {
					t.Errorf("%d of %d strangers lost, %d said to be", missing, len(g.Strangers()), told)
				}
			})
		}
	}
}

// sound is what holds for whatever was decoded.
func sound(t *testing.T, got *outcome, p *graphgen.Plan) {
	t.Helper()
	for _, err := range got.errs {
		t.Error(err)
	}
	if !got.tally.Balanced() || got.tally.Read == 0 {
		t.Errorf("the books do not balance: %+v", got.tally)
	}
	if strings.Contains(got.text(), p.Key()) {
		t.Error("the key got out")
	}
	for _, s := range got.sessions {
		for _, line := range s.lines {
			if !json.Valid([]byte(line)) || strings.ContainsAny(line, "\r\n") {
				t.Fatalf("no line of JSON: %.300s", line)
			}
		}
	}
}

// opened is all that was said, with what stands in base64 or hex behind it.
func opened(o *outcome) string {
	var b strings.Builder
	text := o.text()
	b.WriteString(text)
	for _, part := range strings.Split(text, `"`) {
		if raw, err := base64.StdEncoding.DecodeString(part); err == nil && len(raw) > 5 {
			b.Write(raw)
		}
	}
	return b.String()
}

// TestSessionStrangeRecords: records that no client writes are counted, and
// said.
func TestSessionStrangeRecords(t *testing.T) {
	p := graphgen.New(3, graphgen.Whole)
	for name, c := range map[string]struct {
		odd  graphgen.Odd
		mark string // "" where the count is enough
	}{
		"blob":   {graphgen.Odd{Blob: []byte("tk70x")}, ""},
		"row":    {graphgen.Odd{Row: "tk71x"}, "tk71x"},
		"table":  {graphgen.Odd{Table: "tk72x"}, ""},
		"column": {graphgen.Odd{Column: "tk73x"}, "tk73x"},
	} {
		t.Run(name, func(t *testing.T) {
			g := p.Graph()
			plain := decodeStore(t, "cursor-chat", chatStore(t, p, g, graphgen.Odd{}), session.Selection{})
			chat := decodeStore(t, "cursor-chat", chatStore(t, p, g, c.odd), session.Selection{})
			sdkPlain := decodeStore(t, "cursor-sdk", sdkStore(t, p, g, graphgen.Odd{}).Project, session.Selection{})
			sdk := decodeStore(t, "cursor-sdk", sdkStore(t, p, g, c.odd).Project, session.Selection{})
			for what, pair := range map[string][2]*outcome{"cursor-chat": {plain, chat}, "cursor-sdk": {sdkPlain, sdk}} {
				before, after := pair[0], pair[1]
				sound(t, after, p)
				if name != "column" && after.tally.Read <= before.tally.Read {
					t.Errorf("%s: %d records read, %d without the odd one", what, after.tally.Read, before.tally.Read)
				}
				if name == "column" && after.tally.Members <= before.tally.Members {
					t.Errorf("%s: %d members seen, %d without the odd column", what, after.tally.Members, before.tally.Members)
				}
				if c.mark != "" && !strings.Contains(opened(after), c.mark) && len(after.notes) == len(before.notes) {
					t.Errorf("%s: neither in the session nor among the notes", what)
				}
			}
		})
	}
}

// TestSessionCuts cuts blobs of a store short, in turn and at several places.
// What is left decodes, and a note names the blob.
func TestSessionCuts(t *testing.T) {
	for seed := range uint64(2) {
		p := graphgen.New(seed, graphgen.Whole)
		whole := p.Graph()
		for n := 0; n < len(whole.Blobs); n += 1 + len(whole.Blobs)/few(40) {
			if !whole.Reached(n) {
				continue
			}
			size := len(whole.Blobs[n].Data)
			for _, cut := range []int{0, 1, size / 2, size - 1} {
				if cut < 0 || cut >= size {
					continue
				}
				g := p.Graph()
				id := g.Blobs[n].ID
				g.Blobs[n].Data = g.Blobs[n].Data[:cut]
				at := filepath.Join(t.TempDir(), "lines")
				if err := p.WriteLines(at, g); err != nil {
					t.Fatal(err)
				}
				got := decodeStore(t, "cursor-ndjson", at, session.Selection{})
				sound(t, got, p)
				if len(got.sessions) == 0 {
					t.Errorf("blob %d cut to %d of %d bytes: no session is left", n, cut, size)
				}
				if !got.noted(id[:8]) && !notedLine(got) {
					t.Errorf("blob %d (%s) cut to %d of %d bytes: no note has its address; notes: %v", n, id[:8], cut, size, got.notes)
				}
			}
		}
	}
}

// notedLine: in the files of lines an address is a line of checkpoints.ndjson.
func notedLine(o *outcome) bool { return o.noted("checkpoints.ndjson") }

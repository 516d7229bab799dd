package formatstest_test

import (
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats/all"
	"rehome/formats/formatstest"
	"rehome/formats/formatstest/leaves"
	"rehome/golden"
)

// writer is one that has a law.
type writer struct {
	format string
	walk   leaves.Walk // over what it writes; nil if that is its reader's
	drafts bool        // over its drafts
}

// writers returns them by the folders of their declarations. Those of one folder write the same
// into several containers.
func writers() map[string][]writer {
	out := map[string][]writer{
		"canonical":                 {{"canonical", leaves.Lines(), false}},
		"internal/sdkwrite":         {{"cursor-ndjson", leaves.WrittenLines(), true}, {"cursor-sdk", leaves.WrittenStore(), false}},
		"cursoride/internal/write":  {{"cursor-ide", leaves.WrittenIDE(), false}},
		"claudecode/internal/write": {{"claude-code", nil, false}},
		"codex":                     {{"codex", writtenRollouts, false}},
	}
	for _, f := range all.Registry().All() {
		if _, own := out[f.Name]; !own && f.Family == "lines" && f.Writer != nil {
			out[f.Name] = []writer{{f.Name, nil, false}}
		}
	}
	return out
}

// writtenRollouts is rollouts for what was written: what the client shows, or older versions of it
// read, is another telling of what the model is sent.
func writtenRollouts(t testing.TB, path string, kinds []string) iter.Seq[leaves.Record] {
	return func(yield func(leaves.Record) bool) {
		for r := range rollouts(t, path, kinds) {
			shown := r
			shown.Leaves, shown.Telling, r.Telling = nil, "events", "items"
			rest := r.Leaves[:0:0]
			for _, l := range r.Leaves {
				if strings.HasPrefix(r.Kind, "event_msg ") || strings.HasPrefix(r.Kind, "compacted ") && l.Path == "payload.message" {
					shown.Leaves = append(shown.Leaves, l)
				} else {
					rest = append(rest, l)
				}
			}
			if r.Leaves = rest; len(shown.Leaves) > 0 && !yield(shown) || len(rest) > 0 && !yield(r) {
				return
			}
		}
	}
}

// states is the folder with the declarations that all writers of agents' states share.
const states = "internal/agentwrite"

func ofStates(folder string) bool {
	return folder == "internal/sdkwrite" || folder == "cursoride/internal/write"
}

// writerLaw reads the declarations in a folder.
func writerLaw(t *testing.T, folder string, shared *leaves.Writer) *leaves.Writer {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(folder), "writes.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return leaves.NewWriter(t, nil, string(text), shared)
}

// made are sessions with what no sample has: two system prompts, context between two texts, and
// a result without a call.
func made(format string) []formatstest.Fixture {
	const text = `{"type":"session","version":1,"id":"made","agent":"codex","workspace":"/w"}
{"type":"message","id":"1","role":"system","parts":[{"type":"text","text":"Be kind to people."}]}
{"type":"message","id":"2","role":"system","parts":[{"type":"text","text":"Be brief in each answer."}]}
{"type":"message","id":"3","role":"user","turn":{"number":1},"at":"2026-01-31T12:00:00.000Z","parts":[{"type":"text","text":"Look at the picture."},{"type":"context","tag":"note","text":"It is small."},{"type":"text","text":"Then say what you saw."}]}
{"type":"message","id":"4","role":"assistant","at":"2026-01-31T12:00:03.000Z","parts":[{"type":"text","text":"I saw the upper half."}]}
{"type":"message","id":"5","role":"tool","at":"2026-01-31T12:00:04.000Z","parts":[{"type":"tool_result","call":"gone","content":[{"type":"text","text":"The lower half is missing."}]}]}
`
	if format != "canonical" {
		return nil
	}
	return []formatstest.Fixture{{Name: "made", Make: func(t *testing.T, dir string) string {
		path := filepath.Join(dir, "made.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}}}
}

// TestWriters: whatever is in a session is in what a writer makes of it, or its declarations say
// why not; what else is there is declared, too.
func TestWriters(t *testing.T) {
	shared, complete := writerLaw(t, states, nil), true
	for folder, list := range writers() {
		var law *leaves.Writer
		if ofStates(folder) {
			law = writerLaw(t, folder, shared)
		} else {
			law = writerLaw(t, folder, nil)
		}
		law.Lined = folder == "canonical"
		whole := 0
		for _, w := range list {
			t.Run(w.format, func(t *testing.T) {
				reader := newSharedLaws(t).leavesOf(t, w.format)
				if w.walk != nil {
					reader.Walk = w.walk
				}
				of := law.Of(reader)
				of.Drafts = w.drafts
				if writes(t, w.format, of) {
					whole++
				}
			})
		}
		if whole < len(list) || ofStates(folder) && golden.Every() > 1 { // what the others have is not known: of some shapes, few stores are generated
			complete = complete && !ofStates(folder)
			continue
		}
		for _, text := range law.Unused() {
			t.Errorf("%s: %s", folder, text)
		}
	}
	if complete {
		for _, text := range shared.Unused() {
			t.Errorf("%s: %s", states, text)
		}
	}
}

// writes tests the law of a writer on the sessions of all formats. It returns false if some of the
// tests were not selected.
func writes(t *testing.T, format string, law *leaves.Writer) bool {
	total, ran, reg := 0, 0, all.Registry()
	for _, from := range reg.All() {
		if from.Sessions == nil {
			continue
		}
		list := append(samples(t, from.Name), made(from.Name)...)
		if from.Name == "stream-json" {
			list = append(list, generated(t, from.Name)[1:generatedSeeds]...)
		}
		for i, f := range append(played(t, from.Name), generatedAgents(t, from.Name)...) {
			if i%golden.Every() == 0 {
				list = append(list, f)
			}
		}
		total += len(list)
		t.Run(from.Name, func(t *testing.T) {
			c := formatstest.Case{Format: from, Registry: reg}
			for _, f := range list {
				t.Run(f.Name, func(t *testing.T) {
					ran++
					c.Writes(t, f, reg.Lookup(format), law)
				})
			}
		})
	}
	return ran == total
}

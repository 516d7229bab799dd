package sdksession

import (
	"slices"
	"strings"
	"testing"

	"rehome/formats/internal/sdkdoc"
	"rehome/formats/session"
)

// whole is an agent with all three sources: two turns with checkpoints, a third
// run that was cancelled before it had one.
func whole() *fake {
	f := &fake{graphs: map[string]*fakeGraph{"a": {}}, transcripts: map[string]string{
		"agent-transcripts/a/a.jsonl": `{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\nfirst\n</user_query>"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"A"},{"type":"tool_use","name":"Shell","input":{"command":"ls"}},{"type":"tool_use","name":"WebSearch","input":{"query":"q"}}]}}
{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\nsecond\n</user_query>"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"B"}]}}
`}}
	f.add(sdkdoc.Agent, anAgent)
	g := f.graphs["a"]
	g.messages = append(g.messages, &session.Message{ID: "sys", Role: session.System, Parts: []session.Part{&session.Text{Text: "S"}}})
	g.turn("q1", "first", "A + call:c1 + call:w1", "result:c1", "result:w1")
	g.turn("q2", "second", "B")
	f.run("a", "r1", 1, `,"requestId":"q1","status":"finished","startedAt":10,"endedAt":20`, says("A"), calls("c1", running), calls("c1", worked))
	f.run("a", "r2", 2, `,"requestId":"q2","status":"finished","startedAt":30,"endedAt":40`, says("B"))
	f.run("a", "r3", 3, `,"requestId":"q3","status":"cancelled","startedAt":50,"endedAt":60`, asks("third"), says("C…"))
	return f
}

func (f *fake) without(names string) *fake {
	for _, name := range strings.Split(names, "+") {
		switch name {
		case "state":
			f.graphs = nil
		case "catalog":
			f.docs = [3][]string{}
		case "transcript":
			f.transcripts = nil
		case "agents":
			f.docs[sdkdoc.Agent] = nil
		case "runs":
			f.docs[sdkdoc.Run] = nil
		case "events":
			f.docs[sdkdoc.Event] = nil
		}
	}
	return f
}

// TestEachSourceGone deletes each source in turn, and each pair, and shows what
// is left of the conversation.
func TestEachSourceGone(t *testing.T) {
	for _, c := range []struct{ gone, want string }{
		{"", `
session a
  sys system | S
  g1 user turn 1 r1 finished | first
  g2 assistant | A | call:c1 | call:w1
  g3 tool | result:c1
  g4 tool | result:w1
  g5 user turn 2 r2 finished | second
  g6 assistant | B
  run-3 user in run-3 after g6 turn 3 r3 cancelled | third <events
  run-3.2 assistant in run-3 | C… <events
`},
		{"transcript", `
session a
  sys system | S
  g1 user turn 1 r1 finished | first
  g2 assistant | A | call:c1 | call:w1
  g3 tool | result:c1
  g4 tool | result:w1
  g5 user turn 2 r2 finished | second
  g6 assistant | B
  run-3 user in run-3 after g6 turn 3 r3 cancelled | third <events
  run-3.2 assistant in run-3 | C… <events
`},
		{"state", `
session a without state
  run-1 user turn 1 r1 finished | first <transcript
  run-1.1 assistant | A <events | call:c1{"command":"ls"} <events
  run-1.3-result tool | result:c1 success {"status":"success","value":{"exitCode":0}} <events
  line-2 assistant | call:line-2.3 <transcript
  run-2 user turn 2 r2 finished | second <transcript
  run-2.1 assistant | B <events
  run-3 user turn 3 r3 cancelled | third <events
  run-3.2 assistant | C… <events
`},
		{"catalog", `
session a without agents, runs, events
  sys system | S
  g1 user turn 1 | first
  g2 assistant | A | call:c1 | call:w1
  g3 tool | result:c1
  g4 tool | result:w1
  g5 user turn 2 | second
  g6 assistant | B
`},
		{"state+transcript", `
session a without state, transcript
  run-1 user turn 1 r1 finished
  run-1.1 assistant | A <events | call:c1{"command":"ls"} <events
  run-1.3-result tool | result:c1 success {"status":"success","value":{"exitCode":0}} <events
  run-2 user turn 2 r2 finished
  run-2.1 assistant | B <events
  run-3 user turn 3 r3 cancelled | third <events
  run-3.2 assistant | C… <events
`},
		{"catalog+transcript", `
session a without agents, runs, events
  sys system | S
  g1 user turn 1 | first
  g2 assistant | A | call:c1 | call:w1
  g3 tool | result:c1
  g4 tool | result:w1
  g5 user turn 2 | second
  g6 assistant | B
`},
		{"catalog+state", `
session a without agents, events, state
  line-1 user turn 1 | first <transcript
  line-2 assistant | A <transcript | call:line-2.2 <transcript | call:line-2.3 <transcript
  line-3 user turn 2 | second <transcript
  line-4 assistant | B <transcript
`},
		{"catalog+state+transcript", ``},
		{"events", `
session a without events
  sys system | S
  g1 user turn 1 r1 finished | first
  g2 assistant | A | call:c1 | call:w1
  g3 tool | result:c1
  g4 tool | result:w1
  g5 user turn 2 r2 finished | second
  g6 assistant | B
  run-3 user in run-3 after g6 turn 3 r3 cancelled
`},
		{"events+state", `
session a without events, state
  line-1 user turn 1 r1 finished | first <transcript
  line-2 assistant | A <transcript | call:line-2.2 <transcript | call:line-2.3 <transcript
  line-3 user turn 2 r2 finished | second <transcript
  line-4 assistant | B <transcript
  run-3 user turn 3 r3 cancelled
`},
		{"runs", `
session a without runs
  sys system | S
  g1 user turn 1 r1 | first
  g2 assistant | A | call:c1 | call:w1
  g3 tool | result:c1
  g4 tool | result:w1
  g5 user turn 2 r2 | second
  g6 assistant | B
  run-3 user in run-3 after g6 turn 3 r3 | third <events
  run-3.2 assistant in run-3 | C… <events
`},
		{"agents", `
session a without agents
  sys system | S
  g1 user turn 1 r1 finished | first
  g2 assistant | A | call:c1 | call:w1
  g3 tool | result:c1
  g4 tool | result:w1
  g5 user turn 2 r2 finished | second
  g6 assistant | B
  run-3 user in run-3 after g6 turn 3 r3 cancelled | third <events
  run-3.2 assistant in run-3 | C… <events
`},
	} {
		t.Run(c.gone, func(t *testing.T) {
			f := whole().without(c.gone)
			same(t, f.tell(t), c.want)
			for _, s := range []string{"state", "transcript"} {
				told := slices.ContainsFunc(f.notes, func(n string) bool { return strings.HasSuffix(n, "L744 "+s) })
				if told != strings.Contains(strings.SplitN(c.want, "\n", 3)[min(1, strings.Count(c.want, "\n"))], s) {
					t.Errorf("noted that %s is missing: %v\n%s", s, told, strings.Join(f.notes, "\n"))
				}
			}
		})
	}
}

// TestOrderOfSources takes the kinds of documents in every order.
func TestOrderOfSources(t *testing.T) {
	want := whole().tell(t)
	for _, order := range [][]sdkdoc.Kind{{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		f := whole()
		f.order = order
		same(t, f.tell(t), want)
	}
}

// A transcript has the prompts of runs that left no state, too: that only a
// later run left one does not make the first prompt its own.
func TestPromptsOfRunsWithoutAState(t *testing.T) {
	said := func(text string) string {
		return `{"role":"user","message":{"content":[{"type":"text","text":` + quote("<user_query>\n"+text+"\n</user_query>") + `}]}}` + "\n"
	}
	f := &fake{transcripts: map[string]string{"agent-transcripts/a/a.jsonl": said("one") + said("two") + said("four")}}
	f.add(sdkdoc.Agent, anAgent)
	f.run("a", "r1", 1, `,"status":"finished"`, asks("one"), says("A"))
	f.run("a", "r2", 2, `,"status":"finished"`, says("B"))
	f.run("a", "r3", 3, `,"status":"cancelled"`, asks("three"), says("C"))
	f.run("a", "r4", 4, `,"status":"finished","latestCheckpointRef":{"schemaVersion":1,"rootBlobId":"04`+strings.Repeat("0", 62)+`"}`, says("D"))
	same(t, f.tell(t), `
session a without state
  run-1 user turn 1 r1 finished | one <events
  run-1.2 assistant | A <events
  run-2 user turn 2 r2 finished | two <transcript
  run-2.1 assistant | B <events
  run-3 user turn 3 r3 cancelled | three <events
  run-3.2 assistant | C <events
  run-4 user turn 4 r4 finished | four <transcript
  run-4.1 assistant | D <events
`)
}

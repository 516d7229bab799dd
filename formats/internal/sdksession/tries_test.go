package sdksession

import (
	"testing"

	"rehome/formats/internal/sdkdoc"
	"rehome/formats/session"
)

// A run that was cancelled goes on in its events where the state stops: what
// they tell beyond is told, and nothing of it twice.
func TestRestOfATextThatTheGraphBegins(t *testing.T) {
	for what, deltas := range map[string][]string{
		"between deltas":       {"one ", "two\n", " three", " four"},
		"within a delta":       {"on", "e two\n three four"},
		"blanks by themselves": {"one", " ", "two", "\n", " ", "three", " four"},
	} {
		f := &fake{graphs: map[string]*fakeGraph{"a": {}}}
		f.add(sdkdoc.Agent, anAgent)
		f.graphs["a"].turn("q1", "p", "call:c0", "think:hm + one ", "two\n")
		events := []string{asks("p"), calls("c0", running), thinks("hm")}
		for _, d := range deltas {
			events = append(events, says(d))
		}
		f.run("a", "r1", 1, `,"requestId":"q1","status":"cancelled","result":"one two three four"`, append(events, thinks("so"))...)
		got := f.tell(t)
		id := map[string]string{"between deltas": "6", "within a delta": "5", "blanks by themselves": "8"}[what]
		same(t, what+"\n"+got, what+`
session a
  g0 user turn 1 r1 cancelled | p
  g1 assistant | call:c0
  g2 assistant | think:hm 0 | one 
  g3 assistant | two

  run-1.`+id+` assistant |  three four <events | think:so 0 <events
`)
	}
}

// The graph may have the same text in more pieces than there are items, and
// the rest of one may be the beginning of the next.
func TestRestThatTheGraphGoesOnWith(t *testing.T) {
	f := &fake{graphs: map[string]*fakeGraph{"a": {}}}
	f.add(sdkdoc.Agent, anAgent)
	f.graphs["a"].turn("q1", "p", "a", "b", "c + call:c1", "e")
	f.run("a", "r1", 1, `,"requestId":"q1"`, says("a"), says("b"), says("c"), says("d"), calls("c1", running), says("e"), says("f"))
	same(t, f.tell(t), `
session a
  g0 user turn 1 r1 | p
  g1 assistant | a
  g2 assistant | b
  g3 assistant | c | d <events | call:c1
  g4 assistant | e
  run-1.7 assistant | f <events
`)
}

// A client whose service fails begins anew, up to four times, and tells all of
// it again.
func TestTriesAreToldOnce(t *testing.T) {
	f := &fake{}
	f.add(sdkdoc.Agent, anAgent)
	f.run("a", "r1", 1, `,"status":"error","error":"down"`, asks("p"), thinks("hm"), says("It will "), says("not last"),
		asks("p"), thinks("hm"), says("It will not last."), asks("p"), thinks("hm"), says("It will"),
		asks("p"), thinks("hm"), says("It will not last."), calls("c1", running), says("more"))
	f.run("a", "r2", 2, ``, asks("q"), says("One thing."), asks("q"), says("Another."), asks("and r"), says("Another."))
	same(t, f.tell(t), `
session a without state
  run-1 user turn 1 r1 error down retries 3 | p <events
  run-1.2 assistant | think:hm 0 <events | It will not last. <events | call:c1{"command":"ls"} <events
  run-1.15 assistant | more <events
  run-2 user turn 2 r2 retries 1 | q <events
  run-2.2 assistant | One thing. <events | Another. <events
  run-2.5 user | and r <events
  run-2.6 assistant | Another. <events
`)
}

// What the graph tells of the try that went well is that of the first, too.
func TestTriesOfATurnOfTheGraph(t *testing.T) {
	f := &fake{graphs: map[string]*fakeGraph{"a": {}}}
	f.add(sdkdoc.Agent, anAgent)
	f.graphs["a"].turn("q1", "p", "A + call:c1", "result:c1", "B")
	f.run("a", "r1", 1, `,"requestId":"q1","status":"finished"`, asks("p"), says("A"), asks("p"), says("A"), calls("c1", running), calls("c1", worked), says("B"))
	same(t, f.tell(t), `
session a
  g0 user turn 1 r1 finished retries 1 | p
  g1 assistant | A | call:c1
  g2 tool | result:c1
  g3 assistant | B
`)
}

// Events that nothing ties to the graph stand in front of the words that end
// the turn; where the times of both are known, these decide.
func TestUntiedEventsStandInFrontOfTheEnd(t *testing.T) {
	for _, ends := range []int64{0, 1767225603000} {
		f := &fake{graphs: map[string]*fakeGraph{"a": {}}}
		f.add(sdkdoc.Agent, anAgent)
		g := f.graphs["a"]
		g.turn("q1", "p", "A + call:c1", "result:c1", "the end")
		if ends > 0 {
			g.messages[3].At = session.Stored(ends)
		}
		f.run("a", "r1", 1, `,"requestId":"q1"`, asks("p"), thinks("hm"), calls("c2", running), calls("c2", worked), calls("c3", running))
		want := `
session a
  g0 user turn 1 r1 | p
  g1 assistant | A | call:c1
  g2 tool | result:c1
  run-1.2 assistant | think:hm 0 <events | call:c2{"command":"ls"} <events
  run-1.4-result tool | result:c2 success {"status":"success","value":{"exitCode":0}} <events
  run-1.5 assistant | call:c3{"command":"ls"} <events
  g3 assistant | the end
`
		if ends > 0 { // between the thought and the call
			want = `
session a
  g0 user turn 1 r1 | p
  g1 assistant | A | call:c1
  g2 tool | result:c1
  run-1.2 assistant | think:hm 0 <events
  g3 assistant | the end
  run-1.3 assistant | call:c2{"command":"ls"} <events
  run-1.4-result tool | result:c2 success {"status":"success","value":{"exitCode":0}} <events
  run-1.5 assistant | call:c3{"command":"ls"} <events
`
		}
		same(t, f.tell(t), want)
	}
}

// What was never in a state was never archived, whatever stands around it; the
// tail of a turn that was is in front of the boundary.
func TestRunsOfTheirOwnAreNotArchived(t *testing.T) {
	f := &fake{graphs: map[string]*fakeGraph{"a": {}}}
	f.add(sdkdoc.Agent, anAgent)
	g := f.graphs["a"]
	g.messages = append(g.messages, &session.Message{ID: "context", Role: session.User, Simulated: true})
	g.turn("q2", "p2", "A")
	for _, m := range g.messages {
		m.Archived = true
	}
	g.messages = append(g.messages, &session.Message{ID: "cut", Role: session.System, Parts: []session.Part{&session.Boundary{Archived: 3}}})
	g.turn("q4", "p4", "B")
	f.run("a", "r1", 1, `,"status":"error"`, asks("p1"), says("lost"))
	f.run("a", "r2", 2, `,"requestId":"q2","status":"cancelled"`, asks("p2"), says("A"), calls("c1", running))
	f.run("a", "r3", 3, `,"status":"error"`, asks("p3"), says("lost too"))
	f.run("a", "r4", 4, `,"requestId":"q4"`, asks("p4"), says("B"))
	same(t, f.tell(t), `
session a
  context user archived
  g1 user archived turn 1 r2 cancelled | p2
  g2 assistant archived | A
  run-2.3 assistant archived | call:c1{"command":"ls"} <events
  cut system | boundary:4
  g4 user turn 2 r4 | p4
  g5 assistant | B
  run-1 user in run-1 after context turn 1 r1 error | p1 <events
  run-1.2 assistant in run-1 | lost <events
  run-3 user in run-3 after cut turn 2 r3 error | p3 <events
  run-3.2 assistant in run-3 | lost too <events
`)
}

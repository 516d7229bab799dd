package sdksession

import (
	"strings"
	"testing"

	"rehome/formats/internal/sdkdoc"
	"rehome/formats/session"
)

const anAgent = `{"agentId":"a","cwd":"/ws","status":"idle","name":"n","createdAt":1,"updatedAt":2,"sdkMetadata":{"blobEncryptionKey":"k"}}`

func TestEventsOnlyAdd(t *testing.T) {
	f := &fake{graphs: map[string]*fakeGraph{"a": {}}}
	f.add(sdkdoc.Agent, anAgent)
	g := f.graphs["a"]
	g.messages = append(g.messages, &session.Message{ID: "sys", Role: session.System})
	g.turn("q1", "do it", "A + call:c1", "result:c1", "done")
	g.turn("q2", "and more", "think:hm + C")
	f.run("a", "r1", 1, `,"requestId":"q1","status":"finished","result":"done"`,
		`"type":"request","request_id":"q1"`, `"type":"status","status":"RUNNING"`, asks("do it"), thinks("let "), thinks("me"), thought,
		says("A"), calls("c1", running), calls("c1", worked), says("do"), says("ne"), `"type":"status","status":"FINISHED"`)
	f.run("a", "r2", 2, `,"requestId":"q2","status":"cancelled"`,
		asks("and more"), thinks("hm"), says("C"), calls("c2", running), calls("c3", running), calls("c2", worked), says("half"))
	same(t, f.tell(t), `
session a
  sys system
  g1 user turn 1 r1 finished | do it
  g2 assistant | think:let me 7 <events | A | call:c1
  g3 tool | result:c1
  g4 assistant | done
  g5 user turn 2 r2 cancelled | and more
  g6 assistant | think:hm 0 | C
  run-2.4 assistant | call:c2{"command":"ls"} <events | call:c3{"command":"ls"} <events
  run-2.6-result tool | result:c2 success {"status":"success","value":{"exitCode":0}} <events
  run-2.7 assistant | half <events
`)
}

func TestSameTextInOtherPieces(t *testing.T) {
	f := &fake{graphs: map[string]*fakeGraph{"a": {}}}
	f.add(sdkdoc.Agent, anAgent)
	f.graphs["a"].turn("q1", "p", "one ", "two", "call:c1", "three four")
	f.run("a", "r1", 1, `,"requestId":"q1"`, says("one"), says(" two\n"), calls("c1", running), says("three"), `"type":"task","text":"so far"`, says(" four"))
	same(t, f.tell(t), `
session a
  g0 user turn 1 r1 | p
  g1 assistant | one 
  g2 assistant | two
  g3 assistant | call:c1
  run-1.5 assistant | summary:so far <events
  g4 assistant | three four
`)
}

func TestResultsThatTheGraphLacks(t *testing.T) {
	f := &fake{graphs: map[string]*fakeGraph{"a": {}}}
	f.add(sdkdoc.Agent, anAgent)
	f.graphs["a"].turn("q1", "", "call:c1 + call:c2", "result:c2", "end")
	f.run("a", "r1", 1, `,"requestId":"q1","result":"quite another"`, asks("lost"), calls("c1", running), calls("c2", running), calls("c2", worked), calls("c1", worked), says("end"))
	same(t, f.tell(t), `
session a
  g0 user turn 1 r1 | lost <events
  g1 assistant | call:c1 | call:c2
  g2 tool | result:c2
  run-1.5-result tool | result:c1 success {"status":"success","value":{"exitCode":0}} <events
  g3 assistant | end
  run-1.result assistant | quite another <events
`)
}

func TestArchivedTurnsTakeWhatTheyLack(t *testing.T) {
	f := &fake{graphs: map[string]*fakeGraph{"a": {}}}
	f.add(sdkdoc.Agent, anAgent)
	g := f.graphs["a"]
	g.turn("q1", "p1", "A")
	g.turn("q2", "p2", "B")
	for _, m := range g.messages {
		m.Archived = true
	}
	g.messages = append(g.messages, &session.Message{ID: "cut", Role: session.System, Parts: []session.Part{&session.Boundary{Archived: 4}}})
	g.turn("q3", "p3", "C")
	f.run("a", "r1", 1, `,"requestId":"q1"`, says("A"), says("!"), `"type":"task","text":"t"`, says("more"))
	f.run("a", "r2", 2, `,"requestId":"q2"`, says("B"))
	f.run("a", "r3", 3, `,"requestId":"q3"`, says("C"))
	same(t, f.tell(t), `
session a
  g0 user archived turn 1 r1 | p1
  g1 assistant archived | A
  run-1.2 assistant archived | ! <events | summary:t <events | more <events
  g2 user archived turn 2 r2 | p2
  g3 assistant archived | B
  cut system | boundary:5
  g5 user turn 3 r3 | p3
  g6 assistant | C
`)
}

func TestRunsWithoutTurns(t *testing.T) {
	f := &fake{graphs: map[string]*fakeGraph{"a": {}}}
	f.add(sdkdoc.Agent, anAgent)
	f.graphs["a"].turn("q1", "p1", "A")
	f.graphs["a"].turn("q3", "p3", "B")
	f.run("a", "r1", 1, `,"requestId":"q1","status":"finished"`)
	f.run("a", "r2", 2, `,"requestId":"q2","status":"error","error":"no network","startedAt":5`, `"type":"status","status":"ERROR","message":"no network"`)
	f.run("a", "r3", 3, `,"requestId":"q3","status":"finished"`)
	f.run("a", "r4", 4, `,"status":"queued"`)
	same(t, f.tell(t), `
session a without transcript +runs.ndjson:4
  g0 user turn 1 r1 finished | p1
  g1 assistant | A
  g2 user turn 2 r3 finished | p3
  g3 assistant | B
  run-2 user in run-2 after g1 turn 2 r2 error no network
`)
	if n := strings.Count(strings.Join(f.notes, "\n"), "L118"); n != 1 {
		t.Errorf("%d messages are said not to be sent", n)
	}
}

// A state without a turn is no conversation: what its runs say is told as one, which is a loss.
func TestRunsWithoutConversation(t *testing.T) {
	f := &fake{graphs: map[string]*fakeGraph{"a": {}}}
	f.add(sdkdoc.Agent, anAgent)
	f.graphs["a"].messages = []*session.Message{{ID: "sys", Role: session.System, Parts: []session.Part{&session.Text{Text: "S"}}}}
	same(t, f.tell(t), "session a\n  sys system | S\n")
	f.run("a", "r1", 1, `,"status":"cancelled"`, asks("p1"), says("A"))
	f.run("a", "r2", 2, `,"status":"error"`, asks("p2"))
	same(t, f.tell(t), `
session a without state
  sys system | S
  run-1 user turn 1 r1 cancelled | p1 <events
  run-1.2 assistant | A <events
  run-2 user turn 2 r2 error | p2 <events
`)
	if n := strings.Count(strings.Join(f.notes, "\n"), "L118"); n != 0 {
		t.Errorf("%d messages are said not to be sent", n)
	}
}

func TestWhoIsWho(t *testing.T) {
	ref := func(b string) string {
		return `,"latestCheckpointRef":{"schemaVersion":1,"rootBlobId":"` + b + `00000000000000000000000000000000000000000000000000000000000000"}`
	}
	f := &fake{graphs: map[string]*fakeGraph{"a": {}}}
	f.add(sdkdoc.Agent, anAgent)
	g := f.graphs["a"]
	g.turn("", "one", "A")
	g.turn("", "go on", "call:c9")
	g.turn("", "go on", "C")
	g.turn("", "", "D")
	f.run("a", "r5", 5, ref("05"), asks("five")) // no turn of its own: it speaks against the last
	f.run("a", "r4", 4, ref("04"), says("D"))
	f.run("a", "r3", 3, ref("03"), asks("go on"))
	f.run("a", "r2", 2, ref("02"), asks("go on"), calls("c9", running))
	f.run("a", "r1", 1, ref("01"), asks("one"), says("A"))
	same(t, f.tell(t), `
session a
  g0 user turn 1 r1 | one
  g1 assistant | A
  g2 user turn 2 r2 | go on
  g3 assistant | call:c9
  g4 user turn 3 r3 | go on
  g5 assistant | C
  g6 user turn 4 r4
  g7 assistant | D
  run-5 user in run-5 after g7 turn 5 r5 | five <events
`)
}

// A branch that was gone back on follows all that is live.
func TestBranchesComeLast(t *testing.T) {
	f := &fake{graphs: map[string]*fakeGraph{"a": {}}}
	f.add(sdkdoc.Agent, anAgent)
	g := f.graphs["a"]
	g.turn("q1", "p1", "A")
	g.messages = append(g.messages, &session.Message{ID: "b", Role: session.User, Branch: "x", Turn: &session.Turn{Number: 2}})
	f.run("a", "r1", 1, `,"requestId":"q1"`, says("A"), says("B"))
	f.run("a", "r2", 2, ``, says("C"))
	same(t, f.tell(t), `
session a without transcript
  g0 user turn 1 r1 | p1
  g1 assistant | A
  run-1.2 assistant | B <events
  b user in x turn 2
  run-2 user in run-2 after g1 turn 2 r2
  run-2.1 assistant in run-2 | C <events
`)
}

// TestStopsAnywhere: a consumer that stops after any message is not called again.
func TestStopsAnywhere(t *testing.T) {
	f := &fake{graphs: map[string]*fakeGraph{"a": {}}}
	f.add(sdkdoc.Agent, anAgent)
	f.graphs["a"].turn("q1", "p", "A", "call:c1", "B")
	task := `"type":"task","text":"t"`
	f.run("a", "r1", 1, `,"requestId":"q1"`, asks("p"), task, calls("c0", running), calls("c0", worked), says("A"), task, calls("c1", running), calls("c2", running), calls("c2", worked), task, says("B"), says("more"))
	f.run("a", "r2", 2, "", asks("again"), says("C"))
	for stop := 0; ; stop++ {
		n := 0
		for one, err := range f.store().Sessions(t.Context(), session.Selection{}) {
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range one.Messages {
				if err != nil {
					t.Fatal(err)
				}
				if n++; n > stop {
					break
				}
			}
		}
		if n <= stop {
			if n < 9 {
				t.Errorf("only %d messages", n)
			}
			break
		}
	}
}

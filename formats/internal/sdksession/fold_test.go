package sdksession

import (
	"fmt"
	"strings"
	"testing"

	"rehome/formats/internal/sdkdoc"
	"rehome/formats/session"
)

// TestFold shows what becomes of each kind of event where nothing else tells
// the run.
func TestFold(t *testing.T) {
	const rest = `,"requestId":"q","status":"finished","usage":{"inputTokens":1},"error":"e"`
	for _, c := range []struct {
		name   string
		events []string
		want   string
	}{
		{"deltas are joined", []string{says("a"), says("b"), `"type":"status","status":"RUNNING"`, says("c")},
			"run-1.1 assistant | abc <events"},
		{"thoughts end with their duration", []string{thinks("a"), thinks("b"), thought, thinks("c"), says("d")},
			"run-1.1 assistant | think:ab 7 <events | think:c 0 <events | d <events"},
		{"the last status, the last arguments that are some", []string{
			calls("c", `"status":"running","args":{"command":"l"}`), calls("c", `"status":"running","args":{"command":"ls"}`),
			calls("c", `"status":"error","args":{},"result":{"status":"error","error":{"message":"m"}}`)},
			`run-1.1 assistant | call:c{"command":"ls"} <events
run-1.3-result tool | result:c error {"status":"error","error":{"message":"m"}} failed <events`},
		{"other arguments are kept", []string{
			calls("c", `"status":"running","args":{"command":"ls -l","n":1}`), calls("c", `"status":"running","args":{"command":"pwd","n":1,"more":[1]}`),
			calls("c", `"status":"running","args":{"command":"pwd -L","n":1,"more":[1,2]}`), calls("c", `"status":"completed","args":{"command":"pwd -L","n":1,"more":[1,2]}`)},
			`run-1.1 assistant | call:c{"command":"pwd -L","n":1,"more":[1,2]} event.args={"command":"ls -l","n":1} <events
run-1.4-result tool | result:c <events`},
		{"arguments that were cut short do not replace whole ones", []string{
			calls("c", `"status":"running","args":{"command":"whole"}`), calls("c", `"status":"completed","args":{"command":"who"},"truncated":{"args":true}`)},
			`run-1.1 assistant | call:c{"command":"whole"} <events
run-1.2-result tool | result:c <events`},
		{"a command that ran and failed", []string{calls("c", `"status":"completed","result":{"status":"success","value":{"exitCode":2}}`)},
			`run-1.1 assistant | call:c <events
run-1.1-result tool | result:c success {"status":"success","value":{"exitCode":2}} failed <events`},
		{"a result in another spelling", []string{calls("c", `"status":"completed","result":{"status":"ok","value":{"exitCode":0}}`)},
			`run-1.1 assistant | call:c <events
run-1.1-result tool | result:c success {"status":"ok","value":{"exitCode":0}} <events`},
		{"a command that failed, in another spelling", []string{calls("c", `"status":"completed","result":{"status":"ok","value":{"exitCode":2}}`)},
			`run-1.1 assistant | call:c <events
run-1.1-result tool | result:c success {"status":"ok","value":{"exitCode":2}} failed <events`},
		{"a word that nobody has described is no failure", []string{calls("c", `"status":"completed","result":{"status":"partial","value":{}}`)},
			`run-1.1 assistant | call:c <events
run-1.1-result tool | result:c partial {"status":"partial","value":{}} <events`},
		{"a word of failure", []string{calls("c", `"status":"completed","result":{"status":"permissionDenied","error":{}}`)},
			`run-1.1 assistant | call:c <events
run-1.1-result tool | result:c permissionDenied {"status":"permissionDenied","error":{}} failed <events`},
		{"calls side by side", []string{calls("c", running), calls("d", running), calls("d", worked), calls("c", worked), calls("e", running)},
			`run-1.1 assistant | call:c{"command":"ls"} <events | call:d{"command":"ls"} <events
run-1.4-result tool | result:c success {"status":"success","value":{"exitCode":0}} <events
run-1.3-result tool | result:d success {"status":"success","value":{"exitCode":0}} <events
run-1.5 assistant | call:e{"command":"ls"} <events`},
		{"a prompt in between", []string{asks("p"), says("a"), asks("p2"), says("b")},
			"p <events\nrun-1.2 assistant | a <events\nrun-1.3 user | p2 <events\nrun-1.4 assistant | b <events"},
		{"what says what the run says", []string{`"type":"request","request_id":"q"`, `"type":"usage","usage":{"inputTokens":1}`, `"type":"status","status":"ERROR","message":"e"`}, ""},
		{"what says something else", []string{`"type":"request","request_id":"x"`, `"type":"usage","usage":{"inputTokens":2}`, `"type":"status","status":"ERROR","message":"f"`},
			"run-1.1 assistant | opaque:event | opaque:event | opaque:event"},
		{"what nobody has described", []string{`"type":"system","subtype":"init","model":"m"`, `"type":"tool_call","name":"n"`, `"type":"status","status":"RUNNING","more":1`},
			`run-1.1 assistant | opaque:event | opaque:event | opaque:event members {"message.more":1} <events`},
		{"a summary", []string{`"type":"task","text":"so far"`}, "run-1.1 assistant | summary:so far <events"},
		{"content that is no text", []string{`"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"image","data":"x"}]}`},
			`run-1.1 assistant | a <events | opaque:event members {"message.message.content.1":{"type":"image","data":"x"}} <events`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fake{}
			f.add(sdkdoc.Agent, anAgent)
			f.run("a", "r", 1, rest, c.events...)
			var got []string
			for i, l := range strings.Split(strings.TrimSpace(f.tell(t)), "\n") {
				if i < 1 {
					continue
				}
				l = strings.TrimPrefix(strings.TrimSpace(l), "run-1 user turn 1 r finished e")
				if at := strings.Index(l, "opaque:event {"); at > 0 { // whole lines are too long to read
					parts := strings.Split(l, " | ")
					for i, p := range parts {
						if strings.HasPrefix(p, "opaque:event {") {
							parts[i] = "opaque:event"
						}
					}
					l = strings.Join(parts, " | ")
				}
				if l = strings.TrimPrefix(l, " | "); l != "" {
					got = append(got, l)
				}
			}
			same(t, strings.Join(got, "\n"), c.want)
		})
	}
}

// TestPayloadWithoutEnvelope: a payload can be a message, or no more around it than its name.
func TestPayloadWithoutEnvelope(t *testing.T) {
	for _, payload := range []string{`%s`, `{"message":%s}`, `{"type":"sdk_message","message":%s}`} {
		f := &fake{}
		f.add(sdkdoc.Agent, anAgent)
		f.run("a", "r", 1, "")
		for i, m := range []string{`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"so"}]}}`, `{"type":"tool_call","call_id":"c","name":"shell.execute","args":{"command":"ls"},"status":"completed","result":{"status":"ok","value":{"stdout":"a"}}}`} {
			f.add(sdkdoc.Event, fmt.Sprintf(`{"runId":"r","seq":%d,"payload":%s}`, i+1, fmt.Sprintf(payload, m)))
		}
		if got := f.tell(t); strings.Contains(got, "opaque") || !strings.Contains(got, "| so <events") || !strings.Contains(got, `call:c{"command":"ls"}`) || !strings.Contains(got, `result:c success`) {
			t.Errorf("in %s:\n%s", payload, got)
		}
		if total := f.books.Total(); total.CarriedRaw != 0 || total.Unreadable != 0 {
			t.Errorf("in %s: %+v", payload, total)
		}
	}
}

// TestRunsThatNoRecordSpeaksOf takes what their events say.
func TestRunsThatNoRecordSpeaksOf(t *testing.T) {
	f := &fake{}
	f.add(sdkdoc.Agent, anAgent)
	f.add(sdkdoc.Event, eventLine("a", "r", 1, `"type":"request","request_id":"q"`), eventLine("a", "r", 2, asks("p")), eventLine("a", "r", 3, `"type":"status","status":"FINISHED"`))
	f.add(sdkdoc.Event, `{"runId":"nobody","seq":1,"payload":null}`)
	same(t, f.tell(t), `
session a without runs, state
  run-1 user turn 1 r finished | p <events
`)
	if total := f.books.Total(); total.Read != 5 || total.CarriedRaw != 1 {
		t.Errorf("%+v", total)
	}
}

// TestDoubles: of two documents of one id the first counts.
func TestDoubles(t *testing.T) {
	f := &fake{}
	f.add(sdkdoc.Agent, anAgent, strings.Replace(anAgent, `"n"`, `"second"`, 1))
	f.run("a", "r", 1, `,"status":"finished","startedAt":1`, says("x"))
	f.add(sdkdoc.Run, `{"runId":"r","agentId":"a","turnNumber":2,"sdkMetadata":{"blobEncryptionKey":"k"}}`)
	f.add(sdkdoc.Event, eventLine("a", "r", 1, says("y")))
	f.add(sdkdoc.Run, `{"runId":"s","agentId":"stranger","turnNumber":1,"status":"finished","startedAt":1}`)
	same(t, f.tell(t), `
session a without state, transcript +agents.ndjson:2 +runs.ndjson:2
  run-1 user turn 1 r finished
  run-1.1 assistant | xy <events
session stranger without agents, events, state, transcript
  run-1 user turn 1 s finished
`)
	for s := range f.store().Sessions(t.Context(), session.Selection{}) {
		if head := string(session.AppendHead(nil, s)); strings.Contains(head, "blobEncryptionKey") || strings.Contains(head, `"k"`) {
			t.Error("a secret left home: " + head)
		}
	}
}

// TestLinear counts how often documents are read: the same for each turn, however
// many there are.
func TestLinear(t *testing.T) {
	reads := func(turns int) int {
		f := &fake{graphs: map[string]*fakeGraph{"a": {}}}
		f.add(sdkdoc.Agent, anAgent)
		for i := range turns {
			q := fmt.Sprint("q", i)
			more := `,"requestId":"` + q + `","status":"finished"`
			switch i % 3 {
			case 0:
				f.graphs["a"].turn(q, "p", "A", "call:"+q, "result:"+q)
			case 1:
				f.graphs["a"].turn("", q, "A", "call:"+q, "result:"+q)
			}
			f.run("a", "r"+q, i+1, more, asks(q), says("A"), calls(q, running), calls(q, worked))
		}
		f.tell(t)
		return f.reads
	}
	small, large := reads(50), reads(5000)
	if large > small*101 {
		t.Errorf("%d reads for 50 turns, %d for 5000", small, large)
	}
	if large > 5000*20 {
		t.Errorf("%d reads for 5000 turns of 4 events", large)
	}
}

// TestKinds: events name tools by their kind; other spellings are the same tools.
func TestKinds(t *testing.T) {
	for name, kind := range map[string]string{
		"shell": "shell", "edit": "edit", "updateTodos": "updateTodos", "recordScreen": "recordScreen", "mcp": "mcp",
		"shell.execute": "shell", "file.read": "read", "file.edit": "edit", "file.write": "edit", "file.multi_edit": "edit",
		"Shell": "shell", "search_replace": "edit", "quantum.leap": "quantum.leap",
	} {
		f := &fake{}
		f.add(sdkdoc.Agent, anAgent)
		f.run("a", "r", 1, "", strings.Replace(calls("c", worked), `"name":"shell"`, `"name":`+quote(name), 1))
		for s, err := range f.store().Sessions(t.Context(), session.Selection{}) {
			if err != nil {
				t.Fatal(err)
			}
			for m, err := range s.Messages {
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range m.Parts {
					if c, ok := p.(*session.ToolCall); ok && (c.Kind != kind || c.Name != name) {
						t.Errorf("%s: kind %q, name %q", name, c.Kind, c.Name)
					}
				}
			}
		}
	}
}

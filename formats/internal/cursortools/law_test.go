package cursortools

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"rehome/formats/formatstest/callgen"
	"rehome/formats/session"
)

// TestArgumentsArrive: each leaf of what the model of any client gave is in what the next
// model is sent.
func TestArgumentsArrive(t *testing.T) {
	m := &callgen.Maker{Rand: rand.New(rand.NewPCG(3, 4))}
	calls, agents := callgen.Calls(), []string{session.ClaudeCode, session.Codex, session.CursorCLI, "another"}
	for _, name := range []string{"mcp__tracker__list", "TodoWrite", "AskUserQuestion", "ExitPlanMode", "Agent", "Bash", "Edit", "update_plan", "exec_command"} {
		calls = append(calls, [2]string{"", name}, [2]string{"mcp", name})
	}
	for i := range 20 * len(calls) {
		kind, name, agent := calls[i%len(calls)][0], calls[i%len(calls)][1], agents[i/len(calls)%len(agents)]
		var given any = m.Arguments(kind)
		if i%11 == 0 {
			given = m.Value(0)
		}
		doc, err := json.Marshal(given)
		if err != nil {
			t.Fatal(err)
		}
		c := Spell(agent, &session.ToolCall{ID: "c", Name: name, Kind: kind, Input: doc}, nil)
		var call, list []string
		callgen.Leaves("", callgen.Parsed(t, c.Input), &call)
		call = append(call, c.Name)
		members, ok := given.(map[string]any)
		if !ok {
			members = map[string]any{"": given}
		}
		for argument, v := range members {
			list = list[:0]
			callgen.Leaves(argument, v, &list)
			for _, leaf := range list {
				if !callgen.Arrives(leaf, argument, call) {
					t.Fatalf("%s: %s %s %s\nbecame %s %s\nwithout %q of %s", agent, kind, name, doc, c.Name, c.Input, leaf, argument)
				}
			}
		}
	}
}

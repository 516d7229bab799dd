package pipe

import (
	"slices"
	"testing"

	"rehome/formats/session"
)

// TestUsed: servers as each client names them, and first words of commands, of the live
// branch.
func TestUsed(t *testing.T) {
	call := func(name, kind, input, args string) *session.Message {
		return &session.Message{Role: session.Assistant, Parts: []session.Part{&session.ToolCall{Name: name, Kind: kind, Input: session.Raw(input), Args: session.Raw(args)}}}
	}
	u := used{}
	left := call("mcp__left__x", "", `{}`, "")
	left.Branch = "b1"
	for _, m := range []*session.Message{
		call("mcp__git_hub__find", "", `{}`, ""), call("mcp", "mcp", "", `{"providerIdentifier":"db","toolName":"find"}`),
		call("CallMcpTool", "mcp", `{"server":"user-web"}`, ""), call("mcp", "mcp", "", `{"tools":[{"serverName":"inner"}]}`), call("mcp", "mcp", "", `{}`),
		call("Bash", "shell", `{"command":"A=1 git diff --stat HEAD x"}`, ""), call("exec_command", "shell", `{"cmd":"ls | wc"}`, ""),
		call("Shell", "shell", "", `{"command":"$(rm)"}`), call("Read", "read", `{"command":"not run"}`, ""), left,
	} {
		u.add(m)
	}
	if got, want := names(u.servers), []string{"db", "git_hub", "inner", "user-web"}; !slices.Equal(got, want) {
		t.Errorf("servers %q, want %q", got, want)
	}
	if got, want := names(u.commands), []string{"git diff --stat HEAD", "ls"}; !slices.Equal(got, want) {
		t.Errorf("commands %q, want %q", got, want)
	}
}

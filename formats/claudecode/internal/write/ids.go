package write

import (
	"cmp"
	"encoding/hex"
	"strings"

	"rehome/formats"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/internal/filename"
	"rehome/formats/session"
)

// SessionPath returns the path of the file of a session below a config folder. The
// file of a subagent is in the side folder of its session.
func SessionPath(h *session.Head) string {
	dir := "projects/" + outline.FolderName(workspace(h.Workspace)) + "/"
	if h.Parent != nil {
		return dir + sessionID(h.Agent, h.Parent.Session) + "/subagents/agent-" + agentID(h.Agent, h.ID) + outline.Ending
	}
	return dir + sessionID(h.Agent, h.ID) + outline.Ending
}

// agentType returns the kind of a subagent, or the default.
func agentType(kind string) string { return cmp.Or(kind, "general-purpose") }

// workspace returns a folder without a final slash; the root if it is unknown.
func workspace(dir string) string {
	if len(dir) > 1 {
		dir = strings.TrimRight(dir, "/")
	}
	if dir == "" {
		return "/"
	}
	return dir
}

// namespace is the prefix of all hashed ids. It must never change, so that a
// session has the same ids whenever it is written.
const namespace = "rehome/claude-code/1\x00"

// uuid returns a name-based UUID.
func uuid(parts ...string) string { return filename.NamedUUID(namespace, parts...) }

// digits returns n digits of a name-based id.
func digits(n int, parts ...string) string {
	sum := filename.NamedSum(namespace, parts...)
	return hex.EncodeToString(sum[:])[:n]
}

// SessionID returns the id that a session gets.
func SessionID(h *session.Head) string { return sessionID(h.Agent, h.ID) }

// sessionID returns the id of a session for Claude Code, which keeps its own ids.
func sessionID(agent, id string) string {
	if agent == session.ClaudeCode && formats.IsUUID(id) {
		return id
	}
	return uuid("session", agent, id)
}

// agentID returns the id of a subagent for Claude Code.
func agentID(agent, id string) string {
	if rest, ok := strings.CutPrefix(id, "agent-"); ok && agent == session.ClaudeCode && outline.ValidID(rest, outline.MaxID) {
		return rest
	}
	return "a" + digits(16, "agent", agent, id)
}

// knownID returns the id of a call in a form that the API accepts.
func knownID(id string) string {
	if outline.ValidID(id, outline.MaxID) {
		return id
	}
	return "toolu_" + digits(24, "call", id)
}

// toolName returns the name of a tool in a form that the API accepts.
func toolName(s string) string {
	if s == "" {
		return "unknown"
	}
	out := outline.Sanitize(s)
	if len(out) > outline.MaxTool {
		out = out[:outline.MaxTool-9] + "-" + digits(8, "tool", s)
	}
	return out
}

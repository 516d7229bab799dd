package claudecode

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf16"

	"rehome/formats"
	"rehome/formats/session"
)

// longestFolder is how many characters of a path a project's folder is named by.
const longestFolder = 200

// folder is the name of the folder for sessions of a working directory.
func folder(cwd string) string {
	units := utf16.Encode([]rune(cwd))
	out := make([]byte, len(units))
	hash := int32(0)
	for i, u := range units {
		hash = hash*31 + int32(u)
		if out[i] = '-'; u < 0x80 && (u >= 'a' && u <= 'z' || u >= 'A' && u <= 'Z' || u >= '0' && u <= '9') {
			out[i] = byte(u)
		}
	}
	if len(out) <= longestFolder {
		return string(out)
	}
	n := int64(hash)
	if n < 0 {
		n = -n
	}
	return string(out[:longestFolder]) + "-" + strconv.FormatInt(n, 36)
}

// named is where a session's file belongs: below a config folder, or in the
// side folder of the session that it is a subagent of.
func named(h *session.Head) string {
	dir := "projects/" + folder(workspace(h.Workspace)) + "/"
	if h.Parent != nil {
		return dir + sessionID(h.Agent, h.Parent.Session) + "/subagents/agent-" + agentID(h.Agent, h.ID) + ending
	}
	return dir + sessionID(h.Agent, h.ID) + ending
}

// beside is what the client keeps beside a subagent's file: what kind it is of,
// what it was to do, and the call that started it.
func beside(h *session.Head) (ending string, content []byte) {
	if h.Parent == nil {
		return "", nil
	}
	up := h.Parent
	p := object(nil)
	p.text("agentType", agentType(up.Kind))
	p.filled("description", brief(cmp.Or(up.Title, h.Title)))
	if up.Call != "" {
		p.text("toolUseId", knownID(up.Call))
	}
	return ".meta.json", p.done()
}

// agentType is a kind of subagent; one that nobody named is the usual one.
func agentType(kind string) string { return cmp.Or(kind, "general-purpose") }

// workspace is a folder without the slash at its end. Where none is known it is
// the root.
func workspace(dir string) string {
	if len(dir) > 1 {
		dir = strings.TrimRight(dir, "/")
	}
	if dir == "" {
		return "/"
	}
	return dir
}

// home is where the client keeps its config folder.
func home(m formats.Machine) []string {
	return []string{cmp.Or(m.Env("CLAUDE_CONFIG_DIR"), filepath.Join(m.Home, ".claude"))}
}

// namespace is what our names are hashed in. It must never change: a session
// that is written again has to have the same ids.
const namespace = "rehome/claude-code/1\x00"

// uuid is a name-based id (version 5).
func uuid(parts ...string) string {
	sum := hashed(parts)
	sum[6] = sum[6]&0x0f | 0x50
	sum[8] = sum[8]&0x3f | 0x80
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func hashed(parts []string) [sha1.Size]byte {
	b := []byte(namespace)
	for _, p := range parts {
		b = append(strconv.AppendInt(b, int64(len(p)), 10), ':')
		b = append(b, p...)
	}
	return sha1.Sum(b)
}

// digits is a short name-based id.
func digits(n int, parts ...string) string {
	sum := hashed(parts)
	return hex.EncodeToString(sum[:])[:n]
}

// sessionID is a session's id for Claude Code. Its own are kept.
func sessionID(agent, id string) string {
	if agent == session.ClaudeCode && isUUID(id) {
		return id
	}
	return uuid("session", agent, id)
}

// agentID is a subagent's.
func agentID(agent, id string) string {
	if rest, ok := strings.CutPrefix(id, "agent-"); ok && agent == session.ClaudeCode && fits(rest) {
		return rest
	}
	return "a" + digits(16, "agent", agent, id)
}

// isUUID reports 8-4-4-4-12 digits of any version.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'):
			return false
		}
	}
	return true
}

// longestID is how long an id of a call may be.
const longestID = 64

// knownID is a call's id, as the API takes it.
func knownID(id string) string {
	if fits(id) {
		return id
	}
	return "toolu_" + digits(24, "call", id)
}

// fits reports an id that the API takes.
func fits(id string) bool { return id != "" && len(id) <= longestID && plain(id) == id }

// plain makes a dash of what no id or name of the API's may hold.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, s)
}

// longestTool is how long a tool's name may be.
const longestTool = 128

// toolName is a tool's name as the API takes it.
func toolName(s string) string {
	if s == "" {
		return "unknown"
	}
	out := plain(s)
	if len(out) > longestTool {
		out = out[:longestTool-9] + "-" + digits(8, "tool", s)
	}
	return out
}

// ownModel reports the id of a model of Claude Code's own API. The client
// resumes with the model of the last answer, and warns of one it does not know.
func ownModel(model string) bool {
	rest, ok := strings.CutPrefix(model, "claude-")
	if !ok {
		return false
	}
	words := 0
	for _, part := range strings.Split(rest, "-") {
		switch part {
		case "opus", "sonnet", "haiku", "fable":
			words++
		default:
			if _, err := strconv.Atoi(part); err != nil {
				return false
			}
		}
	}
	return words == 1 && strings.ContainsAny(rest, "0123456789")
}

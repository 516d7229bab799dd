package outline

import (
	"strings"

	"rehome/formats"
	"rehome/formats/claudecode/internal/shape"
	"rehome/internal/rawjson"
)

// Recognize returns the evidence that a file is a session of Claude Code, and its
// score; "" and 0 if there is none. It looks at lines until one decides.
func Recognize(l *formats.Location) (what string, score int) {
	first := true
	for line, torn := range l.Lines() {
		if line[0] != '{' {
			if first {
				return "", 0
			}
			continue // the client skips it, too
		}
		first = false
		what, score, more := tells(line)
		if score > 0 || !more && !torn {
			return what, score
		}
	}
	line := l.FirstLine()
	if id := rawjson.TextAt(line, "sessionId"); formats.IsUUID(id) && strings.EqualFold(l.Name(), id+Ending) && rawjson.TextAt(line, "type") != "" {
		return "named after the sessionId of its first line", sure
	}
	return "", 0
}

// IsSession reports whether a file is recognized as a session, whatever its name.
func IsSession(l *formats.Location) bool {
	what, _ := Recognize(l)
	return what != ""
}

// Scores: of the client's own lines, and of lines that an export or another
// program copied.
const (
	sure   = 85
	copied = 60
)

// tells returns the evidence in a line. If there is none, more reports whether a
// later line can still decide.
func tells(line []byte) (what string, score int, more bool) {
	var e shape.Line
	e.Split(rawjson.Members(line))
	kind, session := e.Text(shape.Type), e.Text(shape.Session)
	has := func(name string) bool { return rawjson.Last(line, name) != nil }
	of := "a line of type " + kind
	switch {
	case e[shape.Parent] != nil && e[shape.Side] != nil:
		return "a line has a parentUuid and isSidechain", sure, false
	case kind == "user" || kind == "assistant":
		content := rawjson.Last(e[shape.Message], "content")
		switch {
		case !rawjson.IsText(content) && (len(content) == 0 || content[0] != '[') || has("session_id"): // another client's
			return "", 0, false
		case session != "":
			return of + " has a sessionId", sure, false
		case e[shape.UUID] != nil || e[shape.Time] != nil:
			return of + " has a message and no session_id", copied, false
		}
	case has("systemPayload"): // another client's
		return "", 0, false
	case kind == "summary" && has("leafUuid"):
		return of + " has a leafUuid", sure, false
	case kind == "file-history-snapshot" && has("messageId"), kind == "file-history-delta" && has("snapshotMessageId"):
		return "a line is a snapshot of files", sure, false
	case session != "" && listed(unique, kind):
		return of + " has a sessionId", sure, false
	case kind == "queue-operation" && has("operation"):
		return of + " has an operation", sure, false
	case formats.IsUUID(session) && (kind == "tag" || kind == "mode" ||
		kind == "system" && (e[shape.Subtype] != nil || e[shape.Content] != nil)):
		return of + " has a sessionId", sure, false
	}
	return "", 0, session != "" || listed(common+unique, kind)
}

// Types of lines: unique are those outside of the conversation that no other client
// uses, common are also used by others, and rare ones do not identify a session.
const (
	unique = " custom-title ai-title agent-name last-prompt queue-operation permission-mode api-request api-request-shape" +
		" api-request-blob cost-state tools-used atis-latch content-replacement history-suppression derived-from continued-in pr-link "
	common = " user assistant system summary attachment progress file-history-snapshot file-history-delta "
	rare   = " agent-color agent-setting tag mode memory-mode repl-mode attribution-snapshot api-request-resumed isolation-latch relocated" +
		" resume-head-vouch ended-by-model fork-context-ref frame-link observer-ref worktree-state bridge-session session-owner" +
		" dev-mods artifact-comment-monitor artifact-autoreact-ledger rehome "
)

func listed(types, name string) bool {
	return name != "" && !strings.Contains(name, " ") && strings.Contains(types, " "+name+" ")
}

// KnownType reports whether a type of line is known.
func KnownType(name string) bool {
	return listed(unique+common+rare, name) || strings.HasPrefix(name, "data-flow-")
}

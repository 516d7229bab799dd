package claudecode

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/rawjson"
)

// maxProbe is how much is read of a folder's files, in search of one that is a
// session, before the last of them.
const maxProbe = 16 << 20

// probe knows a config folder, a project's folder and a session's file.
func probe(_ context.Context, l *formats.Location) (formats.Match, error) {
	match := func(score int, evidence ...string) (formats.Match, error) {
		if evidence[len(evidence)-1] == "" {
			return formats.Match{}, nil
		}
		return formats.Match{Score: score, Evidence: evidence}, nil
	}
	left := maxProbe
	switch {
	case l.IsRegular() && strings.EqualFold(filepath.Ext(l.Path), ending):
		what, score := begins(l)
		return match(score, what)
	case l.IsDir() && l.Has("projects"):
		list, _ := os.ReadDir(filepath.Join(l.Path, "projects"))
		what := ""
		for i := 0; i < len(list) && what == ""; i++ {
			if list[i].IsDir() {
				what = project(l, path.Join("projects", list[i].Name()), &left)
			}
		}
		return match(90, "has a projects folder with a project in it", what)
	case l.IsDir():
		return match(90, project(l, ".", &left))
	}
	return formats.Match{}, nil
}

// project says what makes a folder a project's.
func project(l *formats.Location, dir string, left *int) string {
	list, err := os.ReadDir(filepath.Join(l.Path, filepath.FromSlash(dir)))
	if err != nil {
		return ""
	}
	for _, e := range list {
		id, ok := strings.CutSuffix(e.Name(), ending)
		if !ok || !isUUID(id) || !e.Type().IsRegular() || *left <= 0 {
			continue
		}
		file := l.Join(path.Join(dir, e.Name()))
		if what, _ := begins(file); what != "" {
			return "has a file named by a UUID, in which " + what
		}
		text, _ := file.Text()
		*left -= len(text)
	}
	return ""
}

// begins says what the first lines have that only these files have, and how
// sure that is. Some lines say nothing, and one behind them does.
func begins(l *formats.Location) (what string, score int) {
	first := true
	for line, torn := range l.Lines() {
		if line[0] != '{' {
			if first {
				return "", 0
			}
			continue // the client passes over it, too
		}
		first = false
		what, score, more := tells(line)
		if score > 0 || !more && !torn {
			return what, score
		}
	}
	line := l.FirstLine()
	if id := text(line, "sessionId"); isUUID(id) && strings.EqualFold(l.Name(), id+ending) && text(line, "type") != "" {
		return "named after the sessionId of its first line", sure
	}
	return "", 0
}

// How sure a probe is of a file: of the client's own lines, and of those that
// an export or another program copied.
const (
	sure   = 85
	copied = 60
)

// tells judges a line. Without a score, more says that it may be one of these
// files' all the same.
func tells(line []byte) (what string, score int, more bool) {
	var kind, session string
	content := false
	has := map[string]bool{}
	for name, v := range rawjson.Members(line) {
		switch n := string(name); n {
		case "type":
			kind = rawjson.Text(v)
		case "sessionId":
			session = rawjson.Text(v)
		case "message":
			c := rawjson.Last(v, "content")
			content = len(c) > 0 && (c[0] == '"' || c[0] == '[')
		case "parentUuid", "isSidechain", "uuid", "timestamp", "leafUuid", "messageId", "snapshotMessageId", "operation", "subtype", "content", "session_id", "systemPayload":
			has[n] = true
		}
	}
	of := "a line of type " + kind
	switch {
	case has["parentUuid"] && has["isSidechain"]:
		return "a line has a parentUuid and isSidechain", sure, false
	case kind == "user" || kind == "assistant":
		switch {
		case !content || has["session_id"]: // another client's
			return "", 0, false
		case session != "":
			return of + " has a sessionId", sure, false
		case has["uuid"] || has["timestamp"]:
			return of + " has a message and no session_id", copied, false
		}
	case has["systemPayload"]: // another client's
		return "", 0, false
	case kind == "summary" && has["leafUuid"]:
		return of + " has a leafUuid", sure, false
	case kind == "file-history-snapshot" && has["messageId"], kind == "file-history-delta" && has["snapshotMessageId"]:
		return "a line is a snapshot of files", sure, false
	case session != "" && slices.Contains(entryTypes(), kind):
		return of + " has a sessionId", sure, false
	case kind == "queue-operation" && has["operation"]:
		return of + " has an operation", sure, false
	case isUUID(session) && (kind == "tag" || kind == "mode" || kind == "system" && (has["subtype"] || has["content"])):
		return of + " has a sessionId", sure, false
	}
	return "", 0, session != "" || slices.Contains(lineTypes(), kind) || slices.Contains(entryTypes(), kind)
}

// entryTypes are lines beside the conversation whose types no other client
// has.
func entryTypes() []string {
	return []string{"custom-title", "ai-title", "agent-name", "last-prompt", "queue-operation", "permission-mode", "api-request", "api-request-shape",
		"api-request-blob", "cost-state", "tools-used", "atis-latch", "content-replacement", "history-suppression", "derived-from", "continued-in", "pr-link"}
}

// lineTypes are those that others may have, too.
func lineTypes() []string {
	return []string{"user", "assistant", "system", "summary", "attachment", "progress", "file-history-snapshot", "file-history-delta"}
}

package opencode

import (
	"strings"

	"rehome/formats/internal/members"
	"rehome/formats/internal/object"
	"rehome/formats/internal/rowclient"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

func fields(raw []byte) *members.Fields { return members.Split(raw, "") }

// columns are those of the table session, with the members that they are in an object of one.
var columns = []struct{ column, path string }{
	{"id", "id"}, {"slug", "slug"}, {"project_id", "projectID"}, {"workspace_id", "workspaceID"}, {"directory", "directory"}, {"path", "path"},
	{"parent_id", "parentID"}, {"summary_additions", "summary/additions"}, {"summary_deletions", "summary/deletions"}, {"summary_files", "summary/files"},
	{"summary_diffs", "summary/diffs"}, {"cost", "cost"}, {"tokens_input", "tokens/input"}, {"tokens_output", "tokens/output"},
	{"tokens_reasoning", "tokens/reasoning"}, {"tokens_cache_read", "tokens/cache/read"}, {"tokens_cache_write", "tokens/cache/write"},
	{"share_url", "share/url"}, {"title", "title"}, {"agent", "agent"}, {"model", "model"}, {"version", "version"}, {"metadata", "metadata"},
	{"time_created", "time/created"}, {"time_updated", "time/updated"}, {"time_compacting", "time/compacting"}, {"time_archived", "time/archived"},
	{"permission", "permission"}, {"revert", "revert"},
}

// value is one of a path below an object.
type value struct {
	path string
	raw  []byte
}

// nested writes values at their paths, of which those below one member follow one another.
func nested(dst []byte, list []value) []byte {
	p := object.New(dst)
	for i := 0; i < len(list); {
		name, rest, deeper := strings.Cut(list[i].path, "/")
		if !deeper {
			p.Raw(name, list[i].raw)
			i++
			continue
		}
		below := []value{{rest, list[i].raw}}
		for i++; i < len(list) && strings.HasPrefix(list[i].path, name+"/"); i++ {
			below = append(below, value{list[i].path[len(name)+1:], list[i].raw})
		}
		p.Name(name)
		p.B = nested(p.B, below)
	}
	return p.Done()
}

// untitled is how the title begins that OpenCode gives a session, until it makes one of its first prompt.
const untitled = "New session - "

// title is the title of a session; that of one without is an extra.
func title(f *members.Fields) string {
	if strings.HasPrefix(rawjson.Text(f.Peek("title")), untitled) {
		return ""
	}
	return f.Text("title")
}

// sessionOf makes a session of its object.
func sessionOf(info []byte, more ...session.Extra) *rowclient.Session {
	f := fields(info)
	times := fields(f.Members("time"))
	s := &rowclient.Session{Head: session.Head{ID: f.Text("id"), Agent: name, Title: title(f), Workspace: f.Text("directory"),
		Created: times.Time("created"), Updated: times.Time("updated"), Turns: -1, Bytes: -1}}
	if up := f.Text("parentID"); up != "" {
		s.Parent = &session.Link{Session: up, Kind: rawjson.Text(f.Peek("agent"))}
	}
	model := rawjson.TextAt(f.Peek("model"), "id")
	if old := times.Peek("archived"); old != nil && string(old) != "null" {
		s.Mark = "archived"
	}
	extras := append(append(f.Rest(), below("time.", times)...), more...)
	s.Own = converse(info)
	s.Fill = func(out *session.Session) {
		out.Extras = append(extras, out.Extras...)
		if out.Status = s.Mark; out.Model == "" {
			out.Model = model
		}
	}
	return s
}

package cursortranscript

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/linerepair"
	"rehome/formats/internal/plainfiles"
	"rehome/formats/internal/transcript"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

const name = "cursor-transcript"

// Format is the codec.
func Format() *formats.Format {
	return &formats.Format{
		Name:    name,
		Title:   "readable copies of Cursor's sessions (agent-transcripts), without results",
		Clients: []string{session.CursorCLI, session.CursorSDK},
		Probe:   probe,
		Plain:   plainfiles.Records(name),
		Sessions: &formats.Sessions{
			Decode: decode,
			Heads:  heads,
			Scan:   scan,
		},
		IsStoreName: isStoreName,
		Home: &formats.Home{
			Roots: home,
			SessionFiles: []string{
				"**/agent-transcripts/**/*.jsonl",
				"**/agent-transcripts/**/*.txt",
			},
		},
		Check:  check,
		Repair: linerepair.Repair,
		Merge:  merge(),
	}
}

// isStoreName reports whether a path is named like the transcript of a session.
func isStoreName(path string) bool {
	id, ok := strings.CutSuffix(filepath.Base(path), ".jsonl")
	return ok && formats.IsUUID(id) && slices.Contains(strings.Split(filepath.ToSlash(path), "/"), transcript.Folder)
}

func probe(_ context.Context, l *formats.Location) (formats.Match, error) {
	at, _ := inside(l.Path)
	what := ""
	switch {
	case l.IsRegular():
		return probeFile(l, at), nil
	case at == transcript.Folder:
		what = "the folder is named " + transcript.Folder + " and contains transcripts"
	case strings.Count(at, "/") == 1:
		what = "a session's folder in " + transcript.Folder
	}
	if what == "" || !l.IsDir() || !jsonl.Holds(l, layout(l)) {
		return formats.Match{}, nil
	}
	return formats.Match{Score: 90, Evidence: []string{what}}, nil
}

// inside returns a path from the folder of transcripts on, "" if it is not in one, and
// the name of the project's folder that this folder is in, if there is one.
func inside(p string) (rel, slug string) {
	abs, err := filepath.Abs(p)
	if err != nil {
		return "", ""
	}
	parts := strings.Split(filepath.ToSlash(abs), "/")
	for i := len(parts) - 1; i >= max(0, len(parts)-4); i-- {
		if parts[i] == transcript.Folder {
			if i > 1 && parts[i-2] == "projects" {
				slug = parts[i-1]
			}
			return strings.Join(parts[i:], "/"), slug
		}
	}
	return "", ""
}

func probeFile(l *formats.Location, at string) formats.Match {
	_, named := transcript.Named(at)
	first := l.FirstLine()
	if strings.EqualFold(filepath.Ext(l.Path), ".txt") && string(first) == "user:" {
		if named {
			return formats.Match{Score: 85, Evidence: []string{"a text file in " + transcript.Folder + " that starts with user:"}}
		}
		return formats.Match{Score: formats.Guess, Evidence: []string{"a text file that starts with user:"}}
	}
	what, spoken := beginning(first)
	if !named && what != "" && !spoken { // others write such lines, too
		for line := range l.Lines() {
			if what, spoken = beginning(line); what == "" || spoken {
				break
			}
		}
	}
	switch {
	case what != "" && named:
		return formats.Match{Score: 90, Evidence: []string{"in " + transcript.Folder, what}}
	case spoken:
		return formats.Match{Score: 60, Evidence: []string{what}}
	}
	return formats.Match{}
}

// beginning is what a line is as a transcript's; spoken reports that it is a
// message.
func beginning(line []byte) (what string, spoken bool) {
	var role, kind string
	message, sole := false, true
	for n, v := range rawjson.Members(line) {
		switch string(n) {
		case "role":
			role = rawjson.Text(v)
		case "type":
			kind = rawjson.Text(v)
		case "message":
			message, sole = rawjson.Last(v, "content") != nil, false
		case "metadata", "error", "status":
		default:
			sole = false
		}
	}
	switch {
	case kind == "" && message && (role == "user" || role == "assistant"):
		return "a line with a role and a message but no type", true
	case sole && (kind == "metadata" || kind == "turn_ended"), sole && kind == "error" && role == "":
		return "a line of type " + kind, false
	}
	return "", false
}

// home lists the folders of transcripts of each project. Unlike the SDK's
// agents they follow CURSOR_DATA_DIR.
func home(m formats.Machine) []string {
	projects := filepath.Join(cmp.Or(m.Env("CURSOR_DATA_DIR"), filepath.Join(m.Home, ".cursor")), "projects")
	list, err := os.ReadDir(projects)
	if err != nil {
		return []string{projects}
	}
	var out []string
	for _, e := range list {
		dir := filepath.Join(projects, e.Name(), transcript.Folder)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			out = append(out, dir)
		}
	}
	return out
}

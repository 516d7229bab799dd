package canonical

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/linerepair"
	"rehome/formats/internal/plainfiles"
	"rehome/internal/rawjson"
)

const (
	name   = "canonical"
	ending = ".jsonl"
)

// Format is the codec.
func Format() *formats.Format {
	return &formats.Format{
		Name:    name,
		Title:   "rehome's own session format, one JSON line per message",
		Text:    true,
		Schemas: []string{"canonical-1"},
		Probe:   probe,
		Plain:   plainfiles.Records(name),
		Sessions: &formats.Sessions{
			Decode: decode,
			Heads:  heads,
			Scan:   scan,
		},
		Writer: &formats.Writer{
			New:  func() formats.Sink { return sink{} },
			Path: named,
			Many: true,
		},
		Check:  check,
		Repair: linerepair.Repair,
		Merge:  merge(),
	}
}

func probe(_ context.Context, l *formats.Location) (formats.Match, error) {
	if !l.IsDir() {
		if l.IsRegular() && begins(l) {
			return formats.Match{Score: 100, Evidence: []string{"the first line has \"type\":\"session\", a version, an id and an agent"}}, nil
		}
		return formats.Match{}, nil
	}
	list, err := os.ReadDir(l.Path)
	if err != nil {
		return formats.Match{}, nil // reading it reports why
	}
	first := true
	for _, e := range list {
		switch {
		case hidden(e):
		case !e.IsDir() || !onlySessions(l, e.Name(), first):
			return formats.Match{}, nil
		default:
			first = false
		}
	}
	if first {
		return formats.Match{}, nil
	}
	return formats.Match{Score: 100, Evidence: []string{"one folder per agent, containing only " + ending + " files", "the first line of the first file has \"type\":\"session\", a version, an id and an agent"}}, nil
}

// begins reports whether a file begins with the head of a session. Lines of other clients
// can have a type and a version, but no agent with them.
func begins(l *formats.Location) bool {
	line := l.FirstLine()
	if kindOf(line) != "session" {
		return false
	}
	var version, id, agent bool
	for name, v := range rawjson.Members(line) {
		switch string(name) {
		case "version":
			version = len(v) > 0 && v[0] >= '1' && v[0] <= '9'
		case "id":
			id = bytes.HasPrefix(v, []byte(`"`))
		case "agent":
			agent = bytes.HasPrefix(v, []byte(`"`))
		}
	}
	return version && id && agent
}

// hidden reports whether an entry cannot be a session: .git, .gitattributes, .DS_Store.
func hidden(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") }

// onlySessions reports whether an agent's folder contains only files that are named like
// sessions. look: the first of them must be one.
func onlySessions(l *formats.Location, agent string, look bool) bool {
	list, err := os.ReadDir(l.Path + "/" + agent)
	for _, e := range list {
		if hidden(e) || e.Type().IsRegular() && strings.HasSuffix(e.Name(), oldSidecar) {
			continue
		}
		if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ending) || look && !begins(l.Join(agent+"/"+e.Name())) {
			return false
		}
		look = false
	}
	return err == nil && !look
}

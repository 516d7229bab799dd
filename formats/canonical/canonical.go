package canonical

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"strings"

	"rehome/formats"
)

const (
	name    = "canonical"
	ending  = ".jsonl"
	version = 1
)

// Format is the codec.
func Format() *formats.Format {
	return &formats.Format{
		Name:    name,
		Title:   "sessions as rehome understands them, one JSON line a message",
		Text:    true,
		Schemas: []string{"canonical-1"},
		Probe:   probe,
		Decode:  decode,
		Heads:   heads,
		Encode:  encode,
		Named:   named,
	}
}

// header begins each of our files.
const header = `{"type":"session","version":`

func probe(_ context.Context, l *formats.Location) (formats.Match, error) {
	if !l.Dir() {
		if l.Regular() && begins(l.Head()) {
			return formats.Match{Score: 100, Evidence: []string{"its first line is the head of a canonical session"}}, nil
		}
		return formats.Match{}, nil
	}
	list, err := os.ReadDir(l.Path)
	if err != nil {
		return formats.Match{}, nil // reading it will say why
	}
	first := ""
	for _, e := range list {
		switch {
		case hidden(e):
		case !e.IsDir():
			return formats.Match{}, nil
		case first == "":
			if first = firstSession(l.Path, e.Name()); first == "" {
				return formats.Match{}, nil
			}
		case !onlySessions(l.Path, e.Name()):
			return formats.Match{}, nil
		}
	}
	if first == "" {
		return formats.Match{}, nil
	}
	return formats.Match{Score: 100, Evidence: []string{"a folder for each agent, with " + ending + " files in it", "the first of them begins with the head of a canonical session"}}, nil
}

func begins(head []byte) bool {
	rest, ok := bytes.CutPrefix(head, []byte(header))
	return ok && len(rest) > 0 && rest[0] >= '1' && rest[0] <= '9'
}

// hidden files are nobody's sessions: .git, .gitattributes, .DS_Store.
func hidden(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") }

// firstSession is the first file of an agent's folder that holds nothing but
// sessions; "" if there is none.
func firstSession(dir, agent string) string {
	list, err := os.ReadDir(dir + "/" + agent)
	if err != nil || !sessionsOnly(list) {
		return ""
	}
	for _, e := range list {
		if hidden(e) {
			continue
		}
		path := dir + "/" + agent + "/" + e.Name()
		if f, err := formats.Locate(path); err == nil && begins(f.Head()) {
			return path
		}
		return ""
	}
	return ""
}

func onlySessions(dir, agent string) bool {
	list, err := os.ReadDir(dir + "/" + agent)
	return err == nil && sessionsOnly(list)
}

func sessionsOnly(list []fs.DirEntry) bool {
	for _, e := range list {
		if !hidden(e) && (!e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ending)) {
			return false
		}
	}
	return true
}

package canonical

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/rawjson"
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
		Check:   check,
	}
}

// header begins each file that we write.
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

// begins reports whether a file begins with the head of a session: in our own
// spelling, or in that of a program that puts blanks between the tokens or the
// members in another order. Of others more is asked for, because they are not
// alone with the word: version and agent, in what is looked at.
func begins(head []byte) bool {
	if rest, ok := bytes.CutPrefix(head, []byte(header)); ok {
		return isVersion(rest)
	}
	line, _, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	if !typed(line) {
		return false
	}
	versioned, owned := false, false
	for name, v := range rawjson.Members(line) {
		switch string(name) {
		case "version":
			versioned = isVersion(v)
		case "agent":
			owned = bytes.HasPrefix(v, []byte(`"`))
		}
	}
	return versioned && owned
}

func isVersion(v []byte) bool { return len(v) > 0 && v[0] >= '1' && v[0] <= '9' }

// typed reports whether the first member of a line says that it is a head. It
// looks at no more than that.
func typed(line []byte) bool {
	for name, v := range rawjson.Members(line[:min(len(line), mostTyped)]) {
		return string(name) == "type" && string(v) == `"session"`
	}
	return false
}

// mostTyped is in how many bytes the first member of a head stands, whatever
// the blanks.
const mostTyped = 64

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

package gemini

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"rehome/formats"
	"rehome/formats/internal/lineclient"
	"rehome/formats/internal/members"
	"rehome/formats/internal/rowclient"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// Document is the codec of files of versions that wrote one JSON object: the head, with a list of all messages.
func Document() *formats.Format {
	c := table()
	c.Name, c.About = name+"-json", "sessions of Gemini CLI before JSON lines (session-….json)"
	c.Home = &formats.Home{Title: c.Home.Title, Resume: c.Home.Resume,
		Roots: func(formats.Machine) []string { return nil }} // those of the lines
	return rowclient.Document{
		Client:  c,
		Begins:  regexp.MustCompile(`^\{"sessionId":"[^"]*","projectHash":"[^"]*","startTime":"[^"]*","lastUpdated":"`),
		List:    "messages",
		Session: sessionOf,
	}.Format()
}

func sessionOf(file string, doc []byte) (s *rowclient.Session, prompted bool) {
	f, folder := members.Split(doc, ""), filepath.Dir(filepath.Dir(file))
	workspace := cmp.Or(projectRoot(os.DirFS(folder), "."), projectRoot(os.DirFS(filepath.Dir(folder)), ".")) // a subagent is one folder deeper
	s = &rowclient.Session{Head: session.Head{ID: f.Text("sessionId"), Agent: client,
		Created: f.Time("startTime"), Updated: f.Time("lastUpdated"), Title: f.Text("summary"), Turns: -1, Workspace: workspace}}
	if up := filepath.Base(filepath.Dir(file)); rawjson.Text(f.Peek("kind")) == "subagent" && up != "chats" {
		s.Parent = &session.Link{Session: up}
	}
	for b := range rawjson.Elements(f.List("messages")) {
		if content := rawjson.Last(b, "content"); s.Title == "" && rawjson.TextAt(b, "type") == "user" && userKind(content) == "user" {
			s.Title = lineclient.FirstLine(words(content))
			prompted = true
		}
	}
	extras := f.Rest()
	s.Fill = func(out *session.Session) { out.Extras = append(extras, out.Extras...) }
	return s, prompted
}

// strays are the files of older versions in a home. One that the client has converted since is left out.
func strays(l *formats.Location) (out []string) {
	home := os.DirFS(l.Path)
	for _, pattern := range []string{"tmp/*/chats/session-*.json", "*/chats/session-*.json", "chats/session-*.json", "session-*.json"} {
		list, _ := fs.Glob(home, pattern)
		for _, p := range list {
			if _, err := fs.Stat(home, p+"l"); err != nil {
				out = append(out, p)
			}
		}
	}
	return out
}

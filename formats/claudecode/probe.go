package claudecode

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/claudecode/internal/outline"
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
	case l.IsRegular() && strings.EqualFold(filepath.Ext(l.Path), outline.Ending):
		what, score := outline.Recognize(l)
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
		id, ok := strings.CutSuffix(e.Name(), outline.Ending)
		if !ok || !outline.IsUUID(id) || !e.Type().IsRegular() || *left <= 0 {
			continue
		}
		file := l.Join(path.Join(dir, e.Name()))
		if what, _ := outline.Recognize(file); what != "" {
			return "has a file named by a UUID, in which " + what
		}
		text, _ := file.Text()
		*left -= len(text)
	}
	return ""
}

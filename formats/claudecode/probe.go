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

// maxProbe is how many bytes of the files of a folder are read before the search for
// a session stops.
const maxProbe = 16 << 20

// probe recognizes a config folder, a project's folder and the file of a session.
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

// project returns the evidence that a folder is that of a project.
func project(l *formats.Location, dir string, left *int) string {
	list, err := os.ReadDir(filepath.Join(l.Path, filepath.FromSlash(dir)))
	if err != nil {
		return ""
	}
	for _, e := range list {
		id, ok := strings.CutSuffix(e.Name(), outline.Ending)
		if !ok || !formats.IsUUID(id) || !e.Type().IsRegular() || *left <= 0 {
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

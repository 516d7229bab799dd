package sessions

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Lost is a folder of sessions that no longer exists.
type Lost struct {
	Folder   string `json:"folder"`
	Sessions int    `json:"sessions"`
	Found    string `json:"found,omitempty"` // the only folder with its name in the home folder
}

// LostFolders returns the folders of sessions that no longer exist, those with most sessions
// first. One in another counts as that: it moved with it.
func LostFolders(list []Listed, home string) []Lost {
	count, gone := map[string]int{}, map[string]bool{}
	for i := range list {
		dir := filepath.Clean(list[i].Workspace)
		if !filepath.IsAbs(dir) || filepath.Dir(dir) == dir {
			continue // unknown, or of another computer
		}
		if _, asked := gone[dir]; !asked {
			_, err := os.Stat(dir)
			gone[dir] = errors.Is(err, fs.ErrNotExist)
		}
		if gone[dir] {
			count[dir]++
		}
	}
	var out []Lost
	for dir, n := range count {
		if top := outermost(dir, count); top == dir {
			out = append(out, Lost{Folder: dir})
		} else {
			count[top] += n
		}
	}
	for i := range out {
		out[i].Sessions = count[out[i].Folder]
	}
	slices.SortFunc(out, func(a, b Lost) int {
		return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), strings.Compare(a.Folder, b.Folder))
	})
	findNames(out, home)
	return out
}

// outermost returns the folder around another one that is nearest to the root, of those that
// have sessions.
func outermost(dir string, count map[string]int) string {
	top := dir
	for up := filepath.Dir(dir); up != filepath.Dir(up); up = filepath.Dir(up) {
		if count[up] > 0 {
			top = up
		}
	}
	return top
}

// How much of a home folder is looked at for folders that moved.
const (
	maxLooked = 4000
	maxBelow  = 4
)

// findNames looks for folders with the names of those that are lost.
func findNames(lost []Lost, home string) {
	if len(lost) == 0 || home == "" {
		return
	}
	found := map[string][]string{}
	for _, l := range lost {
		found[filepath.Base(l.Folder)] = nil
	}
	looked := 0
	_ = filepath.WalkDir(home, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && e != nil && e.IsDir():
			return fs.SkipDir
		case err != nil || !e.IsDir() || path == home:
			return nil
		case strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules" || strings.Count(path[len(home):], string(filepath.Separator)) > maxBelow:
			return fs.SkipDir
		}
		if looked++; looked > maxLooked {
			return fs.SkipAll
		}
		if _, wanted := found[e.Name()]; wanted {
			found[e.Name()] = append(found[e.Name()], path)
		}
		return nil
	})
	for i := range lost {
		if one := found[filepath.Base(lost[i].Folder)]; len(one) == 1 && looked <= maxLooked {
			lost[i].Found = one[0]
		}
	}
}

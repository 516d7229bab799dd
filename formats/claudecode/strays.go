package claudecode

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/claudecode/internal/outline"
)

// private are the entries of a config folder in which there are no sessions.
const private = " projects backups cache chrome debug downloads file-history ide jobs local logs paste-cache plans plugins" +
	" session-env sessions shell-snapshots skills statsig tasks teams telemetry todos usage-data history.jsonl "

// strays returns what is beside the projects of a config folder, and the folders in
// those of projects that are not of a session.
func strays(l *formats.Location) (out []string) {
	list := func(dir string, stray func(e fs.DirEntry) bool) {
		entries, _ := os.ReadDir(l.Join(dir).Path) // whoever reads the store reports an error
		for _, e := range entries {
			if (e.IsDir() || e.Type().IsRegular() && strings.HasSuffix(e.Name(), outline.Ending)) && stray(e) {
				out = append(out, path.Join(dir, e.Name()))
			}
		}
	}
	config := l.Has("projects")
	if config {
		list(".", func(e fs.DirEntry) bool { return !strings.Contains(private, " "+e.Name()+" ") && e.Name() != ".git" })
	}
	dirs, others, _ := outline.Projects(os.DirFS(l.Path), config)
	for _, other := range others {
		if strings.HasSuffix(other, outline.Ending) {
			out = append(out, other)
		}
	}
	for _, dir := range dirs {
		list(dir, func(e fs.DirEntry) bool {
			return e.IsDir() && e.Name() != "memory" && e.Name() != ".git" && !formats.IsUUID(e.Name())
		})
	}
	slices.Sort(out)
	return out
}

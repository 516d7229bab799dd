package layout

import (
	"os"
	"path/filepath"

	"rehome/formats"
)

// Home lists the folders in which the SDK keeps its agents: that of newer
// versions, to which they move what they find, and those of each project. It
// goes by the user's home folder alone: the variable that moves transcripts
// does not move these.
func Home(m formats.Machine) (out []string) {
	if m.Home == "" {
		return nil
	}
	newer := filepath.Join(m.Home, ".cursor", RootsName)
	if info, err := os.Stat(newer); err == nil && info.IsDir() {
		out = append(out, newer)
	}
	projects := filepath.Join(m.Home, ".cursor", ProjectsName)
	list, err := os.ReadDir(projects)
	if err != nil {
		return []string{newer, projects}
	}
	for _, e := range list {
		dir := filepath.Join(projects, e.Name(), RootsName)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			out = append(out, dir)
		}
	}
	return out
}

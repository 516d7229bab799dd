package cursorsdk

import (
	"os"
	"path/filepath"

	"rehome/formats"
)

// home lists the folders in which the SDK keeps the agents of each project. It
// goes by the user's home folder alone: the variable that moves transcripts
// does not move these.
func home(m formats.Machine) []string {
	if m.Home == "" {
		return nil
	}
	projects := filepath.Join(m.Home, ".cursor", "projects")
	list, err := os.ReadDir(projects)
	if err != nil {
		return []string{projects}
	}
	var out []string
	for _, e := range list {
		dir := filepath.Join(projects, e.Name(), rootsName)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			out = append(out, dir)
		}
	}
	return out
}

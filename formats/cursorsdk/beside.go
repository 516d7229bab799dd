package cursorsdk

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats/internal/transcript"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// besideScripts finds the transcripts of the agents of a state root that is
// read without the project around it. The client keeps those of all sessions of
// a project in one folder, so that each is looked up by its agent and nobody
// else's is taken.
func (d *decoder) besideScripts() error {
	project := projectAround(d.place)
	if project == "" {
		return nil
	}
	root, err := os.OpenRoot(project)
	if err != nil {
		return d.fail("", err)
	}
	defer root.Close()
	d.outer = map[string]string{}
	for _, id := range slices.Concat(d.index.Agents(), d.shelves) {
		found, err := transcript.Of(root.FS(), id)
		if err != nil {
			d.note(loss.Note{Kind: loss.Unreadable, At: store.Addr{File: transcript.Folder, Key: store.TextCell([]byte(id))}, What: "the transcripts of an agent cannot be looked at"})
		}
		for _, f := range found {
			if d.outer[f.Path] == "" {
				d.outer[f.Path] = project
				d.scripts = append(d.scripts, f)
			}
		}
		if err := d.ctx.Err(); err != nil {
			return err
		}
	}
	slices.SortFunc(d.scripts, func(a, b transcript.File) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

// projectAround is the project folder that a state root lies in, "" if it lies
// in none.
func projectAround(root string) string {
	real, _ := filepath.EvalSymlinks(root)
	real, err := filepath.Abs(cmp.Or(real, root))
	if err != nil || filepath.Base(filepath.Dir(real)) != rootsName {
		return ""
	}
	return filepath.Dir(filepath.Dir(real))
}

package read

import (
	"errors"
	"io/fs"
	"os"
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
	d.Outer = map[string]string{}
	for _, id := range slices.Concat(d.Index.Agents(), d.CheckpointAgents) {
		if err := d.ctx.Err(); err != nil {
			return err
		}
		project := d.around.Project(id)
		if project == "" {
			continue
		}
		found, err := scriptsOf(project, id)
		if err != nil {
			d.Note(loss.Loss{Code: loss.TranscriptsUnreadable, At: store.Addr{File: transcript.Folder, Key: store.TextCell([]byte(id))}})
		}
		for _, f := range found {
			if d.Outer[f.Path] == "" {
				d.Outer[f.Path] = project
				d.Transcripts = append(d.Transcripts, f)
			}
		}
	}
	slices.SortFunc(d.Transcripts, func(a, b transcript.File) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

// scriptsOf are the transcripts of an agent in a project, which need not be
// there.
func scriptsOf(project, agent string) ([]transcript.File, error) {
	root, err := os.OpenRoot(project)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer root.Close()
	return transcript.Of(root.FS(), agent)
}

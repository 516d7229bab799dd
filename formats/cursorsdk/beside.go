package cursorsdk

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/transcript"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// project reports a folder of the client's for one project: its state roots lie
// in a folder of it. Newer versions keep those of all projects in a folder of
// that name in Cursor's data folder, which is no store: chats and projects lie
// beside it.
func project(l *formats.Location) bool {
	return l.Has(rootsName) && !l.Has(projectsName) && !l.Has("chats") && l.Name() != ".cursor"
}

// surroundings are where a state root lies: in a project, or in Cursor's data
// folder.
type surroundings struct {
	folder     string            // "" for a state root that lies in neither
	workspaces map[string]string // by agent; nil in a project
}

func (s surroundings) data() bool { return s.workspaces != nil }

// around looks at the path of a state root.
func around(root string) surroundings {
	real, _ := filepath.EvalSymlinks(root)
	real, err := filepath.Abs(cmp.Or(real, root))
	if err != nil || filepath.Base(filepath.Dir(real)) != rootsName {
		return surroundings{}
	}
	s := surroundings{folder: filepath.Dir(filepath.Dir(real))}
	if l, err := formats.Locate(s.folder); err == nil && !project(l) {
		s.workspaces = map[string]string{}
	}
	return s
}

// project is the folder of the project that an agent works in, "" if it is not
// known.
func (s surroundings) project(agent string) string {
	if !s.data() {
		return s.folder
	}
	if workspace := s.workspaces[agent]; workspace != "" {
		return filepath.Join(s.folder, projectsName, slug(workspace))
	}
	return ""
}

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
		project := d.around.project(id)
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

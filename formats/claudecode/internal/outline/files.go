package outline

import (
	"cmp"
	"context"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// Side returns the folder with the other files of a session.
func Side(f *jsonl.File) string { return strings.TrimSuffix(f.Path, Ending) }

// Layout finds the sessions of a config folder, a project's folder or a file.
func Layout(l *formats.Location) jsonl.Layout {
	return jsonl.Layout{Format: FormatName, List: func(s *jsonl.Store) error {
		if s.Named != "" {
			add(s, s.Named)
			return nil
		}
		dirs, others, err := Projects(s.Root.FS(), l.Has("projects"))
		s.Others = others
		for i := 0; i < len(dirs) && err == nil; i++ {
			err = project(s, l, dirs[i])
		}
		return err
	}}
}

// Projects lists the folders of projects: dir itself, or for a config folder those
// below projects. others are the files that are there.
func Projects(fsys fs.FS, config bool) (dirs, others []string, err error) {
	if !config {
		return []string{"."}, nil, nil
	}
	list, err := fs.ReadDir(fsys, "projects")
	for _, e := range list {
		if at := path.Join("projects", e.Name()); e.IsDir() {
			dirs = append(dirs, at)
		} else {
			others = append(others, at)
		}
	}
	return dirs, others, err
}

// Subagents lists the files of the subagents of a session, by its side folder.
func Subagents(fsys fs.FS, side string) (files []string) {
	fs.WalkDir(fsys, path.Join(side, "subagents"), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir // a folder that cannot be listed counts as empty
		}
		if d.Type().IsRegular() && strings.HasPrefix(d.Name(), "agent-") && path.Ext(d.Name()) == Ending {
			files = append(files, p)
		}
		return nil
	})
	return files
}

// project lists the sessions of a project, also those that the client does not list
// because of their names. Older clients store the files of subagents in the same folder.
func project(s *jsonl.Store, l *formats.Location, dir string) error {
	list, err := fs.ReadDir(s.Root.FS(), dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		id, ok := strings.CutSuffix(e.Name(), Ending)
		switch at := path.Join(dir, e.Name()); {
		case ok && e.Type().IsRegular() && (formats.IsUUID(id) || strings.HasPrefix(id, "agent-") || IsSession(l.Join(at))):
			add(s, at)
		case !e.IsDir():
			s.Others = append(s.Others, at)
		}
	}
	return nil
}

// add adds a session and its subagents.
func add(s *jsonl.Store, file string) {
	f := &jsonl.File{Path: file, ID: strings.TrimSuffix(path.Base(file), Ending)}
	s.Files = append(s.Files, f)
	for _, p := range Subagents(s.Root.FS(), Side(f)) {
		kid := &jsonl.File{Path: p, ID: strings.TrimSuffix(path.Base(p), Ending), Up: f}
		kid.Link = startedBy(s, kid)
		f.Kids = append(f.Kids, kid)
	}
	slices.SortFunc(f.Kids, func(a, b *jsonl.File) int { return cmp.Compare(a.Path, b.Path) })
	taken := map[string]bool{}
	for _, kid := range f.Kids {
		id := kid.ID
		for n := 1; taken[kid.ID]; n++ { // two folders can have one name
			if kid.ID = path.Base(path.Dir(kid.Path)) + "-" + id; n > 1 {
				kid.ID += "-" + strconv.Itoa(n)
			}
		}
		taken[kid.ID] = true
	}
	s.Files = append(s.Files, f.Kids...)
}

// startedBy returns the link of a subagent to its parent, with what its .meta.json
// file states.
func startedBy(s *jsonl.Store, kid *jsonl.File) session.Link {
	const most = 64 << 10
	link := session.Link{Session: kid.Up.ID}
	name := Side(kid) + ".meta.json"
	info, err := s.Root.Stat(name)
	if err != nil || info.Size() > most || !info.Mode().IsRegular() {
		return link
	}
	b, err := fs.ReadFile(s.Root.FS(), name)
	if err != nil {
		return link
	}
	if doc, _, err := rawjson.Line(b); err == nil {
		link.Kind, link.Title, link.Call = rawjson.TextAt(doc, "agentType"), rawjson.TextAt(doc, "description"), rawjson.TextAt(doc, "toolUseId")
	}
	return link
}

// Failure returns err as an error of this format, or the error of ctx if it ended.
func Failure(ctx context.Context, at string, err error) error {
	return jsonl.Failure(ctx, FormatName, at, err)
}

// FormatName is the name of the format.
const FormatName = "claude-code"

// Ending is the extension of a session's file.
const Ending = ".jsonl"

package claudecode

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/store"
)

// carried returns the folders and files of a config folder that belong to its
// sessions. The others hold keys, settings and caches.
func carried() []string {
	return []string{"projects", "file-history", "tasks", "todos", "history.jsonl"}
}

func open(ctx context.Context, l *formats.Location, v formats.View) (store.Reader, error) {
	if !l.IsDir() {
		return nil, &formats.Error{Format: outline.FormatName, At: l.Path, Err: errors.New("a single file is not a store"), Hint: "name the project's folder or the config folder"}
	}
	if m, err := probe(ctx, l); err != nil || m.Score == 0 {
		return nil, &formats.Error{Format: outline.FormatName, At: l.Path, Err: errors.New("no sessions found"), Hint: "name the config folder or a project's folder in it"}
	}
	paths, left, err := files(l)
	if err != nil {
		return nil, outline.Failure(ctx, l.Path, err)
	}
	if left && v.OnNotice != nil {
		v.OnNotice(l.Path + ": keys, settings and other files that are not part of a session are left out")
	}
	return sqlitestore.OpenPlain(outline.FormatName, l.Path, paths, v)
}

// files lists the files of a store, sorted by path. left reports that there are others.
func files(l *formats.Location) (paths []string, left bool, err error) {
	root, err := os.OpenRoot(l.Path)
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	config := l.Has("projects")
	err = fs.WalkDir(root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		switch top, _, _ := strings.Cut(p, "/"); {
		case err != nil:
			return err
		case p == ".":
		case config && !slices.Contains(carried(), top):
			left = true
			if e.IsDir() {
				return fs.SkipDir
			}
		case e.IsDir() || noise(e.Name()):
		case e.Type().IsRegular():
			paths = append(paths, p)
		default:
			left = true
		}
		return nil
	})
	slices.Sort(paths) // WalkDir sorts each folder, not the paths
	return paths, left, err
}

// noise reports whether a system or git puts files with this name into folders.
func noise(name string) bool {
	return slices.Contains([]string{".DS_Store", "Thumbs.db", "desktop.ini", ".gitattributes", ".gitignore"}, name)
}

func create(_ context.Context, b formats.Build) (store.Writer, error) {
	if b.Compress != "" {
		return nil, &formats.Error{Format: outline.FormatName, Err: errors.New("the client cannot read compressed files"), Hint: "omit --compress"}
	}
	if b.Schema.Origin != outline.FormatName || len(b.Schema.Databases) > 0 {
		return nil, &formats.Error{Format: outline.FormatName, Err: errors.New("an exact conversion to this format needs files of Claude Code"), Hint: "run `rehome migrate` to continue another client's sessions in Claude Code"}
	}
	return sqlitestore.CreatePlain(b)
}

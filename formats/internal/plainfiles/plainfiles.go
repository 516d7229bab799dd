// Package plainfiles reads and creates stores as the plain files that they consist of: for
// formats without records, and for a single file of a format whose records are files.
package plainfiles

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// Records returns this ability for a format whose files have other endings than lines and texts, too.
func Records(format string, endings ...string) *formats.Records {
	return &formats.Records{
		Kinds: []formats.Kind{{Name: formats.PlainFiles, Schema: format}},
		Open: func(_ context.Context, l *formats.Location, v formats.View) (store.Reader, error) {
			v.Secrets = formats.KeepSecrets // the files are JSON lines and text
			if !l.IsDir() {
				return sqlitestore.OpenPlain(format, l.Path, []string{""}, v)
			}
			paths, err := sessionFiles(format, l, v, append(endings, ".jsonl", ".txt"))
			if err != nil {
				return nil, err
			}
			return sqlitestore.OpenPlain(format, l.Path, paths, v)
		},
		Create: func(_ context.Context, b formats.Build) (store.Writer, error) { return sqlitestore.CreatePlain(b) },
	}
}

// sessionFiles lists the files of a folder that can be of sessions, sorted by path.
func sessionFiles(format string, l *formats.Location, v formats.View, endings []string) (paths []string, err error) {
	root, err := os.OpenRoot(l.Path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return &formats.Error{Format: format, At: filepath.Join(l.Path, p), Err: formats.Cause(err)}
		case p != "." && strings.HasPrefix(e.Name(), "."):
			if e.IsDir() {
				return fs.SkipDir
			}
		case e.IsDir():
		case strings.HasSuffix(p, ".jsonl.gz") || strings.HasSuffix(p, ".jsonl.zst"):
			return &formats.Error{Format: format, At: filepath.Join(l.Path, p), Err: errors.New("compressed files cannot be redacted"), Hint: "decompress it first"}
		case e.Type().IsRegular() && slices.Contains(endings, path.Ext(p)):
			paths = append(paths, p)
		default:
			v.OnLoss.Add(loss.Loss{Code: loss.FileNotPart, At: store.Addr{File: p}})
		}
		return nil
	})
	slices.Sort(paths) // WalkDir sorts each folder, not the paths
	return paths, err
}

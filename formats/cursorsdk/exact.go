package cursorsdk

import (
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/cursorsdk/internal/layout"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/store"
)

// openDocuments reads a state root as documents.
func openDocuments(ctx context.Context, l *formats.Location, v formats.View) (store.Reader, error) {
	databases, plain, err := layout.Shape(layout.Project(l)).FilesFor(l, v)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	src := sdkstore.Source{Place: l.Path}
	index := ""
	for _, p := range databases {
		names[p.Path] = p.Name
		if path.Base(p.Path) != sdkstore.IndexName {
			src.Stores = append(src.Stores, p.Path)
			continue
		}
		if index != "" {
			return nil, &formats.Error{Format: sdkstore.FormatName, At: l.Path, Err: errors.New("contains stores of several workspaces"),
				Hint: "convert one state root at a time, such as " + filepath.Join(l.Path, filepath.FromSlash(path.Dir(p.Path)))}
		}
		index, src.Root = p.Path, strings.TrimSuffix(p.Path, sdkstore.IndexName)
	}
	if index == "" {
		return nil, &formats.Error{Format: sdkstore.FormatName, At: l.Path, Err: errors.New(sdkstore.IndexName + " not found"), Hint: "name the folder that contains it"}
	}
	for _, p := range plain {
		names[p.Path] = p.Name
		if strings.HasPrefix(p.Path, sdkdoc.Transcripts+"/") {
			src.Transcripts = append(src.Transcripts, p.Path)
		} else {
			src.Strays = append(src.Strays, p.Path)
		}
	}
	slices.Sort(src.Stores)
	slices.Sort(src.Transcripts)
	src.Open = func(ctx context.Context, p string) (sdkstore.Database, error) {
		return sqlitefile.Open(ctx, names[p], layout.Options(v))
	}
	src.File = func(p string) (io.ReadCloser, error) { return os.Open(names[p]) }
	src.Plain = func(ctx context.Context, p string, set int, give func(*store.Batch) error) error {
		return sqlitestore.ReadPlain(ctx, names[p], set, give)
	}
	return sdkstore.NewReader(ctx, src, v)
}

// createDocuments makes a state root of documents. Folders are the owner's
// alone, as the SDK makes them.
func createDocuments(ctx context.Context, b formats.Build) (store.Writer, error) {
	place := func(rel string) (string, error) {
		local, err := filepath.Localize(rel)
		if err != nil {
			return "", &formats.Error{Format: sdkstore.FormatName, At: rel, Err: errors.New("not a valid path inside a store")}
		}
		at := filepath.Join(b.Path, local)
		return at, os.MkdirAll(filepath.Dir(at), 0o700)
	}
	if err := os.Mkdir(b.Path, 0o700); err != nil {
		return nil, err
	}
	w, err := sdkstore.NewWriter(ctx, sdkstore.Target{
		Create: func(ctx context.Context, p string, d *sdkstore.Design) (store.Writer, error) {
			at, err := place(p)
			if err != nil {
				return nil, err
			}
			sets := make([]sqlitefile.TableSet, len(d.Tables))
			for i, t := range d.Tables {
				sets[i] = sqlitefile.TableSet{Set: i, Table: t}
			}
			return sqlitefile.Create(ctx, at, store.Database{Path: p, Pragmas: d.Pragmas, Objects: d.Objects}, sets)
		},
		File: func(p string) (io.WriteCloser, error) {
			at, err := place(p)
			if err != nil {
				return nil, err
			}
			return os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		},
	}, b)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(b.Path))
	}
	return w, nil
}

package cursorndjson

import (
	"bytes"
	"context"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/sdkdoc"
	"rehome/internal/rawjson"
)

// A program keeps such a store anywhere, often in its project: then it has moved with that,
// and its agents still name the old path, by which the SDK looks for them.

// maxWithin is how deep in a project, and among how many entries, its stores are looked for.
const (
	maxWithin = 5
	maxLooked = 50_000
)

func mover() *formats.Mover { return &formats.Mover{Find: findMoved, File: moveFile} }

func findMoved(ctx context.Context, _ formats.Machine, mv *formats.Moved) iter.Seq2[formats.Piece, error] {
	return func(yield func(formats.Piece, error) bool) {
		looked := 0
		_ = filepath.WalkDir(mv.New, func(path string, e fs.DirEntry, err error) error {
			if looked++; looked > maxLooked || ctx.Err() != nil {
				return fs.SkipAll
			}
			switch {
			case err != nil && e != nil && e.IsDir():
				return fs.SkipDir
			case err != nil:
				return nil
			case e.IsDir() && (e.Name() == ".git" || e.Name() == "node_modules" || strings.Count(path[len(mv.New):], string(filepath.Separator)) > maxWithin):
				return fs.SkipDir
			case e.Name() != sdkdoc.Agent.File() || !e.Type().IsRegular():
				return nil
			}
			info, err := e.Info()
			if err != nil || info.Size() > jsonl.MaxLine {
				return nil
			}
			b, err := os.ReadFile(path)
			if changed, _ := withCwd(b, mv); err == nil && changed == nil {
				return nil
			}
			p := formats.Piece{From: path, To: path, Root: filepath.Dir(path), Cwd: mv.New, InPlace: true}
			if kept(path) {
				p.Left, p.Hint = "text that rehome made of a store, in which no client looks", "convert it to a store with --cwd "+mv.New
			}
			if !yield(p, err) {
				return fs.SkipAll
			}
			return nil
		})
	}
}

// kept reports whether a file is of a text with a sidecar, which no client uses.
func kept(path string) bool {
	_, err := os.Lstat(filepath.Join(filepath.Dir(path), formats.PartSidecar))
	_, errStore := os.Lstat(filepath.Dir(path) + formats.SidecarSuffix)
	return err == nil || errStore == nil
}

// withCwd returns the lines with the path that their project has now, nil if none names it.
func withCwd(text []byte, mv *formats.Moved) (out []byte, n int) {
	for line := range bytes.Lines(text) {
		if rawjson.Valid(line) {
			if to, in := mv.Path(rawjson.TextAt(line, "cwd")); in {
				if changed, ok := sdkdoc.SetCwd(nil, line, to); ok {
					line, n = changed, n+1
				}
			}
		}
		out = append(out, line...)
	}
	if n == 0 {
		return nil, 0
	}
	return out, n
}

func moveFile(_ context.Context, from, to string, mv *formats.Moved) (done bool, err error) {
	b, err := os.ReadFile(from)
	if err != nil {
		return true, err
	}
	changed, n := withCwd(b, mv)
	if n == 0 {
		return false, nil
	}
	return true, os.WriteFile(to, changed, 0o600)
}

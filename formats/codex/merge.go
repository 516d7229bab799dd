package codex

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/filename"
	"rehome/formats/internal/forks"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lines"
	"rehome/internal/rawjson"
)

// merge says how two people's copies of a rollout unite: the client appends to it. A
// session that was forked from another one has only the rest of the lines: both are united
// together. The ids in a fork are as long as those before, because the client counts bytes.
func merge() *formats.Merge {
	whole := func(line []byte) (string, string) { return string(line), "" }
	return &formats.Merge{
		Sessions: mergeSessions,
		Files:    []formats.MergeFile{{Name: "history.jsonl", Key: whole}, {Name: "session_index.jsonl", Key: whole}, {Name: "*.jsonl"}},
		Path: func(p, _, fork string) string {
			named, _ := rolloutID(path.Base(p)) // whatever id is in it
			return path.Join(path.Dir(p), strings.Replace(path.Base(p), named, fork, 1))
		},
		Fork: func(id, digest string) string { return filename.NamedUUID("rehome/codex/fork/1\x00", id, digest) },
		Rewrite: func(dst, line []byte, _ string, ids map[string]string, _ string) ([]byte, bool) {
			return forks.Rename(dst, line, ids), false
		},
	}
}

// mergeSessions lists the rollouts of a store, and the files in which the client lists
// prompts and names of sessions. Its databases and settings are not part of it.
func mergeSessions(ctx context.Context, l *formats.Location) iter.Seq2[formats.MergeSession, error] {
	return func(yield func(formats.MergeSession, error) bool) {
		if !l.IsDir() {
			one, err := mergeSession(ctx, l.Path, l.Name())
			one.File = ""
			yield(one, err)
			return
		}
		err := fs.WalkDir(os.DirFS(l.Path), ".", func(p string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			top, _, inner := strings.Cut(p, "/")
			base := path.Base(p)
			_, rollout := rolloutID(base)
			one := formats.MergeSession{Group: name, Path: p, File: p}
			switch {
			case p == ".":
				return nil
			case e.IsDir() && (isTop(top) && !inner || isDate(base) && strings.Count(p, "/") < 4):
				return nil
			case e.IsDir():
				return fs.SkipDir
			case rollout && !e.Type().IsRegular():
				one.Path = "" // such as a link, which may lead anywhere
			case !e.Type().IsRegular() || !rollout && base != "history.jsonl" && base != "session_index.jsonl":
				return nil
			case rollout:
				if one, err = mergeSession(ctx, filepath.Join(l.Path, filepath.FromSlash(p)), p); err != nil {
					return err
				}
			}
			if !yield(one, nil) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield(formats.MergeSession{}, jsonl.Failure(ctx, name, l.Path, err))
		}
	}
}

// mergeSession returns the session of a rollout by its first line or, if there is none
// that can be read, its name.
func mergeSession(ctx context.Context, at, p string) (formats.MergeSession, error) {
	id, named := rolloutID(path.Base(p))
	one := formats.MergeSession{Group: name, ID: id, Own: true, Path: p, File: p}
	if strings.HasSuffix(p, ".zst") {
		return one, nil
	}
	f, err := os.Open(at)
	if err != nil {
		return one, err
	}
	defer f.Close()
	var meta []byte
	for l, err := range lines.Each(ctx, f, jsonl.MaxLine) {
		if err != nil {
			return one, err
		}
		r := parse(jsonl.Parse(l), source{File: &jsonl.File{}})
		if r.kind == "session_meta" {
			meta = bytes.Clone(r.body)
			one.ID, one.Parent = cmp.Or(rawjson.TextAt(meta, "id"), id), rawjson.TextAt(meta, "history_base", "thread_id")
		}
		break
	}
	if !named && formats.IsUUID(one.ID) { // the client resumes no file with another name
		began := rawjson.TextAt(meta, "timestamp")
		one.Path = "rollout-" + strings.ReplaceAll(began[:min(len(began), len("2006-01-02T15:04:05"))], ":", "-") + "-" + one.ID + ".jsonl"
		if _, named = rolloutID(one.Path); !named || strings.ContainsAny(one.Path, `/\`) {
			one.ID, one.Path = "", p
		}
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.Size() == 0:
		one.Path = ""
	case !formats.IsUUID(one.ID):
		one.ID = "" // no client resumes it
	}
	return one, err
}

package watch

import (
	"context"
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rehome/formats"
	"rehome/internal/fileid"
	"rehome/internal/fsevents"
)

// look is what is seen of a source without reading it.
type look struct {
	exists  bool
	print   uint64            // of the names, sizes and times of all files
	young   bool              // a file changed so recently that its next change might not be seen; changes print
	folders []fsevents.Folder // to watch, the last changed first
}

// looker looks at a source.
type looker struct {
	seed maphash.Seed // prints are compared only with each other
	path string
}

// look walks over the source. It follows no links to folders. It keeps only a sum of
// the files, so that a folder may have any number of them.
func (l *looker) look(ctx context.Context) look {
	w := &lookWalk{looker: l, now: time.Now()}
	root, err := filepath.EvalSymlinks(l.path)
	if err == nil {
		root, err = filepath.Abs(root)
	}
	info, statErr := os.Stat(root)
	if err = errors.Join(err, statErr); err != nil {
		w.folders = []folder{{Folder: fsevents.Folder{Path: existingParent(l.path)}}}
		return w.result()
	}
	w.exists = true
	if info.IsDir() {
		w.walk(ctx, root)
	} else {
		w.file(ctx, root, info)
	}
	return w.result()
}

// lookWalk is one look.
type lookWalk struct {
	*looker
	now    time.Time
	exists bool
	print  uint64
	young  bool

	folders []folder
}

type folder struct {
	fsevents.Folder
	changed time.Time // the folder or a file in it
}

func (w *lookWalk) result() look {
	slices.SortStableFunc(w.folders, func(a, b folder) int { return b.changed.Compare(a.changed) })
	out := look{exists: w.exists, print: w.print, young: w.young}
	for _, f := range w.folders {
		out.folders = append(out.folders, f.Folder)
	}
	if w.young {
		out.print++
	}
	return out
}

// file looks at a source that is a file, and at what belongs to it: the log of a
// database, its sidecar, and the folder that Claude Code keeps for a session.
func (w *lookWalk) file(ctx context.Context, path string, info fs.FileInfo) {
	dir := folder{Folder: fsevents.Folder{Path: filepath.Dir(path)}, changed: time.Unix(math.MaxInt32, 0)}
	if list, err := os.Open(dir.Path); err == nil {
		names, _ := list.Readdirnames(maxCounted)
		dir.Entries = len(names)
		list.Close()
	}
	w.folders = append(w.folders, dir)
	w.add(path, info)
	for _, side := range []string{"-wal", "-journal", formats.SidecarSuffix, formats.OldSidecarSuffix} {
		if info, err := os.Stat(path + side); err == nil {
			w.add(path+side, info)
		}
	}
	if inner, ok := strings.CutSuffix(path, ".jsonl"); ok {
		if info, err := os.Lstat(inner); err == nil && info.IsDir() {
			w.walk(ctx, inner)
		}
	}
}

// maxCounted bounds the names that are read only to count them.
const maxCounted = 4096

// batch is how many entries of a folder are read at a time.
const batch = 512

// walk looks at all files below a folder.
func (w *lookWalk) walk(ctx context.Context, root string) {
	for left := []string{root}; len(left) > 0 && ctx.Err() == nil; {
		path := left[len(left)-1]
		left = append(left[:len(left)-1], w.folder(ctx, path)...)
	}
}

// folder looks at the entries of a folder, and returns the folders among them.
func (w *lookWalk) folder(ctx context.Context, path string) (inner []string) {
	f, err := os.Open(path)
	if err != nil {
		w.print += w.hash(seen{path, fileid.ID{Size: -1}}) // it counts as a change if it can be read again
		return nil
	}
	defer f.Close()
	dir := folder{Folder: fsevents.Folder{Path: path}}
	if info, err := f.Stat(); err == nil {
		dir.changed = info.ModTime()
	}
	for ctx.Err() == nil {
		list, err := f.ReadDir(batch)
		for _, e := range list {
			dir.Entries++
			at := filepath.Join(path, e.Name())
			if e.IsDir() {
				if e.Name() != ".git" && e.Name() != "node_modules" && !formats.IsStaging(e.Name()) {
					inner = append(inner, at)
				}
				continue
			}
			if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() {
				w.add(at, info)
				if info.ModTime().After(dir.changed) {
					dir.changed = info.ModTime()
				}
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				w.print += w.hash(seen{path, fileid.ID{Size: -2}})
			}
			break
		}
	}
	w.folders = append(w.folders, dir)
	return inner
}

// add adds a file to the sum. The index of a log is left out: readers write to it, and
// it says nothing that the log does not say.
func (w *lookWalk) add(path string, info fs.FileInfo) {
	if strings.HasSuffix(path, "-shm") {
		return
	}
	w.print += w.hash(seen{path, fileid.Of(info)})
	w.young = w.young || w.now.Sub(info.ModTime()).Abs() < fileid.Resolution
}

// seen is what is seen of one file.
type seen struct {
	path string
	id   fileid.ID
}

func (w *lookWalk) hash(s seen) uint64 { return maphash.Comparable(w.seed, s) }

// existingParent returns the nearest folder above a path that exists.
func existingParent(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "."
	}
	for dir := filepath.Dir(abs); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() || dir == filepath.Dir(dir) {
			return dir
		}
	}
}

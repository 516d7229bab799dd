package bucket

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"rehome/formats"
	"rehome/internal/fsx"
	"rehome/internal/scratch"
)

// stagePrefix begins the names of stages in a folder.
const stagePrefix = ".rehome-fleet-"

type folder struct{ path string }

func (f folder) Name() string { return f.path }

// List walks the folder in the order in which a server lists the same tree.
func (f folder) List(ctx context.Context) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		if _, err := os.ReadDir(f.path); err != nil {
			yield(Object{}, &formats.Error{At: f.path, Err: formats.Cause(err)})
			return
		}
		f.walk(ctx, "", yield)
	}
}

func (f folder) walk(ctx context.Context, dir string, yield func(Object, error) bool) bool {
	list, err := os.ReadDir(filepath.Join(f.path, filepath.FromSlash(dir)))
	if err != nil && !yield(Object{Key: dir, Bad: "folder cannot be read: " + formats.Cause(err).Error()}, nil) {
		return false
	}
	key := func(e fs.DirEntry) string {
		if e.IsDir() {
			return e.Name() + "/"
		}
		return e.Name()
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return cmp.Compare(key(a), key(b)) })
	for _, e := range list {
		if err := ctx.Err(); err != nil {
			yield(Object{}, err)
			return false
		}
		at := path.Join(dir, e.Name())
		if e.IsDir() {
			if !f.walk(ctx, at, yield) {
				return false
			}
			continue
		}
		o := Object{Key: at}
		info, err := e.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			o.Bad = formats.Cause(err).Error()
		case info.Mode()&fs.ModeSymlink != 0:
			o.Bad = "symbolic link"
		case !info.Mode().IsRegular():
			o.Bad = "not a regular file"
		case !readable(filepath.Join(f.path, filepath.FromSlash(at))):
			o.Bad = "permission denied"
		default:
			o.Size, o.Tag = info.Size(), tag(info)
		}
		if !yield(o, nil) {
			return false
		}
	}
	return true
}

func tag(info fs.FileInfo) string { return strconv.FormatInt(info.ModTime().UnixNano(), 10) }

// open opens a regular file below the folder, through no link out of it, and never waits for
// the writer of a pipe.
func (f folder) open(key string) (*os.File, fs.FileInfo, error) {
	root, err := os.OpenRoot(f.path)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	in, err := root.OpenFile(filepath.FromSlash(key), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := in.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: key, Err: errors.New("not a regular file")}
	}
	if err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	return in, info, nil
}

func (f folder) Open(_ context.Context, key string) (io.ReadCloser, error) {
	in, _, err := f.open(key)
	return in, err
}

// Fetch copies a file, if its size and time of modification are those listed before and
// after.
func (f folder) Fetch(ctx context.Context, o Object, to string) error {
	if info, err := os.Lstat(filepath.Join(f.path, filepath.FromSlash(o.Key))); err == nil && !info.Mode().IsRegular() {
		return ErrChanged
	}
	in, info, err := f.open(o.Key)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrGone
	}
	if err != nil {
		return err
	}
	defer in.Close()
	same := func(info fs.FileInfo) bool { return info.Size() == o.Size && tag(info) == o.Tag }
	if !same(info) {
		return ErrChanged
	}
	n, err := write(ctx, to, io.LimitReader(in, o.Size+1))
	if err != nil {
		return err
	}
	if info, err = in.Stat(); err != nil || n != o.Size || !same(info) {
		return errors.Join(err, ErrChanged)
	}
	return nil
}

// write copies to a new file until it ends or ctx is cancelled.
func write(ctx context.Context, to string, in io.Reader) (int64, error) {
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	var n int64
	const piece = 64 << 20
	for err == nil {
		var m int64
		m, err = io.CopyN(out, in, piece)
		n += m
		err = errors.Join(err, ctx.Err())
	}
	if errors.Is(err, io.EOF) && ctx.Err() == nil {
		err = nil
	}
	return n, errors.Join(err, out.Close())
}

func (f folder) Sweep() { scratch.SweepBeside(f.path, stagePrefix, func(string, error) {}) }

// Stage makes a folder inside this one, so that Commit is a rename.
func (f folder) Stage() (*Stage, error) {
	if err := os.MkdirAll(f.path, 0o777); err != nil {
		return nil, err
	}
	d, err := scratch.Make(f.path, stagePrefix)
	if err != nil {
		return nil, err
	}
	commit := func(_ context.Context, prefix, last string) error {
		to := filepath.Join(f.path, filepath.FromSlash(prefix))
		if _, err := os.Lstat(to); err == nil {
			return ErrExists
		}
		if err := errors.Join(syncTree(d.Path), os.MkdirAll(filepath.Dir(to), 0o777)); err != nil {
			return err
		}
		err := fsx.Move(d.Path, to)
		if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTEMPTY) {
			return ErrExists
		}
		return errors.Join(err, fsx.SyncFolder(filepath.Dir(to)))
	}
	return &Stage{Dir: d.Path, commit: commit, close: d.Remove}, nil
}

// syncTree syncs all files and folders below a folder to disk.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return fsx.SyncFolder(at)
		}
		return fsx.SyncFile(at)
	})
}

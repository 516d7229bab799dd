package documents

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sort"
	"strings"
	"unicode/utf8"

	"rehome/formats"
)

// Store is the folder of a flat store, with its sidecar.
type Store struct {
	Has     [Sets]bool
	Extra   []string // other files, with slashes
	Sidecar bool
	Bytes   int64

	root *os.Root
	path string
	side os.FileInfo
}

// Open opens the store at path. Close it.
func Open(path string) (*Store, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, &formats.Error{At: path, Err: formats.Cause(err)}
	}
	s := &Store{root: root, path: path}
	if err := s.list(); err != nil {
		root.Close()
		return nil, err
	}
	return s, nil
}

// Close closes the folder.
func (s *Store) Close() error { return s.root.Close() }

func (s *Store) list() error {
	err := fs.WalkDir(s.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		switch {
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return &formats.Error{At: s.path + "/" + name, Err: errors.New("not a regular file")}
		case name == "rehome.json":
			return &formats.Error{At: s.path, Err: errors.New("a folder for each agent, not the four files of the SDK"), Hint: "convert it with --flat first"}
		case !utf8.ValidString(name):
			return &formats.Error{At: fmt.Sprintf("%s/%q", s.path, name), Err: errors.New("its name is not UTF-8")}
		}
		s.Bytes += info.Size()
		for set := range Sets {
			if name == set.File() {
				s.Has[set] = true
				return nil
			}
		}
		s.Extra = append(s.Extra, name)
		return nil
	})
	if err != nil {
		return err
	}
	// In the order of the names of their parts.
	sort.Slice(s.Extra, func(i, k int) bool { return s.Extra[i]+"/" < s.Extra[k]+"/" })
	info, err := os.Lstat(s.path + formats.SidecarSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return &formats.Error{At: s.path + formats.SidecarSuffix, Err: formats.Cause(err)}
	}
	s.Sidecar, s.side, s.Bytes = true, info, s.Bytes+info.Size()
	return nil
}

// Open opens one of the files.
func (s *Store) Open(name string) (io.ReadCloser, error) { return s.root.Open(name) }

// Kept calls put for the parts of the sidecar and of all files but the four, under names that
// Files.Put takes, in the order of these names.
func (s *Store) Kept(put func(name string, part []byte) error) error {
	for _, name := range s.Extra {
		f, err := s.root.Open(name)
		if err != nil {
			return err
		}
		if err := parts(f, "file/"+name, put); err != nil {
			return err
		}
	}
	if !s.Sidecar {
		return nil
	}
	f, err := os.Open(s.path + formats.SidecarSuffix)
	if err != nil {
		return err
	}
	if info, err := f.Stat(); err != nil || !os.SameFile(info, s.side) {
		f.Close()
		return formats.Changed("", s.path+formats.SidecarSuffix)
	}
	return parts(f, "sidecar", put)
}

func parts(f io.ReadCloser, name string, put func(string, []byte) error) error {
	defer f.Close()
	buf := make([]byte, maxPart)
	for i := 0; ; i++ {
		n, err := io.ReadFull(f, buf)
		if n > 0 || i == 0 { // an empty file has one part
			if err := put(fmt.Sprintf("%s/%08d", name, i), buf[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Files writes the files of a store at a path.
type Files struct {
	root    *os.Root
	path    string
	out     *os.File
	current string
}

// Create creates the folder of a store at path, which does not exist.
func Create(path string) (*Files, error) {
	if err := os.Mkdir(path, 0o700); err != nil {
		return nil, &formats.Error{At: path, Err: formats.Cause(err)}
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, &formats.Error{At: path, Err: formats.Cause(err)}
	}
	return &Files{root: root, path: path}, nil
}

// Set returns the file of a set, which is created now, or by its first byte. Its digest goes
// to d.
func (f *Files) Set(set Set, now bool, d *Digest) (*SetFile, error) {
	w := &SetFile{files: f, set: set, digest: d}
	if now {
		return w, w.open()
	}
	return w, nil
}

// SetFile is the file of a set that is being written. Without files, only its digest is made.
type SetFile struct {
	files  *Files
	set    Set
	digest *Digest
	out    *os.File
	sum    io.Writer
}

func (w *SetFile) open() (err error) {
	w.sum = w.digest.Set(w.set)
	if w.files != nil {
		w.out, err = w.files.root.OpenFile(w.set.File(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	return err
}

func (w *SetFile) Write(b []byte) (int, error) {
	if w.sum == nil && len(b) > 0 {
		if err := w.open(); err != nil {
			return 0, err
		}
	}
	if w.out != nil {
		if n, err := w.out.Write(b); err != nil {
			return n, err
		}
	}
	if w.sum != nil {
		w.sum.Write(b)
	}
	return len(b), nil
}

// Close closes the file.
func (w *SetFile) Close() error {
	if w.out == nil {
		return nil
	}
	return w.out.Close()
}

// Put appends a part of a file that Kept named. Parts of one file follow each other.
func (f *Files) Put(name string, part []byte) error {
	file := name[:max(strings.LastIndexByte(name, '/'), 0)]
	if file != f.current || f.out == nil {
		if err := f.open(file); err != nil {
			return err
		}
	}
	_, err := f.out.Write(part)
	return err
}

// open creates a file, whose name comes from a server: it stays inside of the folder.
func (f *Files) open(file string) (err error) {
	if err := f.closeFile(); err != nil {
		return err
	}
	f.current = file
	name, inside := strings.CutPrefix(file, "file/")
	if !inside {
		if file != "sidecar" {
			return fmt.Errorf("unknown name %q", file)
		}
		f.out, err = os.OpenFile(f.path+formats.SidecarSuffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	}
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		if err := f.root.MkdirAll(name[:i], 0o700); err != nil {
			return err
		}
	}
	f.out, err = f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	return err
}

func (f *Files) closeFile() error {
	if f.out == nil {
		return nil
	}
	out := f.out
	f.out = nil
	return out.Close()
}

// Close closes the files. If failed, it removes them.
func (f *Files) Close(failed bool) error {
	err := errors.Join(f.closeFile(), f.root.Close())
	if failed {
		err = errors.Join(os.RemoveAll(f.path), os.RemoveAll(f.path+formats.SidecarSuffix))
	}
	return err
}

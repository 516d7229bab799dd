package jsonl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/formats"
	"rehome/formats/session"
)

// Layout describes where a format keeps the files of its sessions. Paths are relative
// to the store, with slashes.
type Layout struct {
	Format string
	Family string // by which rules know it, see formats.Format.Family
	// Around returns the folder of the store that a file is part of, for formats in
	// which a session can begin in another file. nil: a file is a store of its own.
	Around func(file string) string
	// List adds the files to a store, where that takes more than the functions below,
	// which it replaces.
	List func(s *Store) error
	// Enter reports whether a folder can hold sessions. nil: none can.
	Enter func(dir string) bool
	// Match returns the file of a session; false for any other file. named: the user
	// named this file, not its folder.
	Match func(path string, named bool) (File, bool)
	// Sure reports whether a matched file shows that its folder is a store. nil: each does.
	Sure func(s *Store, f *File) bool
	// Identify sets the id of a matched file by what is in it. nil: the path has it.
	Identify func(s *Store, f *File)
	// Compare orders the files: parents before their children. nil: by path.
	Compare func(a, b *File) int
	// Better reports whether a is to be read instead of b, which is of the same
	// session and precedes it. nil: no session has two files.
	Better func(s *Store, a, b *File) bool
	// Order returns the files to read as Each is to read them. nil: all, as they are.
	Order func(s *Store, files []*File) []*File
	// OnNotice, if set, receives a line that counts the files that are not Noun.
	OnNotice func(string)
	Noun     string
}

// File is the file of a session.
type File struct {
	ID    string
	Link  session.Link // of a subagent, to its parent, if files state it
	Path  string
	Name  string  // in losses and findings: Path, or the last element of a file that was named
	Older []*File // other files of this session, see Superseded
	Up    *File   // of the parent, nil if it is not in the store
	Kids  []*File // of the subagents
}

// Store is an open store.
type Store struct {
	Root  *os.Root
	Named string  // the file that the user named, "" for a folder
	Files []*File // one for each session, parents before their children
	// Others are files that are not sessions, and folders that must not be read.
	// Irregular are devices, pipes and the like.
	Others, Irregular []string

	layout     Layout
	probe      bool   // the first file of a session is enough
	head, tail []byte // see Ends
}

// Open opens a folder, or a file, and lists the files of its sessions.
func Open(l *formats.Location, y Layout) (*Store, error) {
	s := &Store{layout: y}
	dir := l.Path
	if !l.IsDir() {
		dir = filepath.Dir(l.Path)
		s.Named = filepath.Base(l.Path)
		if abs, err := filepath.Abs(l.Path); err == nil && y.Around != nil {
			dir = y.Around(abs)
			s.Named, _ = filepath.Rel(dir, abs)
			s.Named = filepath.ToSlash(s.Named)
		}
	}
	var err error
	if s.Root, err = os.OpenRoot(dir); err != nil {
		return nil, err
	}
	switch {
	case y.List != nil:
		err = y.List(s)
	case s.Named == "" || y.Around != nil:
		err = s.walk()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	if y.List == nil && s.Named != "" && !slices.ContainsFunc(s.Files, s.isNamed) {
		s.add(s.Named)
	}
	if y.List == nil {
		s.arrange()
	}
	if len(s.Others) > 0 && y.OnNotice != nil {
		y.OnNotice(fmt.Sprintf("%s: skipped files that are not %s: %d", l.Path, y.Noun, len(s.Others)))
	}
	return s, nil
}

// Holds reports whether there is a session in a folder.
func Holds(l *formats.Location, y Layout) bool {
	root, err := os.OpenRoot(l.Path)
	if err != nil {
		return false
	}
	defer root.Close()
	s := &Store{Root: root, layout: y, probe: true}
	return s.walk() == nil && len(s.Files) > 0
}

// Close closes the folder.
func (s *Store) Close() error { return s.Root.Close() }

// walk lists a folder. A folder that must not be read is one of Others.
func (s *Store) walk() error {
	return fs.WalkDir(s.Root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrPermission) && p != ".":
			s.Others = append(s.Others, p)
			return fs.SkipDir
		case err != nil:
			return err
		case e.IsDir():
			if p != "." && (s.layout.Enter == nil || !s.layout.Enter(p)) {
				return fs.SkipDir
			}
		case e.Type().IsRegular():
			if s.add(p); s.probe && len(s.Files) > 0 {
				if s.layout.Sure == nil || s.layout.Sure(s, s.Files[0]) {
					return fs.SkipAll
				}
				s.Files = nil
			}
		case e.Type()&fs.ModeSymlink == 0:
			s.Irregular = append(s.Irregular, p)
		}
		return nil
	})
}

func (s *Store) add(p string) {
	f, ok := s.layout.Match(p, p == s.Named)
	if !ok {
		s.Others = append(s.Others, p)
		return
	}
	f.Path, f.Name = p, p
	if s.isNamed(&f) {
		f.Name = path.Base(p)
	}
	if s.layout.Identify != nil && !s.probe {
		s.layout.Identify(s, &f)
	}
	s.Files = append(s.Files, &f)
}

func (s *Store) isNamed(f *File) bool { return f.Path == s.Named }

// arrange sorts the files, and keeps the best one of each session.
func (s *Store) arrange() {
	slices.SortFunc(s.Files, func(a, b *File) int {
		if s.layout.Compare != nil {
			if n := s.layout.Compare(a, b); n != 0 {
				return n
			}
		}
		return strings.Compare(a.Path, b.Path)
	})
	best := map[[2]string]*File{}
	for _, f := range s.Files {
		key := [2]string{f.Link.Session, f.ID}
		was := best[key]
		switch {
		case was == nil:
			best[key] = f
		case !s.isNamed(was) && (s.isNamed(f) || s.layout.Better != nil && s.layout.Better(s, f, was)):
			f.Older, was.Older = append(was.Older, was), nil
			best[key] = f
		default:
			was.Older = append(was.Older, f)
		}
	}
	s.Files = slices.DeleteFunc(s.Files, func(f *File) bool { return best[[2]string{f.Link.Session, f.ID}] != f })
	for _, f := range s.Files {
		if f.Up = best[[2]string{"", f.Link.Session}]; f.Up != nil {
			f.Up.Kids = append(f.Up.Kids, f)
		}
	}
}

// Wanted returns the files to read: not those around a file that was named.
func (s *Store) Wanted() []*File {
	if i := slices.IndexFunc(s.Files, s.isNamed); i >= 0 && s.layout.Around != nil {
		return s.Files[i : i+1]
	}
	return s.Files
}

// Find returns the file of a session, nil if there is none.
func (s *Store) Find(id string) *File {
	if i := slices.IndexFunc(s.Files, func(f *File) bool { return f.ID == id }); i >= 0 {
		return s.Files[i]
	}
	return nil
}

// Each opens a store and calls read for each file to read, until it returns false.
// Errors get the path of the file as their place.
func Each[T any](ctx context.Context, l *formats.Location, y Layout, read func(*Store, *File, func(T, error) bool) bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		s, err := Open(l, y)
		if err != nil {
			yield(none, Failure(ctx, y.Format, l.Path, err))
			return
		}
		defer s.Close()
		files := s.Wanted()
		if y.Order != nil {
			files = y.Order(s, files)
		}
		for _, f := range files {
			if ctx.Err() != nil {
				yield(none, ctx.Err())
				return
			}
			place := func(t T, err error) bool {
				if err != nil && ctx.Err() != nil {
					return yield(none, ctx.Err()) && false
				}
				return yield(t, Failure(ctx, y.Format, f.Path, err))
			}
			if !read(s, f, place) {
				return
			}
		}
	}
}

// Failure returns err as an error of a format with a place, unless it has one, or the
// error of ctx if it ended; nil if err is nil.
func Failure(ctx context.Context, format, at string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if e := (*formats.Error)(nil); errors.As(err, &e) {
		placed := *e
		placed.Format, placed.At = cmp.Or(e.Format, format), cmp.Or(e.At, at)
		return &placed
	}
	return &formats.Error{Format: format, At: at, Err: formats.Cause(err)}
}

package transcript

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"rehome/formats/store"
)

// File is a transcript among the files of a store.
type File struct {
	Path   string // with slashes
	Name   string // the session's id, spelled as a file name
	Parent string // of a subagent: its parent's, spelled so too
	Text   bool   // in the old form, which is not lines of JSON
}

// Folder is where transcripts lie.
const Folder = "agent-transcripts"

// Find lists the transcripts below a folder, by path. others are files that are
// none.
func Find(root fs.FS) (found []File, others []string, err error) {
	if info, err := fs.Stat(root, Folder); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, nil, nil
	}
	err = fs.WalkDir(root, Folder, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !e.Type().IsRegular() {
			return nil
		}
		if f, ok := Named(p); ok {
			found = append(found, f)
		} else {
			others = append(others, p)
		}
		return nil
	})
	slices.SortFunc(found, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(others)
	return found, others, err
}

// Of lists the transcripts of one session and its subagents, by path: those that
// Find would find, without a look at all others.
func Of(root fs.FS, id string) (found []File, err error) {
	own := path.Join(Folder, Spell(id))
	if path.Dir(own) != Folder {
		return nil, nil
	}
	names := []string{path.Join(own, Spell(id)+".jsonl"), own + ".jsonl", own + ".txt"}
	list, err := fs.ReadDir(root, path.Join(own, "subagents"))
	for _, e := range list {
		names = append(names, path.Join(own, "subagents", e.Name()))
	}
	errs := []error{err}
	for _, p := range names {
		info, err := fs.Lstat(root, p)
		errs = append(errs, err)
		if f, ok := Named(p); ok && err == nil && info.Mode().IsRegular() {
			found = append(found, f)
		}
	}
	errs = slices.DeleteFunc(errs, func(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) })
	slices.SortFunc(found, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return found, errors.Join(errs...)
}

// Open opens a transcript, or a file among them, as long as it is now.
func Open(root *os.Root, name string) (*io.SectionReader, func() error, error) {
	file, err := root.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return io.NewSectionReader(file, 0, info.Size()), file.Close, nil
}

// Named takes the path of a transcript apart:
//
//	agent-transcripts/<id>/<id>.jsonl
//	agent-transcripts/<parent>/subagents/<id>.jsonl
//	agent-transcripts/<id>.jsonl, .txt          of older clients
func Named(p string) (File, bool) {
	f := File{Path: p}
	ext := path.Ext(p)
	f.Name, f.Text = strings.TrimSuffix(path.Base(p), ext), ext == ".txt"
	if ext != ".jsonl" && !f.Text || f.Name == "" {
		return f, false
	}
	part := strings.Split(p, "/")
	switch {
	case part[0] != Folder:
		return f, false
	case len(part) == 2, len(part) == 3 && part[1] == f.Name:
		return f, true
	case len(part) == 4 && part[2] == "subagents":
		f.Parent = part[1]
		return f, true
	}
	return f, false
}

// Spell is a session's id as the clients spell it in names of files.
func Spell(id string) string {
	var b strings.Builder
	for i := 0; i < len(id) && b.Len() < 200; i++ {
		c := id[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-_.!~*'()", c) >= 0:
			b.WriteByte(c)
		default:
			const digits = "0123456789ABCDEF"
			b.Write([]byte{'_', digits[c>>4], digits[c&15]})
		}
	}
	return b.String()[:min(b.Len(), 200)]
}

// Addr is the address of a line.
func (f File) Addr(line int) store.Addr { return store.Addr{File: f.Path, Line: line} }

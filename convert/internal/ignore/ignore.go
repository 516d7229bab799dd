// Package ignore decides which paths a walk over a folder skips: those that the
// user excludes, those that .rehomeignore excludes and, in a git work tree, those
// that .gitignore excludes.
//
// The patterns mean what they mean in a .gitignore. The package translates them to
// regular expressions, because the libraries for it differ from git: of 1,500 random
// files, git and go-git's package disagree on 347, git and this one on none.
package ignore

import (
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/convert/internal/walk"
	"rehome/formats"
)

// File is the name of rehome's own ignore file.
const File = ".rehomeignore"

// GitFile is the name of git's ignore file.
const GitFile = ".gitignore"

// All ignore files of a walk together have at most MaxSize bytes and maxPatterns
// patterns: each pattern is kept in memory and compared with every path.
const (
	MaxSize     = 256 << 10
	maxPatterns = 10_000
)

// Options are what a Tree obeys besides the ignore files.
type Options struct {
	Exclude []string // patterns, relative to the start of the walk; they outrank all files
	NoFiles bool     // obey no ignore file

	// Homes are where clients keep their stores: .gitignore has no effect there.
	Homes []string

	// Read returns an ignore file, nil if there is none. If Read is nil, the file is read.
	Read func(path string) ([]byte, error)
}

// Tree decides what a walk below a folder skips.
type Tree struct {
	Skipped int // number of paths that Skip returned true for

	start   string // resolved path
	exclude []pattern
	o       Options
	git     bool // .gitignore has an effect
	folders map[string]*folder
	size    int // of the files, in bytes
	count   int // of their patterns
	err     error
}

// folder holds the patterns of the ignore files in a folder.
type folder struct {
	above  *folder // nil at the root of the file system
	path   string  // with a slash at the end
	root   bool    // of a work tree
	inTree bool    // it or a folder above is the root of a work tree
	own    []pattern
	git    []pattern
}

// New returns the Tree for a walk that starts at a folder or file.
func New(start string, o Options) (*Tree, error) {
	t := &Tree{start: walk.ResolvedPath(start), o: o, folders: map[string]*folder{}}
	for _, text := range o.Exclude {
		p, ok := parseLine(text)
		if !ok || p.include {
			return nil, &formats.Error{At: "--exclude " + text, Err: errors.New("invalid pattern"), Hint: "use a pattern as in a .gitignore, such as testdata/ or *.jsonl"}
		}
		t.exclude = append(t.exclude, p)
	}
	for i, home := range o.Homes {
		o.Homes[i] = walk.ResolvedPath(home)
	}
	if !o.NoFiles {
		t.git = true
		if t.git = !t.gitIgnored(t.start, true); !t.git { // the user named it all the same
			t.folders, t.size, t.count = map[string]*folder{}, 0, 0
		}
	}
	return t, nil
}

// Err returns why an ignore file could not be read. Nothing is skipped because of it.
func (t *Tree) Err() error { return t.err }

// Skip reports whether a walk skips a slash path below its start. It expects that
// the walk does not enter the folders for which it returns true.
func (t *Tree) Skip(rel string, isFolder bool) bool {
	if t == nil || rel == "." {
		return false
	}
	if t.decide(rel, isFolder) {
		t.Skipped++
		return true
	}
	return false
}

// Covers reports whether the Tree skips a path or a folder above it.
func (t *Tree) Covers(rel string, isFolder bool) bool {
	if t == nil || rel == "." {
		return false
	}
	return t.Covers(path.Dir(rel), true) || t.decide(rel, isFolder)
}

func (t *Tree) decide(rel string, isFolder bool) bool {
	if match(t.exclude, rel, isFolder) != nil {
		return true
	}
	if t.o.NoFiles {
		return false
	}
	at := filepath.Join(t.start, filepath.FromSlash(rel))
	if p := t.decisive(at, isFolder, func(f *folder) []pattern { return f.own }); p != nil {
		return !p.include
	}
	return t.git && !t.nearHome(at) && t.gitIgnored(at, isFolder)
}

// nearHome reports whether a path leads to a client's home, or is in one.
func (t *Tree) nearHome(at string) bool {
	return slices.ContainsFunc(t.o.Homes, func(home string) bool { return walk.AtOrBelow(at, home) || walk.AtOrBelow(home, at) })
}

// gitIgnored reports whether git ignores a path in its work tree. At the start of
// the walk, folders above it count, too; below it, the walk has asked for them.
func (t *Tree) gitIgnored(at string, isFolder bool) bool {
	f := t.folder(filepath.Dir(at))
	if !f.inTree {
		return false
	}
	if at == t.start && !f.root && t.gitIgnored(filepath.Dir(at), true) {
		return true
	}
	p := t.decisive(at, isFolder, func(f *folder) []pattern { return f.git })
	return p != nil && !p.include
}

// decisive returns the pattern that decides on a path, nil if none matches: the
// last one that matches in the nearest folder above the path that has one.
func (t *Tree) decisive(at string, isFolder bool, of func(*folder) []pattern) *pattern {
	for f := t.folder(filepath.Dir(at)); f != nil; f = f.above {
		if list := of(f); len(list) > 0 {
			if p := match(list, filepath.ToSlash(strings.TrimPrefix(at, f.path)), isFolder); p != nil {
				return p
			}
		}
		if f.root {
			return nil
		}
	}
	return nil
}

// folder returns the patterns of a folder. Outside of a work tree, the ignore files
// above the start of the walk have no effect.
func (t *Tree) folder(dir string) *folder {
	if f := t.folders[dir]; f != nil {
		return f
	}
	f := &folder{path: strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator)}
	t.folders[dir] = f
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	f.root = err == nil
	if up := filepath.Dir(dir); up != dir {
		f.above = t.folder(up)
	}
	f.inTree = f.root || f.above != nil && f.above.inTree
	if f.inTree || walk.AtOrBelow(dir, t.start) {
		f.own = t.read(filepath.Join(dir, File))
	}
	if f.inTree && t.git {
		f.git = t.read(filepath.Join(dir, GitFile))
	}
	return f
}

// read returns the patterns of an ignore file. One that cannot be read has none, so
// that more is checked rather than less.
func (t *Tree) read(file string) []pattern {
	get := t.o.Read
	if get == nil {
		get = readFile
	}
	text, err := get(file)
	var list []pattern
	if t.size += len(text); err == nil && t.size <= MaxSize {
		list = parse(string(text))
		t.count += len(list)
	}
	if err == nil && (t.size > MaxSize || t.count > maxPatterns) {
		list, err = nil, errors.New("too many patterns")
	}
	if err != nil && t.err == nil {
		t.err = &formats.Error{At: file, Err: formats.Cause(err)}
	}
	return list
}

// readFile reads an ignore file, which as in git must not be a link. It returns nil
// if there is none.
func readFile(file string) ([]byte, error) {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxSize+1))
}

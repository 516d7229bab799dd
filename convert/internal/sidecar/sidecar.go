// Package sidecar reads and writes sidecars: the files beside targets with what the
// targets cannot hold, so that the way back is exact.
//
// [Files] are the sidecars of a conversion. [Omitted] collects what is left out of
// a store, and [Write] writes that as text, which [Read] reads.
package sidecar

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"rehome/convert/internal/stage"
	"rehome/formats"
	"rehome/formats/store"
)

// Files are both sidecars of a conversion: the source's, from which data is
// restored, and the target's.
type Files struct {
	Off            bool
	Named          bool         // the user named a file, which serves both directions
	From           string       // path of the source's, which need not exist
	To             stage.Target // path of the target's
	Exists         bool         // the source has a sidecar
	items          map[string][]store.SidecarItem
	Previous       stage.Target // of an existing target of this name
	PreviousExists bool
}

// New returns the sidecars of a conversion from src to goal: "" or "beside" as the
// option puts them next to both, "none" switches them off, and a path names one file
// for both.
func New(src string, goal stage.Target, option string) (*Files, error) {
	suffix, err := suffixAt(goal.Path(), goal.Display)
	if err != nil {
		return nil, err
	}
	b := &Files{To: goal.Beside(formats.SidecarSuffix), Previous: goal.Beside(suffix)}
	b.PreviousExists = b.Previous.Exists()
	if err := stage.CheckDisjoint(src, b.Previous); err != nil {
		return nil, err
	}
	switch option {
	case "none":
		b.Off = true
	case "", "beside":
	default:
		t, err := stage.Resolve(option)
		if err != nil {
			return nil, err
		}
		if err := checkPath(src, goal, t); err != nil {
			return nil, err
		}
		b.Named, b.From, b.To = true, option, t
	}
	return b, nil
}

// checkPath returns an error for a sidecar in a place where it would
// touch source or target.
func checkPath(src string, goal, t stage.Target) error {
	if err := stage.CheckDisjoint(src, t); err != nil {
		return err
	}
	sep := string(filepath.Separator)
	if strings.HasPrefix(t.Path()+sep, goal.Path()+sep) || strings.HasPrefix(goal.Path()+sep, t.Path()+sep) {
		return &formats.Error{At: t.Display, Err: errors.New("the sidecar cannot be inside the target"), Hint: "pass a file outside of DST, or omit --sidecar"}
	}
	if len(t.Tail) > 1 {
		return &formats.Error{At: filepath.Dir(t.Display), Err: fs.ErrNotExist, Hint: "create the folder of the sidecar first"}
	}
	return nil
}

// PathOf returns the path of the source's sidecar. A source without a name
// of its own (".") is resolved.
func PathOf(src string) (string, error) {
	p := stage.TrimSeparators(src)
	if b := filepath.Base(p); b == "." || b == ".." {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			if abs, err := filepath.Abs(real); err == nil {
				p = abs
			}
		}
	}
	suffix, err := suffixAt(p, p)
	return p + suffix, err
}

// suffixAt returns the suffix of the sidecar of the store at path: the old
// one only if just that file exists. If both exist, rehome cannot know which
// belongs to the store.
func suffixAt(path, shown string) (string, error) {
	exists := func(suffix string) bool {
		_, err := os.Lstat(path + suffix)
		return err == nil
	}
	switch {
	case !exists(formats.OldSidecarSuffix):
		return formats.SidecarSuffix, nil
	case !exists(formats.SidecarSuffix):
		return formats.OldSidecarSuffix, nil
	}
	return "", &formats.Error{At: shown + formats.SidecarSuffix, Err: fmt.Errorf("duplicate sidecar: %s, its name in earlier versions, also exists", filepath.Base(path)+formats.OldSidecarSuffix),
		Hint: "keep the one that belongs to " + filepath.Base(path) + " and move the other away"}
}

// Read reads the sidecar of src, if there is one. If src is a client's folder
// around its one store, within, the sidecar is beside that store.
func (b *Files) Read(src, within string, say func(string)) (err error) {
	if b.Off {
		return nil
	}
	if !b.Named {
		if b.From, err = PathOf(src); err != nil {
			return err
		}
	}
	f, err := Open(b.From)
	if within != "" && !b.Named {
		nearer, two := PathOf(within)
		_, there := os.Lstat(nearer)
		switch {
		case two != nil:
			if err == nil {
				two = errors.Join(two, f.Close())
			}
			return two
		case there != nil:
		case errors.Is(err, fs.ErrNotExist):
			b.From = nearer
			say("using the sidecar " + nearer)
			f, err = Open(nearer)
		default:
			say(nearer + " ignored: the source has a sidecar of its own")
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	b.Exists = true
	b.items, err = Read(f, b.From)
	return err
}

// ReadParts reads the sidecars inside of a store at dir, by its path below the source:
// those of its parts (formats.Records.Parts).
func (b *Files) ReadParts(rel, dir string, parts []string) error {
	if b.Off {
		return nil
	}
	for _, part := range parts {
		var items []store.SidecarItem
		key := path.Join(storeKey(rel), part)
		if part != "" { // of one file for all parts
			items = b.items[key]
			delete(b.items, key)
		}
		own, err := readPart(filepath.Join(dir, filepath.FromSlash(part), formats.PartSidecar))
		if err != nil {
			return err
		}
		b.Exists = b.Exists || own != nil
		for _, it := range append(items, own...) {
			it.Part = part
			if b.items == nil {
				b.items = map[string][]store.SidecarItem{}
			}
			b.items[storeKey(rel)] = append(b.items[storeKey(rel)], it)
		}
	}
	return nil
}

func readPart(name string) ([]store.SidecarItem, error) {
	if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	items, err := Read(f, name)
	return items[""], err
}

// MissingStores returns the number of stores that have items in the sidecar, of
// which none of the paths below the source is one.
func (b *Files) MissingStores(rels []string) (n int) {
	there := map[string]bool{}
	for _, rel := range rels {
		there[storeKey(rel)] = true
	}
	for key := range b.items {
		if !there[key] {
			n++
		}
	}
	return n
}

// ItemsOf returns the items of a store, by its path below the source.
func (b *Files) ItemsOf(rel string) []store.SidecarItem { return b.items[storeKey(rel)] }

// storeKey returns the name of a store in a sidecar, "" for the only one.
func storeKey(rel string) string {
	if rel == "." {
		return ""
	}
	return rel
}

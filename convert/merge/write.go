package merge

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rehome/convert/internal/notify"
	"rehome/formats"
)

// write writes the united sessions below a folder, and reads each file again.
func (u *union) write(dir string) error {
	root, err := openNew(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for id, all := range u.sessions {
		best(u.of, all)
		for _, p := range paths(u.of, all) {
			err := error(nil)
			switch {
			case id == "":
				err = u.writeCommon(root, p, all)
			default:
				err = u.writeFile(root, p, all)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func openNew(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

// writeFile writes a file of a session: that of the copy that has most, then the lines
// with keys that only others have.
func (u *union) writeFile(root *os.Root, p string, all []*version) error {
	longest := longest(p, all)
	out, err := u.create(root, longest.at())
	if err != nil {
		return err
	}
	defer out.Close()
	if longest.rule == nil || longest.rule.Key == nil {
		out.changed = longest.changed
		if err := longest.each(out.write); err != nil {
			return err
		}
		return out.finish()
	}
	if err := out.keyed(p, all); err != nil {
		return err
	}
	return out.finish()
}

// longest returns the file of the copy that has most of it, if lines are only appended to
// it; of others the first.
func longest(p string, all []*version) (best *file) {
	for _, v := range all {
		f := v.files[p]
		switch {
		case f == nil:
		case best == nil:
			best = f
		case f.rule == nil || f.rule.State || f.rule.Key != nil:
		case f.rule.Records != nil:
			if cmp.Or(cmp.Compare(len(f.lines), len(best.lines)), cmp.Compare(f.updated, best.updated), bytes.Compare(f.sum[:], best.sum[:])) > 0 {
				best = f
			}
		case cmp.Or(cmp.Compare(len(f.lines), len(best.lines)), cmp.Compare(f.info.Size(), best.info.Size()), comparePlaces(f, best)) > 0:
			best = f
		}
	}
	return best
}

// comparePlaces compares where copies of a file are: a folder of its own is better than one
// of all.
func comparePlaces(a, b *file) int {
	return cmp.Or(cmp.Compare(strings.Count(a.place, "/"), strings.Count(b.place, "/")), cmp.Compare(a.place, b.place))
}

// keyed writes each line with a key once.
func (w *output) keyed(p string, all []*version) error {
	seen := map[digest]bool{}
	for _, v := range all {
		f := v.files[p]
		if f == nil {
			continue
		}
		w.changed = latest(w.changed, f.changed)
		n, before := 0, len(seen)
		own := map[digest]bool{}
		err := f.each(func(line []byte) error {
			key := f.lines[n]
			if n++; before > 0 && seen[key] && !own[key] {
				return nil
			}
			seen[key], own[key] = true, true
			return w.line(line)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// writeCommon writes a file that belongs to no session. Of files that differ, one keeps
// the name.
func (u *union) writeCommon(root *os.Root, p string, all []*version) error {
	if rule, _ := ruleFor(u.of, p); rule != nil && rule.Key != nil {
		out, err := u.create(root, p)
		if err != nil {
			return err
		}
		return errors.Join(out.keyed(p, all), out.finish())
	}
	var kept []*file
	for _, v := range all {
		if f := v.files[p]; f != nil && !slices.ContainsFunc(kept, func(k *file) bool { return k.sum == f.sum }) {
			kept = append(kept, f)
		}
	}
	kept = slices.DeleteFunc(kept, func(f *file) bool { // others go on with it
		return slices.ContainsFunc(all, func(v *version) bool { return v.files[p] != nil && v.files[p].goesOn(f) })
	})
	slices.SortFunc(kept, func(a, b *file) int { return slices.Compare(a.sum[:], b.sum[:]) })
	for i, f := range kept {
		name := p
		if i > 0 {
			taken, before := false, false // by another file, or by this one in an earlier result
			for n := 4; n == 4 || taken && !before && n <= len(f.sum); n += 4 {
				ext := path.Ext(p)
				name, taken = strings.TrimSuffix(p, ext)+".merge-"+hex.EncodeToString(f.sum[:n])+ext, false
				for _, v := range all {
					if o := v.files[name]; o != nil {
						taken, before = true, before || o.sum == f.sum
					}
				}
			}
			if before {
				continue
			}
			u.remarks(fmt.Sprintf("%s differs between the sources: the other one is kept as %s", p, name))
		}
		out, err := u.create(root, name)
		if err != nil {
			return err
		}
		out.changed = f.changed
		if err := errors.Join(f.each(out.write), out.finish()); err != nil {
			return errors.Join(err, out.Close())
		}
	}
	return nil
}

// output is a file of the result.
type output struct {
	*os.File
	root *os.Root
	name string
	w    *bufio.Writer
	sum  hashing
	torn bool // the last line has no line break

	changed  time.Time
	progress func(stage string, n int) // nil: not shown
}

type hashing interface {
	Write([]byte) (int, error)
	Sum([]byte) []byte
}

func (u *union) create(root *os.Root, p string) (*output, error) {
	out, err := create(root, p)
	if err == nil {
		out.progress = u.progress
	}
	return out, err
}

func create(root *os.Root, p string) (*output, error) {
	name, err := filepath.Localize(p)
	if err != nil {
		return nil, &formats.Error{At: p, Err: errors.New("not a valid path inside a store")}
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return nil, err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil, &formats.Error{At: p, Err: errors.New("is the name of two files of the result"), Hint: "rename the file in one of the sources, or leave it out"}
	}
	if err != nil {
		return nil, err
	}
	return &output{File: f, root: root, name: name, w: bufio.NewWriterSize(f, 256<<10), sum: sha256.New()}, nil
}

func (w *output) write(b []byte) error {
	if w.sum.Write(b); w.progress != nil {
		w.progress(notify.Writing, len(b))
	}
	_, err := w.w.Write(b)
	return err
}

// line writes a line after others, of which the last one can lack its line break.
func (w *output) line(b []byte) error {
	if w.torn {
		if err := w.write([]byte("\n")); err != nil {
			return err
		}
	}
	w.torn = b[len(b)-1] != '\n'
	return w.write(b)
}

// finish completes the file and reads it again.
func (w *output) finish() error {
	if err := errors.Join(w.w.Flush(), w.File.Close()); err != nil {
		return err
	}
	if err := w.root.Chtimes(w.name, w.changed, w.changed); err != nil {
		return err
	}
	again := &file{path: filepath.ToSlash(w.name), real: filepath.Join(w.root.Name(), w.name)}
	if err := again.load(); err != nil {
		return err
	}
	if string(again.sum[:]) != string(w.sum.Sum(nil)) {
		return &formats.Error{At: again.path, Op: "verify", Err: errors.New("read back with other content than was written")}
	}
	return nil
}

package convert

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"rehome/formats"
	"rehome/formats/store"
)

// sidecar is both sidecars of one conversion: the source's, which is put back,
// and the target's.
type sidecar struct {
	off      bool
	named    bool   // in a file the user named, which serves both directions
	from     string // the source's, which need not exist
	to       target // the target's
	there    bool   // the source has one
	byStore  map[string][]store.SidecarItem
	old      target // of an older target of this name
	oldThere bool
}

func newSidecar(src string, goal target, option string) (*sidecar, error) {
	suffix, err := sidecarSuffix(goal.path(), goal.shown)
	if err != nil {
		return nil, err
	}
	b := &sidecar{to: goal.beside(formats.SidecarSuffix), old: goal.beside(suffix)}
	b.oldThere = b.old.exists()
	if err := apart(src, b.old); err != nil {
		return nil, err
	}
	switch option {
	case "none":
		b.off = true
	case "", "beside":
	default:
		t, err := resolve(option)
		if err != nil {
			return nil, err
		}
		if err := nameable(src, goal, t); err != nil {
			return nil, err
		}
		b.named, b.from, b.to = true, option, t
	}
	return b, nil
}

// nameable refuses a sidecar in a place where it would touch source or target.
func nameable(src string, goal, t target) error {
	if err := apart(src, t); err != nil {
		return err
	}
	sep := string(filepath.Separator)
	if strings.HasPrefix(t.path()+sep, goal.path()+sep) || strings.HasPrefix(goal.path()+sep, t.path()+sep) {
		return &formats.Error{At: t.shown, Err: errors.New("the sidecar cannot be inside the target"), Hint: "pass a file outside of DST, or omit --sidecar"}
	}
	if len(t.tail) > 1 {
		return &formats.Error{At: filepath.Dir(t.shown), Err: fs.ErrNotExist, Hint: "create the folder of the sidecar first"}
	}
	return nil
}

// sidecarOf returns the name of the source's sidecar. A source without a name
// of its own (".") is looked up.
func sidecarOf(src string) (string, error) {
	p := trimmed(src)
	if b := filepath.Base(p); b == "." || b == ".." {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			if abs, err := filepath.Abs(real); err == nil {
				p = abs
			}
		}
	}
	suffix, err := sidecarSuffix(p, p)
	return p + suffix, err
}

// sidecarSuffix returns how the name of the sidecar of the store at path ends:
// in the old way only where just such a file is there. Of two, nobody knows
// which belongs to the store.
func sidecarSuffix(path, shown string) (string, error) {
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

// read takes in the sidecar of src, if there is one. Where src is a client's
// folder around its one store, within, it lies beside that.
func (b *sidecar) read(src, within string, say func(string)) (err error) {
	if b.off {
		return nil
	}
	if !b.named {
		if b.from, err = sidecarOf(src); err != nil {
			return err
		}
	}
	f, err := openSidecar(b.from)
	if within != "" && !b.named {
		nearer, two := sidecarOf(within)
		_, there := os.Lstat(nearer)
		switch {
		case two != nil:
			return two
		case there != nil:
		case errors.Is(err, fs.ErrNotExist):
			b.from = nearer
			say("using the sidecar " + nearer)
			f, err = openSidecar(nearer)
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
	b.there = true
	b.byStore, err = readSidecar(f, b.from)
	return err
}

// strangers is the number of stores that the sidecar has items of and that are
// not there.
func (b *sidecar) strangers(found []Found) (n int) {
	there := map[string]bool{}
	for _, f := range found {
		there[storeKey(f.Rel)] = true
	}
	for key := range b.byStore {
		if !there[key] {
			n++
		}
	}
	return n
}

// storeKey is how a sidecar names a store: not at all where it is the only one.
func storeKey(rel string) string {
	if rel == "." {
		return ""
	}
	return rel
}

// omissions collects what a reader leaves out of one store, as lines of a
// sidecar.
type omissions struct {
	store string
	off   bool // nobody wants them: they are only counted
	mu    sync.Mutex
	n     int64
	size  int
	lines []omitted
	err   error
}

type omitted struct {
	at     store.Addr
	column int
	line   []byte
}

// add is a formats.View.OnOmit.
func (o *omissions) add(it store.SidecarItem) {
	o.mu.Lock()
	o.n += int64(max(1, len(it.Inserts)))
	o.mu.Unlock()
	o.keep(it)
}

// keep encodes an item at once, as the reader reuses its cells.
func (o *omissions) keep(it store.SidecarItem) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.off {
		return
	}
	if len(it.Row) > 0 {
		it.Inserts = nil // cut out of the row so that they are not written
	}
	line, err := appendItem(nil, o.store, it)
	if err == nil && o.size+len(line) > maxSidecar {
		err = fmt.Errorf("the sidecar would exceed %d MB", maxSidecar>>20)
		err = &formats.Error{Err: err, Hint: "use --sidecar none to convert without it"}
	}
	if err != nil {
		o.err = cmp.Or(o.err, error(&formats.Error{At: it.At.String(), Err: err}))
		return
	}
	o.size += len(line)
	o.lines = append(o.lines, omitted{it.At, it.Column, line})
}

// fail says that an item cannot be kept; the first such word stands.
func (o *omissions) fail(it store.SidecarItem, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = cmp.Or(o.err, error(&formats.Error{At: it.At.String(), Err: err}))
}

// failure is why what was left out cannot be kept.
func (o *omissions) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// sorted brings the lines into an order that does not depend on workers. Sets
// without row ids stay as their reader told them.
func (o *omissions) sorted() []omitted {
	slices.SortStableFunc(o.lines, func(a, b omitted) int {
		return cmp.Or(cmp.Compare(a.at.File, b.at.File), cmp.Compare(a.at.Set, b.at.Set),
			cmp.Compare(a.at.RowID, b.at.RowID), cmp.Compare(a.column, b.column))
	})
	return o.lines
}

// sidecarSize is the size of the items of all stores that are to be placed.
func (j *job) sidecarSize() (size int) {
	for _, o := range j.omitted {
		if o != nil {
			size += o.size
		}
	}
	return size
}

func (j *job) sidecarFits() error {
	if j.sidecarSize() <= maxSidecar {
		return nil
	}
	return &formats.Error{At: j.sidecar.to.shown, Err: fmt.Errorf("the sidecar would exceed %d MB", maxSidecar>>20), Hint: "convert fewer stores at once, or use --sidecar none"}
}

// stageSidecar writes the sidecar of all placed stores, in the order of the
// walk, to path. It reports whether there was anything to write.
func (j *job) stageSidecar(path string) (bool, error) {
	size := j.sidecarSize()
	if size == 0 {
		return false, nil
	}
	out := append(make([]byte, 0, size+64), sidecarHeader...)
	for _, o := range j.omitted {
		if o == nil {
			continue
		}
		for _, l := range o.sorted() {
			out = append(out, l.line...)
		}
	}
	return true, os.WriteFile(path, out, 0o666)
}

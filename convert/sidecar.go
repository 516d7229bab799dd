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

	"rehome/convert/internal/stage"
	"rehome/formats"
	"rehome/formats/store"
)

// sidecar holds both sidecars of a conversion: the source's, from which data is
// restored, and the target's.
type sidecar struct {
	off            bool
	named          bool         // the user named a file, which serves both directions
	from           string       // path of the source's, which need not exist
	to             stage.Target // path of the target's
	exists         bool         // the source has a sidecar
	items          map[string][]store.SidecarItem
	previous       stage.Target // of an existing target of this name
	previousExists bool
}

func newSidecar(src string, goal stage.Target, option string) (*sidecar, error) {
	suffix, err := sidecarSuffix(goal.Path(), goal.Display)
	if err != nil {
		return nil, err
	}
	b := &sidecar{to: goal.Beside(formats.SidecarSuffix), previous: goal.Beside(suffix)}
	b.previousExists = b.previous.Exists()
	if err := stage.CheckDisjoint(src, b.previous); err != nil {
		return nil, err
	}
	switch option {
	case "none":
		b.off = true
	case "", "beside":
	default:
		t, err := stage.Resolve(option)
		if err != nil {
			return nil, err
		}
		if err := checkSidecarPath(src, goal, t); err != nil {
			return nil, err
		}
		b.named, b.from, b.to = true, option, t
	}
	return b, nil
}

// checkSidecarPath returns an error for a sidecar in a place where it would
// touch source or target.
func checkSidecarPath(src string, goal, t stage.Target) error {
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

// sidecarOf returns the path of the source's sidecar. A source without a name
// of its own (".") is resolved.
func sidecarOf(src string) (string, error) {
	p := stage.TrimSeparators(src)
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

// sidecarSuffix returns the suffix of the sidecar of the store at path: the old
// one only if just that file exists. If both exist, rehome cannot know which
// belongs to the store.
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

// read reads the sidecar of src, if there is one. If src is a client's folder
// around its one store, within, the sidecar is beside that store.
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
	b.exists = true
	b.items, err = readSidecar(f, b.from)
	return err
}

// missingStores returns the number of stores that have items in the sidecar but
// do not exist.
func (b *sidecar) missingStores(found []Found) (n int) {
	there := map[string]bool{}
	for _, f := range found {
		there[storeKey(f.Rel)] = true
	}
	for key := range b.items {
		if !there[key] {
			n++
		}
	}
	return n
}

// storeKey returns the name of a store in a sidecar, "" for the only one.
func storeKey(rel string) string {
	if rel == "." {
		return ""
	}
	return rel
}

// omittedItems collects what a reader leaves out of one store, as lines of a
// sidecar.
type omittedItems struct {
	store string
	off   bool // no sidecar: only count them
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

// add is used as formats.View.Omitted.
func (o *omittedItems) add(it store.SidecarItem) {
	o.mu.Lock()
	o.n += int64(max(1, len(it.Inserts)))
	o.mu.Unlock()
	o.keep(it)
}

// keep encodes an item immediately, as the reader reuses its cells.
func (o *omittedItems) keep(it store.SidecarItem) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.off {
		return
	}
	if len(it.Row) > 0 {
		it.Inserts = nil // the row does not contain them, so do not write them
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

// fail records that an item cannot be kept; the first error counts.
func (o *omittedItems) fail(it store.SidecarItem, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = cmp.Or(o.err, error(&formats.Error{At: it.At.String(), Err: err}))
}

// failure returns why items cannot be kept.
func (o *omittedItems) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// sorted returns the lines in an order that does not depend on workers. Sets
// without row ids stay in the reader's order.
func (o *omittedItems) sorted() []omitted {
	slices.SortStableFunc(o.lines, func(a, b omitted) int {
		return cmp.Or(cmp.Compare(a.at.File, b.at.File), cmp.Compare(a.at.Set, b.at.Set),
			cmp.Compare(a.at.RowID, b.at.RowID), cmp.Compare(a.column, b.column))
	})
	return o.lines
}

// sidecarSize returns the size of the items of all stores that will be placed.
func (j *job) sidecarSize() (size int) {
	for _, o := range j.omitted {
		if o != nil {
			size += o.size
		}
	}
	return size
}

func (j *job) checkSidecarSize() error {
	if j.sidecarSize() <= maxSidecar {
		return nil
	}
	return &formats.Error{At: j.sidecar.to.Display, Err: fmt.Errorf("the sidecar would exceed %d MB", maxSidecar>>20), Hint: "convert fewer stores at once, or use --sidecar none"}
}

// stageSidecar writes the sidecar of all placed stores to path, in the order of
// the walk. It reports whether there was anything to write.
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

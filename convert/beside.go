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

const residueSuffix = ".residue.ndjson"

// beside is the residue of one conversion: what lies beside the source and is
// put back, and what will lie beside the target.
type beside struct {
	off      bool
	named    bool   // in a file the user named, which serves both directions
	from     string // where the source's residue would lie
	to       target // where the target's goes
	there    bool   // it lies there
	byStore  map[string][]store.Item
	old      target // residue of an older target of this name
	oldThere bool
}

func newBeside(src string, goal target, option string) (*beside, error) {
	b := &beside{old: goal.beside(residueSuffix)}
	b.oldThere = b.old.exists()
	if err := apart(src, b.old); err != nil {
		return nil, err
	}
	switch option {
	case "none":
		b.off = true
	case "", "beside":
		b.from, b.to = sourceBeside(src), b.old
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

// nameable refuses a residue file in a place where it would touch source or
// target.
func nameable(src string, goal, t target) error {
	if err := apart(src, t); err != nil {
		return err
	}
	sep := string(filepath.Separator)
	if strings.HasPrefix(t.path()+sep, goal.path()+sep) || strings.HasPrefix(goal.path()+sep, t.path()+sep) {
		return &formats.Error{At: t.shown, Err: errors.New("the residue cannot lie where the target goes"), Hint: "name a file beside it, or leave --residue out"}
	}
	if len(t.tail) > 1 {
		return &formats.Error{At: filepath.Dir(t.shown), Err: fs.ErrNotExist, Hint: "the folder of the residue file must be there"}
	}
	return nil
}

// sourceBeside is the name of the residue beside a source. A source without
// a name of its own (".") is looked up.
func sourceBeside(src string) string {
	p := trimmed(src)
	if b := filepath.Base(p); b == "." || b == ".." {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			if abs, err := filepath.Abs(real); err == nil {
				p = abs
			}
		}
	}
	return p + residueSuffix
}

// read takes in the residue that belongs to the source, if there is any. Where
// the source is a client's folder around its one store, within, it lies beside
// that.
func (b *beside) read(within string, say func(string)) error {
	if b.off {
		return nil
	}
	f, err := openResidue(b.from)
	if nearer := within + residueSuffix; within != "" && !b.named {
		_, there := os.Lstat(nearer)
		switch {
		case there != nil:
		case errors.Is(err, fs.ErrNotExist):
			b.from = nearer
			say("what belongs to its store is taken from " + nearer)
			f, err = openResidue(nearer)
		default:
			say(nearer + " is left aside: what lies beside the source stands for it")
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
	b.byStore, err = readResidue(f, b.from)
	return err
}

// strangers is the number of stores that the residue speaks of and that are
// not there.
func (b *beside) strangers(found []Found) (n int) {
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

// storeKey is how residue names a store: not at all where it is the only one.
func storeKey(rel string) string {
	if rel == "." {
		return ""
	}
	return rel
}

// omissions collects what a reader leaves out of one store, as lines of
// residue.
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

// add is a formats.View.Omitted.
func (o *omissions) add(it store.Item) {
	o.mu.Lock()
	o.n += int64(max(1, len(it.Inserts)))
	o.mu.Unlock()
	o.keep(it)
}

// keep spells an item at once: its cells are the reader's only for now.
func (o *omissions) keep(it store.Item) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.off {
		return
	}
	if len(it.Row) > 0 {
		it.Inserts = nil // cut out of the row so that they are not written
	}
	line, err := appendItem(nil, o.store, it)
	if err == nil && o.size+len(line) > maxResidue {
		err = fmt.Errorf("more than %d MB were left at home: too much to keep beside the target", maxResidue>>20)
		err = &formats.Error{Err: err, Hint: "--residue none carries the store without"}
	}
	if err != nil {
		o.err = cmp.Or(o.err, error(&formats.Error{At: it.At.String(), Err: err}))
		return
	}
	o.size += len(line)
	o.lines = append(o.lines, omitted{it.At, it.Column, line})
}

// fail says that an item cannot be kept; the first such word stands.
func (o *omissions) fail(it store.Item, err error) {
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

// residueSize is how much residue there is of all stores that are to be placed.
func (j *job) residueSize() (size int) {
	for _, o := range j.omitted {
		if o != nil {
			size += o.size
		}
	}
	return size
}

func (j *job) residueFits() error {
	if j.residueSize() <= maxResidue {
		return nil
	}
	return &formats.Error{At: j.residue.to.shown, Err: fmt.Errorf("more than %d MB of residue", maxResidue>>20), Hint: "convert fewer stores at once, or give --residue none"}
}

// stageResidue writes the residue of all placed stores, in the order of the
// walk, to path. It reports whether there was any.
func (j *job) stageResidue(path string) (bool, error) {
	size := j.residueSize()
	if size == 0 {
		return false, nil
	}
	out := append(make([]byte, 0, size+64), residueHeader...)
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

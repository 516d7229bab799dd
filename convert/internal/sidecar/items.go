package sidecar

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"rehome/formats"
	"rehome/formats/store"
)

// Omitted collects what a reader leaves out of one store, as lines of a
// sidecar.
type Omitted struct {
	store string
	Off   bool // no sidecar: only count them
	mu    sync.Mutex
	N     int64
	size  int
	lines []omitted
	err   error
}

type omitted struct {
	part   string
	at     store.Addr
	column int
	line   []byte
}

// NewOmitted returns an empty one for the store at a path below the source. If
// off is set, there will be no sidecar, and items are only counted.
func NewOmitted(rel string, off bool) *Omitted {
	return &Omitted{store: storeKey(rel), Off: off}
}

// Carried returns the items that an earlier sidecar has for a store, unchanged.
func Carried(rel string, items map[string][]store.SidecarItem) *Omitted {
	o := NewOmitted(rel, false)
	for _, it := range items[o.store] {
		o.Keep(it)
	}
	return o
}

// Stores returns the stores that an earlier sidecar has items for.
func Stores(items map[string][]store.SidecarItem) []string {
	return slices.Sorted(maps.Keys(items))
}

// Add counts and keeps an item that a reader omits: formats.View.OnOmit.
func (o *Omitted) Add(it store.SidecarItem) {
	o.mu.Lock()
	o.N += int64(max(1, len(it.Inserts)))
	o.mu.Unlock()
	o.Keep(it)
}

// Keep encodes an item immediately, as the reader reuses its cells.
func (o *Omitted) Keep(it store.SidecarItem) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.Off {
		return
	}
	if len(it.Row) > 0 {
		it.Inserts = nil // the row does not contain them, so do not write them
	}
	line, err := appendItem(nil, path.Join(o.store, it.Part), it)
	if err == nil && o.size+len(line) > MaxSize {
		err = fmt.Errorf("the sidecar would exceed %d MB", MaxSize>>20)
		err = &formats.Error{Err: err, Hint: "use --sidecar none to convert without it"}
	}
	if err != nil {
		o.err = cmp.Or(o.err, error(&formats.Error{At: it.At.String(), Err: err}))
		return
	}
	o.size += len(line)
	o.lines = append(o.lines, omitted{it.Part, it.At, it.Column, line})
}

// Divide gives each item to the part of its store that it belongs to, and writes the
// sidecars of the parts into the store at dir; with no dir, they stay in the one file.
func (o *Omitted) Divide(dir string, part func(store.SidecarItem) store.SidecarItem) error {
	lines, files := o.lines, map[string][]byte{}
	o.lines, o.size = nil, 0
	for _, l := range o.sort(lines) {
		_, it, err := parseItem(l.line)
		if err != nil {
			return &formats.Error{At: l.at.String(), Err: err}
		}
		it.Part = l.part
		if it = part(it); dir == "" {
			o.Keep(it)
			continue
		}
		if files[it.Part] == nil {
			files[it.Part] = []byte(Header)
		}
		if files[it.Part], err = appendItem(files[it.Part], "", it); err != nil {
			return &formats.Error{At: l.at.String(), Err: err}
		}
	}
	for part, text := range files {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(part), formats.PartSidecar), text, 0o666); err != nil {
			return err
		}
	}
	return o.Failure()
}

// Fail records that an item cannot be kept; the first error counts.
func (o *Omitted) Fail(it store.SidecarItem, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = cmp.Or(o.err, error(&formats.Error{At: it.At.String(), Err: err}))
}

// Failure returns why items cannot be kept.
func (o *Omitted) Failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// sort puts lines into an order that does not depend on workers. Sets
// without row ids stay in the reader's order.
func (o *Omitted) sort(lines []omitted) []omitted {
	slices.SortStableFunc(lines, func(a, b omitted) int {
		return cmp.Or(cmp.Compare(a.at.File, b.at.File), cmp.Compare(a.at.Set, b.at.Set),
			cmp.Compare(a.at.RowID, b.at.RowID), cmp.Compare(a.column, b.column))
	})
	return lines
}

// sizeOf returns the size of the items of all stores that will be placed.
func sizeOf(all []*Omitted) (size int) {
	for _, o := range all {
		if o != nil {
			size += o.size
		}
	}
	return size
}

// CheckSize returns an error if the items exceed what a sidecar, displayed as shown,
// can hold.
func CheckSize(all []*Omitted, shown string) error {
	if sizeOf(all) <= MaxSize {
		return nil
	}
	return &formats.Error{At: shown, Err: fmt.Errorf("the sidecar would exceed %d MB", MaxSize>>20), Hint: "convert fewer stores at once, or use --sidecar none"}
}

// Write writes the sidecar of all placed stores to path, in the order of the
// walk; nil stands for a store that is not placed. It reports whether there was
// anything to write.
func Write(path string, all []*Omitted) (bool, error) {
	size := sizeOf(all)
	if size == 0 {
		return false, nil
	}
	out := append(make([]byte, 0, size+64), Header...)
	for _, o := range all {
		if o == nil {
			continue
		}
		for _, l := range o.sort(o.lines) {
			out = append(out, l.line...)
		}
	}
	return true, os.WriteFile(path, out, 0o666)
}

package convert

import (
	"cmp"
	"hash/fnv"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"rehome/formats/rule"
	"rehome/formats/store"
)

// CheckReport is what Check found, store by store in the order of the paths.
type CheckReport struct {
	Stores []*CheckedStore
}

// CheckedStore is one store, and what is wrong with it.
type CheckedStore struct {
	Path     string // as the user would write it
	Format   string // "" where Err says why none was found
	Bytes    int64
	Breaches []Breach // in the order of their rules
	Said     []string // how the store was opened, where that is not plain
	Err      error    // why it could not be examined to the end
}

// Breach is a rule that a store breaks, said once.
type Breach struct {
	Rule   *rule.Rule
	Count  int64
	Places []rule.Finding // the first of them, in the order of their addresses
	// Prints tell the breaches apart from one run to the next: one for each
	// place, also for those not among Places, sorted.
	Prints []uint64
}

// mostPlaces is how many places of a breach are kept, and mostPrints how many
// can be told apart later on: a broken store of gigabytes must fit.
const (
	mostPlaces = 100
	mostPrints = 100_000
)

// File is the file that an address inside the store stands for, as the user
// would write it.
func (s *CheckedStore) File(at store.Addr) string {
	if at.File == "" || filepath.Base(s.Path) == at.File {
		return s.Path
	}
	return filepath.Join(s.Path, filepath.FromSlash(at.File))
}

// Worst is the worst severity of what was found, and whether there is any.
func (r *CheckReport) Worst() (worst rule.Severity, any bool) {
	for _, s := range r.Stores {
		for _, b := range s.Breaches {
			worst, any = max(worst, b.Rule.Severity), true
		}
	}
	return worst, any
}

func (c *checker) report() *CheckReport {
	r := &CheckReport{}
	for _, one := range c.found {
		one.store.Breaches, one.store.Said = one.tally.result()
		r.Stores = append(r.Stores, &one.store)
	}
	return r
}

// checkTally gathers what a codec reports, from any number of goroutines and
// in any order.
type checkTally struct {
	mu    sync.Mutex
	rules map[string]*Breach
	said  []string
}

func (t *checkTally) say(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.said = append(t.said, s)
}

func (t *checkTally) add(f rule.Finding) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.rules[f.Rule]
	if b == nil {
		if t.rules == nil {
			t.rules = map[string]*Breach{}
		}
		b = &Breach{Rule: rule.Named(f.Rule)}
		t.rules[f.Rule] = b
	}
	b.Count++
	if len(b.Prints) < mostPrints {
		b.Prints = append(b.Prints, fingerprint(f))
	}
	at, _ := slices.BinarySearchFunc(b.Places, f, byPlace)
	if at == mostPlaces {
		return
	}
	f.At.Key = f.At.Key.Clone() // it may lie in what the codec uses again
	b.Places = slices.Insert(b.Places, at, f)
	b.Places = b.Places[:min(len(b.Places), mostPlaces)]
}

func (t *checkTally) result() (out []Breach, said []string) {
	for _, b := range t.rules {
		slices.Sort(b.Prints)
		out = append(out, *b)
	}
	slices.SortFunc(out, func(a, b Breach) int { return strings.Compare(a.Rule.ID, b.Rule.ID) })
	return out, t.said
}

// byPlace is the order in which people read a store.
func byPlace(a, b rule.Finding) int {
	return cmp.Or(
		strings.Compare(a.At.File, b.At.File),
		strings.Compare(a.At.Set, b.At.Set),
		cmp.Compare(a.At.Line, b.At.Line),
		cmp.Compare(a.At.RowID, b.At.RowID),
		strings.Compare(a.At.String(), b.At.String()),
		strings.Compare(a.Pointer, b.Pointer),
		strings.Compare(a.Says, b.Says),
	)
}

// fingerprint tells one breach from another of the same rule.
func fingerprint(f rule.Finding) uint64 {
	h := fnv.New64a()
	for _, s := range []string{f.At.String(), f.Pointer, f.Says} {
		io.WriteString(h, s+"\x00")
	}
	return h.Sum64()
}

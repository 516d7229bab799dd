package convert

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"rehome/formats/rule"
	"rehome/formats/store"
)

// CheckReport is what Check found, store by store in the order of the paths.
type CheckReport struct {
	Stores   []*CheckedStore
	Baseline *BaselineUse // nil without one

	o CheckOptions
}

// Asked are the rules that were asked of stores of a format, and those of the
// walk where there is none.
func (r *CheckReport) Asked(format string) (out []rule.Rule) {
	for _, one := range rule.All() {
		if one.AppliesTo(format) && r.o.wanted(one.ID) && slices.Contains(walkRules(), one.ID) == (format == "") {
			out = append(out, one)
		}
	}
	return out
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
	Count  int64          // without those that the baseline knows
	Known  int64          // that the baseline knows
	Places []rule.Finding // the first of Count, in the order of their addresses

	prints []uint64 // of all, known or not, as far as a baseline tells them apart
	marks  []uint64 // the fingerprints of Places, from before credentials were taken out
}

// mostPlaces is how many places of a breach are kept, and mostPrints how many
// a baseline tells apart: a broken store of gigabytes must fit.
const (
	mostPlaces = 100
	mostPrints = 1000
)

// Fingerprint tells Places[i] from other breaches of the same rule in a store,
// from one run to the next, whether or not credentials are looked for.
func (b *Breach) Fingerprint(i int) string {
	return fmt.Sprintf("%016x", b.marks[i])
}

// File is the file that an address inside the store stands for, as the user
// would write it.
func (s *CheckedStore) File(at store.Addr) string {
	if at.File == "" || filepath.Base(s.Path) == at.File {
		return s.Path
	}
	return filepath.Join(s.Path, filepath.FromSlash(at.File))
}

// Count is the number of findings of a severity.
func (r *CheckReport) Count(of rule.Severity) (n int64) {
	for _, s := range r.Stores {
		n += s.Count(of)
	}
	return n
}

// Count is the number of findings of a severity in this store.
func (s *CheckedStore) Count(of rule.Severity) (n int64) {
	for _, b := range s.Breaches {
		if b.Rule.Severity == of {
			n += b.Count
		}
	}
	return n
}

func (c *checker) report() *CheckReport {
	r := &CheckReport{o: c.o}
	for _, one := range c.found {
		one.store.Breaches, one.store.Said = one.tally.result()
		if one.store.Format != "" || one.store.Err != nil || len(one.store.Breaches)+len(one.store.Said) > 0 {
			r.Stores = append(r.Stores, &one.store)
		}
	}
	if c.o.Baseline != nil {
		r.Baseline = c.o.Baseline.used(c, r)
	}
	return r
}

// checkTally gathers what a codec reports, from any number of goroutines and
// in any order.
type checkTally struct {
	kind  string // of the store: its format
	mu    sync.Mutex
	rules map[string]*Breach
	known map[string]*knownRule // by the baseline
	said  []string
}

// forget begins anew.
func (t *checkTally) forget(known map[string]*knownRule) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rules, t.known, t.said = nil, known, nil
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
		b = &Breach{Rule: rule.Lookup(f.Rule)}
		t.rules[f.Rule] = b
	}
	if len(b.prints) == mostPrints && len(b.Places) == mostPlaces && t.known[f.Rule] == nil && byPlace(b.Places[mostPlaces-1], f) < 0 {
		b.Count++ // of hostile text there are millions
		return
	}
	print := fingerprint(t.kind, &f)
	if len(b.prints) < mostPrints {
		b.prints = append(b.prints, print)
	}
	if t.known[f.Rule].has(print) {
		b.Known++
		return
	}
	b.Count++
	at, _ := slices.BinarySearchFunc(b.Places, f, byPlace)
	if at == mostPlaces {
		return
	}
	f.Detach()
	b.Places, b.marks = slices.Insert(b.Places, at, f), slices.Insert(b.marks, at, print)
	kept := min(len(b.Places), mostPlaces)
	b.Places, b.marks = b.Places[:kept], b.marks[:kept]
}

func (t *checkTally) result() (out []Breach, said []string) {
	for _, b := range t.rules {
		t.known[b.Rule.ID].counted(b)
		slices.Sort(b.prints)
		out = append(out, *b)
	}
	slices.SortFunc(out, func(a, b Breach) int { return strings.Compare(a.Rule.ID, b.Rule.ID) })
	slices.Sort(t.said)
	return out, slices.Compact(t.said)
}

// byPlace is the order in which people read a store.
func byPlace(a, b rule.Finding) int {
	plain := cmp.Or(
		strings.Compare(a.At.File, b.At.File),
		strings.Compare(a.At.Set, b.At.Set),
		cmp.Compare(a.At.Line, b.At.Line),
		cmp.Compare(a.At.RowID, b.At.RowID),
	)
	if plain != 0 {
		return plain
	}
	return cmp.Or(
		strings.Compare(a.At.String(), b.At.String()),
		strings.Compare(a.Pointer, b.Pointer),
		strings.Compare(a.Text(), b.Text()),
	)
}

// fingerprint identifies a finding from one run to the next, and from one
// version of rehome to the next: it hashes codes, addresses and names, no words.
// A record with a key is known by that, as its row id can change.
func fingerprint(kind string, f *rule.Finding) uint64 {
	h := fnv.New64a()
	part := func(s string) { fmt.Fprintf(h, "%d:%s,", len(s), s) }
	for _, s := range []string{kind, f.Rule, f.At.File, f.At.Set, f.Pointer} {
		part(s)
	}
	if key := f.At.Key; key.Class == store.Text || key.Class == store.Blob {
		part(string(key.Bytes()))
	} else {
		part(f.At.String())
	}
	for _, s := range f.Identity() {
		part(s)
	}
	return h.Sum64()
}

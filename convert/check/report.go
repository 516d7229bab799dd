package check

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

// Report is the result of Check: the stores in the order of the paths.
type Report struct {
	Stores   []*Store
	Skipped  int          // number of files and folders that ignore files and Options.Exclude made it skip
	Baseline *BaselineUse // nil without one

	o Options
}

// Store is one store and its findings.
type Store struct {
	Path     string // as the user would write it
	Format   string // "" if Err says why none was detected
	Family   string // see formats.Format.Family
	Bytes    int64
	Findings []RuleFindings // in the order of the rule ids
	Sessions []string       // the sessions of it that were checked; nil = all
	Others   int64          // findings in the store that do not belong to Sessions
	Remarks  []string       // remarks about how the store was opened
	Err      error          // why it was not fully checked
}

// RuleFindings are the findings of one rule in a store.
type RuleFindings struct {
	Rule   *rule.Rule
	Count  int64          // not counting known ones
	Known  int64          // in the baseline
	Places []rule.Finding // the first of Count, in the order of their addresses

	fingerprints      []uint64 // of all, known or not, up to maxFingerprints
	placeFingerprints []uint64 // of Places, computed before secrets were masked
}

// maxPlaces is how many places of a rule are kept, and maxFingerprints how many
// a baseline tells apart. They bound memory: a broken store can have gigabytes.
const (
	maxPlaces       = 100
	maxFingerprints = 1000
)

// Fingerprint returns a string that identifies Places[i] among the findings of
// the rule in this store. It is the same in every run, with and without a
// search for secrets.
func (b *RuleFindings) Fingerprint(i int) string {
	return fmt.Sprintf("%016x", b.placeFingerprints[i])
}

// File returns the path of the file that an address in the store refers to.
func (s *Store) File(at store.Addr) string {
	if at.File == "" || filepath.Base(s.Path) == at.File {
		return s.Path
	}
	return filepath.Join(s.Path, filepath.FromSlash(at.File))
}

// Count returns the number of findings of a severity.
func (r *Report) Count(of rule.Severity) (n int64) {
	for _, s := range r.Stores {
		n += s.Count(of)
	}
	return n
}

// Count returns the number of findings of a severity in this store.
func (s *Store) Count(of rule.Severity) (n int64) {
	for _, b := range s.Findings {
		if b.Rule.Severity == of {
			n += b.Count
		}
	}
	return n
}

func (c *checker) report() *Report {
	r := &Report{o: c.o}
	for _, t := range c.trees {
		r.Skipped += t.Skipped
	}
	for _, one := range c.found {
		one.store.Findings, one.store.Remarks = one.findings.result()
		one.store.Sessions, one.store.Others = one.sessions, one.findings.others
		if one.store.Format != "" || one.store.Err != nil || len(one.store.Findings)+len(one.store.Remarks) > 0 {
			r.Stores = append(r.Stores, &one.store)
		}
	}
	if c.o.Baseline != nil {
		r.Baseline = c.o.Baseline.summarize(c, r)
	}
	return r
}

// findingSet collects the findings of a store, from any number of goroutines
// and in any order.
type findingSet struct {
	format  string // of the store
	mu      sync.Mutex
	rules   map[string]*RuleFindings
	known   map[string]*knownRule // from the baseline
	others  int64                 // findings that belong to other sessions
	remarks []string
}

// reset drops all findings and sets the known ones.
func (t *findingSet) reset(known map[string]*knownRule) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rules, t.known, t.others, t.remarks = nil, known, 0, nil
}

func (t *findingSet) say(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remarks = append(t.remarks, s)
}

func (t *findingSet) addOther() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.others++
}

func (t *findingSet) add(f rule.Finding) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.rules[f.Rule]
	if b == nil {
		if t.rules == nil {
			t.rules = map[string]*RuleFindings{}
		}
		b = &RuleFindings{Rule: rule.Lookup(f.Rule)}
		t.rules[f.Rule] = b
	}
	if len(b.fingerprints) == maxFingerprints && len(b.Places) == maxPlaces && t.known[f.Rule] == nil && compareFindings(b.Places[maxPlaces-1], f) < 0 {
		b.Count++ // hostile text has millions
		return
	}
	print := fingerprint(t.format, &f)
	if len(b.fingerprints) < maxFingerprints {
		b.fingerprints = append(b.fingerprints, print)
	}
	if t.known[f.Rule].has(print) {
		b.Known++
		return
	}
	b.Count++
	at, _ := slices.BinarySearchFunc(b.Places, f, compareFindings)
	if at == maxPlaces {
		return
	}
	f.Detach()
	b.Places, b.placeFingerprints = slices.Insert(b.Places, at, f), slices.Insert(b.placeFingerprints, at, print)
	kept := min(len(b.Places), maxPlaces)
	b.Places, b.placeFingerprints = b.Places[:kept], b.placeFingerprints[:kept]
}

func (t *findingSet) result() (out []RuleFindings, said []string) {
	for _, b := range t.rules {
		t.known[b.Rule.ID].subtractCount(b)
		slices.Sort(b.fingerprints)
		out = append(out, *b)
	}
	slices.SortFunc(out, func(a, b RuleFindings) int { return strings.Compare(a.Rule.ID, b.Rule.ID) })
	slices.Sort(t.remarks)
	return out, slices.Compact(t.remarks)
}

// compareFindings sorts findings by address, in the order in which people read
// a store.
func compareFindings(a, b rule.Finding) int {
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

// fingerprint returns a hash that identifies a finding in every run and every
// version of rehome: it covers codes, addresses and names, but no wording. A
// record with a key is identified by that, as its row id can change.
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

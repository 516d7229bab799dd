package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/rule"
	"rehome/schemas"
)

// Baseline is what is known to be wrong and does not count: a file that people
// commit beside their stores.
type Baseline struct {
	file  string
	words bool   // it is of version 1, which knows findings by their words
	dir   string // its folder, absolute: paths in it begin there
	old   []baselineEntry
	by    map[string][]baselineEntry // path
}

const (
	baselineSchema  = "check-baseline-2"
	baselineOfWords = "check-baseline-1"
	largestBaseline = 64 << 20
)

// baselineFile is the file. Its schema is check-baseline-2, or 1 of an old one.
type baselineFile struct {
	Rehome  string          `json:"rehome"`
	Version int             `json:"version"`
	Known   []baselineEntry `json:"known"`
}

// baselineEntry is what is known of one rule in one store: each place by its
// fingerprint, or, where there are too many, only how many there are.
type baselineEntry struct {
	Path   string   `json:"path"` // with slashes, from the baseline's folder
	Rule   string   `json:"rule"`
	Places []string `json:"places,omitempty"`
	Count  int64    `json:"count,omitempty"`
}

// ReadBaseline reads a baseline. One that does not exist yet is empty if it is
// to be written.
func ReadBaseline(path string, write bool) (*Baseline, error) {
	refuse := func(err error, hint string) error { return &formats.Error{At: path, Err: err, Hint: hint} }
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, refuse(err, "")
	}
	b := &Baseline{file: path, dir: filepath.Dir(abs)}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && write:
		return b, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, refuse(bare(err), "create it with --write-baseline")
	case err != nil:
		return nil, refuse(bare(err), "")
	case !info.Mode().IsRegular() || info.Size() > largestBaseline:
		return nil, refuse(errors.New("not a baseline"), "name a file written by --write-baseline")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, refuse(bare(err), "")
	}
	if b.old, b.words, err = parseBaseline(text); err != nil {
		return nil, refuse(fmt.Errorf("not a baseline: %w", err), "replace it with --write-baseline")
	}
	b.by = map[string][]baselineEntry{}
	for _, e := range b.old {
		b.by[e.Path] = append(b.by[e.Path], e)
	}
	return b, nil
}

// parseBaseline returns what a baseline knows, and whether it is of version 1.
// The fingerprints of that version hash the words of findings, which have
// changed: only their number is left.
func parseBaseline(text []byte) (known []baselineEntry, words bool, err error) {
	var doc baselineFile
	words = json.Unmarshal(text, &doc) == nil && doc.Version == 1
	schema := baselineSchema
	if words {
		schema = baselineOfWords
	}
	if err := schemas.Validate(schema, text); err != nil {
		return nil, words, err
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, words, err
	}
	if words {
		for i := range doc.Known {
			e := &doc.Known[i]
			e.Count, e.Places = e.Count+int64(len(e.Places)), nil
		}
	}
	return doc.Known, words, nil
}

// knownRule is what the baseline knows of a rule in a store. nil knows nothing.
type knownRule struct {
	prints map[uint64]bool // and whether it was found again
	count  int64
}

// of is what is known of a store, by rule.
func (b *Baseline) of(path string) map[string]*knownRule {
	if b == nil {
		return nil
	}
	out := map[string]*knownRule{}
	for _, e := range b.by[b.rel(path)] {
		if out[e.Rule] == nil {
			out[e.Rule] = &knownRule{prints: map[uint64]bool{}}
		}
		out[e.Rule].add(e)
	}
	return out
}

func (k *knownRule) add(e baselineEntry) {
	k.count += e.Count
	for _, p := range e.Places {
		if n, err := strconv.ParseUint(p, 16, 64); err == nil {
			k.prints[n] = false
		}
	}
}

func (k *knownRule) has(print uint64) bool {
	if k == nil {
		return false
	}
	_, ok := k.prints[print]
	if ok {
		k.prints[print] = true
	}
	return ok
}

// counted takes from a breach what is known by its number alone. Which places
// are the new ones nobody can say, so all of them stay.
func (k *knownRule) counted(b *Breach) {
	if k == nil || k.count == 0 {
		return
	}
	n := min(k.count, b.Count)
	b.Known, b.Count = b.Known+n, b.Count-n
	if b.Count == 0 {
		b.Places = nil
	}
}

// rel is how the baseline names a store.
func (b *Baseline) rel(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	if rel, err := filepath.Rel(b.dir, abs); err == nil {
		abs = rel
	}
	return strings.ToValidUTF8(filepath.ToSlash(abs), "\ufffd")
}

// BaselineUse is what came of a baseline.
type BaselineUse struct {
	Path  string
	Known int64 // findings that it knows
	Gone  int64 // what it knows and is no longer there
	Words bool  // it is of version 1, and compares only numbers of findings

	b    *Baseline
	left []baselineEntry // of what was not asked this time
}

// used sums up, and keeps aside what this run has nothing to say about: stores
// that it did not look at, rules that it did not ask.
func (b *Baseline) used(c *checker, r *CheckReport) *BaselineUse {
	u := &BaselineUse{Path: b.file, Words: b.words, b: b}
	for _, s := range r.Stores {
		for _, br := range s.Breaches {
			u.Known += br.Known
		}
	}
	looked := map[string]*examined{}
	for _, one := range c.found {
		looked[b.rel(one.store.Path)+"\x00"+fmt.Sprint(one.walk)] = one
	}
	var below []string
	for _, p := range r.o.Paths {
		below = append(below, b.rel(p))
	}
	for _, e := range b.old {
		one := looked[e.Path+"\x00"+fmt.Sprint(slices.Contains(walkRules(), e.Rule))]
		there := slices.ContainsFunc(below, func(p string) bool { return p == "." || e.Path == p || strings.HasPrefix(e.Path, p+"/") })
		switch {
		case rule.Lookup(e.Rule) == nil && there: // of a version that had it
			u.Gone += max(int64(len(e.Places)), e.Count)
		case rule.Lookup(e.Rule) == nil, !r.o.wanted(e.Rule), one == nil && !there, one != nil && one.store.Err != nil:
			u.left = append(u.left, e)
		case one == nil:
			u.Gone += max(int64(len(e.Places)), e.Count)
		default:
			u.Gone += one.tally.gone(e)
		}
	}
	return u
}

// gone is how many of the breaches that an entry knows were not found again.
func (t *checkTally) gone(e baselineEntry) (n int64) {
	k := t.known[e.Rule]
	for _, p := range e.Places {
		if print, err := strconv.ParseUint(p, 16, 64); err == nil && !k.prints[print] {
			n++
		}
	}
	var all int64
	if b := t.rules[e.Rule]; b != nil {
		all = b.Count + b.Known
	}
	return n + max(0, e.Count-all)
}

// Write makes the baseline anew: it then knows everything of at least this
// severity that was found, and what it knew of what was not asked. In the report
// all of that is known from then on.
func (u *BaselineUse) Write(r *CheckReport, least rule.Severity) error {
	doc := baselineFile{Rehome: "check-baseline", Version: 2, Known: slices.Clone(u.left)}
	u.Known, u.Gone, u.Words = 0, 0, false
	for _, s := range r.Stores {
		if s.Err != nil {
			continue // what was known of it is left
		}
		for i := range s.Breaches {
			b := &s.Breaches[i]
			if b.Rule.Severity < least {
				continue
			}
			e := baselineEntry{Path: u.b.rel(s.Path), Rule: b.Rule.ID}
			if all := b.Count + b.Known; all > mostPrints {
				e.Count = all
			} else {
				for _, p := range slices.Compact(slices.Clone(b.prints)) {
					e.Places = append(e.Places, fmt.Sprintf("%016x", p))
				}
			}
			b.Count, b.Known, b.Places = 0, b.Count+b.Known, nil
			u.Known += b.Known
			doc.Known = append(doc.Known, e)
		}
	}
	slices.SortFunc(doc.Known, func(a, b baselineEntry) int {
		return strings.Compare(a.Path+"\x00"+a.Rule, b.Path+"\x00"+b.Rule)
	})
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if doc.Known == nil {
		doc.Known = []baselineEntry{}
	}
	if err := enc.Encode(doc); err != nil {
		return err
	}
	return replaceFile(u.Path, text.Bytes())
}

// replaceFile writes a file under another name and then gives it its own: there
// is always the old one or the new.
func replaceFile(path string, text []byte) error {
	t, err := resolve(path)
	if err != nil {
		return err
	}
	sweep(t, func(string) {})
	s, err := newStaging(t)
	if err != nil {
		return err
	}
	staged := filepath.Join(s.tree, t.base())
	err = os.WriteFile(staged, text, 0o644)
	if err == nil {
		err = syncFile(staged)
	}
	if err == nil {
		err = os.Rename(staged, t.path())
	}
	if err = errors.Join(err, s.Remove()); err != nil {
		return &formats.Error{At: path, Err: bare(err)}
	}
	return nil
}

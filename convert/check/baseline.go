package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rehome/convert/internal/stage"
	"rehome/convert/internal/walk"
	"rehome/formats"
	"rehome/formats/rule"
	"rehome/schemas"
)

// Baseline lists known findings, which do not count. It is a file that people
// commit beside their stores.
type Baseline struct {
	file       string
	countsOnly bool   // version 1, whose fingerprints hash wording: only counts are compared
	dir        string // its absolute folder; the paths in it are relative to it
	old        []baselineEntry
	by         map[string][]baselineEntry // by path
}

const (
	baselineSchema  = "check-baseline-2"
	baselineSchema1 = "check-baseline-1"
	maxBaselineSize = 64 << 20
)

// baselineFile is the content of the file, in schema check-baseline-2 or, for
// an old one, check-baseline-1.
type baselineFile struct {
	Rehome  string          `json:"rehome"`
	Version int             `json:"version"`
	Known   []baselineEntry `json:"known"`
}

// baselineEntry holds the known findings of one rule in one store: their
// fingerprints or, if there are too many, only their number.
type baselineEntry struct {
	Path   string   `json:"path"` // slash path relative to the baseline's folder
	Rule   string   `json:"rule"`
	Places []string `json:"places,omitempty"`
	Count  int64    `json:"count,omitempty"`
}

// ReadBaseline reads a baseline. If write is set, a missing file is an empty
// baseline.
func ReadBaseline(path string, write bool) (*Baseline, error) {
	refuse := func(err error, hint string) error { return &formats.Error{At: path, Err: err, Hint: hint} }
	b, err := newBaseline(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && write:
		return b, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, refuse(formats.Cause(err), "create it with --write-baseline")
	case err != nil:
		return nil, refuse(formats.Cause(err), "")
	case !info.Mode().IsRegular() || info.Size() > maxBaselineSize:
		return nil, refuse(errors.New("not a baseline"), "name a file written by --write-baseline")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, refuse(formats.Cause(err), "")
	}
	return b, b.read(text)
}

// ReadBaselineAt reads a baseline from a git commit. One that the commit does not have
// is empty.
func ReadBaselineAt(ctx context.Context, path, commit string) (*Baseline, error) {
	b, err := newBaseline(path)
	if err != nil {
		return nil, err
	}
	dir, err := walk.RealPath(b.dir)
	if err != nil {
		return nil, &formats.Error{At: path, Err: formats.Cause(err)}
	}
	base, err := openBase(ctx, dir, commit)
	if err != nil {
		return nil, err
	}
	text, err := base.Read(filepath.Join(dir, filepath.Base(path)), maxBaselineSize)
	if err != nil {
		return nil, &formats.Error{At: commit + ":" + path, Err: err}
	}
	if text == nil {
		return b, nil
	}
	return b, b.read(text)
}

func newBaseline(path string) (*Baseline, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, &formats.Error{At: path, Err: err}
	}
	return &Baseline{file: path, dir: filepath.Dir(abs)}, nil
}

// read parses the text of a baseline.
func (b *Baseline) read(text []byte) (err error) {
	if b.old, b.countsOnly, err = parseBaseline(text); err != nil {
		return &formats.Error{At: b.file, Err: fmt.Errorf("not a baseline: %w", err), Hint: "replace it with --write-baseline"}
	}
	b.by = map[string][]baselineEntry{}
	for _, e := range b.old {
		b.by[e.Path] = append(b.by[e.Path], e)
	}
	return nil
}

// parseBaseline returns the entries of a baseline, and whether it has version
// 1. The fingerprints of that version hash the wording of findings, which has
// changed, so only their number is kept.
func parseBaseline(text []byte) (known []baselineEntry, words bool, err error) {
	var doc baselineFile
	words = json.Unmarshal(text, &doc) == nil && doc.Version == 1
	schema := baselineSchema
	if words {
		schema = baselineSchema1
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

// knownRule holds the known findings of a rule in a store. A nil knownRule has
// none.
type knownRule struct {
	fingerprints map[uint64]bool // true if found again
	count        int64
}

// known returns the known findings of a store, by rule.
func (b *Baseline) known(path string) map[string]*knownRule {
	if b == nil {
		return nil
	}
	out := map[string]*knownRule{}
	for _, e := range b.by[b.relPath(path)] {
		if out[e.Rule] == nil {
			out[e.Rule] = &knownRule{fingerprints: map[uint64]bool{}}
		}
		out[e.Rule].add(e)
	}
	return out
}

func (k *knownRule) add(e baselineEntry) {
	k.count += e.Count
	for _, p := range e.Places {
		if n, err := strconv.ParseUint(p, 16, 64); err == nil {
			k.fingerprints[n] = false
		}
	}
}

func (k *knownRule) has(print uint64) bool {
	if k == nil {
		return false
	}
	_, ok := k.fingerprints[print]
	if ok {
		k.fingerprints[print] = true
	}
	return ok
}

// subtractCount subtracts the findings that are known only by number. It cannot
// know which places are new, so all of them stay unless none is left.
func (k *knownRule) subtractCount(b *RuleFindings) {
	if k == nil || k.count == 0 {
		return
	}
	n := min(k.count, b.Count)
	b.Known, b.Count = b.Known+n, b.Count-n
	if b.Count == 0 {
		b.Places = nil
	}
}

// relPath returns the path under which the baseline lists a store.
func (b *Baseline) relPath(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	if rel, err := filepath.Rel(b.dir, abs); err == nil {
		abs = rel
	}
	return strings.ToValidUTF8(filepath.ToSlash(abs), "\ufffd")
}

// BaselineUse reports how a baseline was used.
type BaselineUse struct {
	Path       string
	Known      int64 // findings that the baseline lists
	Gone       int64 // entries that were not found again
	CountsOnly bool  // version 1: only numbers of findings are compared

	b         *Baseline
	unchecked []baselineEntry // entries that this run did not check
}

// summarize returns how the baseline was used. It keeps the entries that this run
// did not check: other stores, and rules that were not enabled.
func (b *Baseline) summarize(c *checker, r *Report) *BaselineUse {
	u := &BaselineUse{Path: b.file, CountsOnly: b.countsOnly, b: b}
	for _, s := range r.Stores {
		for _, br := range s.Findings {
			u.Known += br.Known
		}
	}
	looked := map[string]*storeCheck{}
	for _, one := range c.found {
		looked[b.relPath(one.store.Path)+"\x00"+fmt.Sprint(one.pathOnly)] = one
	}
	var below []string
	for _, p := range r.o.Paths {
		below = append(below, b.relPath(p))
	}
	for _, e := range b.old {
		one := looked[e.Path+"\x00"+fmt.Sprint(slices.Contains(walkRules(), e.Rule))]
		there := slices.ContainsFunc(below, func(p string) bool { return p == "." || e.Path == p || strings.HasPrefix(e.Path, p+"/") }) && !c.skips(filepath.Join(b.dir, filepath.FromSlash(e.Path)))
		switch {
		case rule.Lookup(e.Rule) == nil && there: // a rule of another version of rehome
			u.Gone += max(int64(len(e.Places)), e.Count)
		case rule.Lookup(e.Rule) == nil, !r.o.wanted(e.Rule), one == nil && !there, one != nil && one.store.Err != nil:
			u.unchecked = append(u.unchecked, e)
		case one == nil:
			u.Gone += max(int64(len(e.Places)), e.Count)
		default:
			u.Gone += one.findings.gone(e)
		}
	}
	return u
}

// gone returns how many findings of an entry were not found again.
func (t *findingSet) gone(e baselineEntry) (n int64) {
	k := t.known[e.Rule]
	for _, p := range e.Places {
		if print, err := strconv.ParseUint(p, 16, 64); err == nil && !k.fingerprints[print] {
			n++
		}
	}
	var all int64
	if b := t.rules[e.Rule]; b != nil {
		all = b.Count + b.Known
	}
	return n + max(0, e.Count-all)
}

// Write writes the baseline: all findings of at least this severity, and the
// entries that this run did not check. It marks those findings as known in the
// report.
func (u *BaselineUse) Write(r *Report, least rule.Severity) error {
	doc := baselineFile{Rehome: "check-baseline", Version: 2, Known: slices.Clone(u.unchecked)}
	u.Known, u.Gone, u.CountsOnly = 0, 0, false
	for _, s := range r.Stores {
		if s.Err != nil {
			continue // its old entries are kept
		}
		for i := range s.Findings {
			b := &s.Findings[i]
			if b.Rule.Severity < least {
				continue
			}
			e := baselineEntry{Path: u.b.relPath(s.Path), Rule: b.Rule.ID}
			if all := b.Count + b.Known; all > maxFingerprints {
				e.Count = all
			} else {
				for _, p := range slices.Compact(slices.Clone(b.fingerprints)) {
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
	return stage.Overwrite(u.Path, text.Bytes(), 0o644)
}

package merge

import (
	"bytes"
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"rehome/formats"
)

// version is one copy of a session: its files, and the sources that have it.
type version struct {
	from  []int
	files map[string]*file
	root  string // the session, if the format lists sessions: others of it are subagents

	// Of a store that is one session:
	store source
	rel   string // its path below the sources
	forks []string
}

// sum returns a digest of all files.
func (v *version) sum() digest {
	var b []byte
	for _, p := range slices.Sorted(maps.Keys(v.files)) {
		b = append(append(append(b, p...), 0), v.files[p].sum[:]...)
	}
	return digestOf(b)
}

// paths lists the files of all copies, those of the conversation first.
func paths(m *formats.Merge, all []*version) []string {
	set := map[string]bool{}
	for _, v := range all {
		for p := range v.files {
			set[p] = true
		}
	}
	order := func(p string) int { _, i := ruleFor(m, p); return i }
	root := func(p string) int {
		for _, v := range all {
			if f := v.files[p]; f != nil && f.session == v.root {
				return 0
			}
		}
		return 1
	}
	return slices.SortedFunc(maps.Keys(set), func(a, b string) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(root(a), root(b)), cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(a, b))
	})
}

// ruleOf returns what a file of some copies holds.
func ruleOf(all []*version, p string) *formats.MergeFile {
	for _, v := range all {
		if f := v.files[p]; f != nil {
			return f.rule
		}
	}
	return nil
}

// branch is some copies that go on with the same record.
type branch struct {
	record digest
	copies []*version
}

// divergence is where copies of a session were continued differently.
type divergence struct {
	path     string
	nth      int // line of the path, in a file to which lines are appended
	branches []branch
}

// diverge returns the first divergence of some copies, nil if none was continued otherwise
// than the others. The copies that end before it belong to its first branch.
func diverge(m *formats.Merge, all []*version) *divergence {
	for _, p := range paths(m, all) {
		rule := ruleOf(all, p)
		next, nth := func(f *file) *digest { return &f.sum }, 0
		switch {
		case rule == nil:
		case rule.State:
			continue
		case rule.Key == nil || rule.History:
			n := common(all, p)
			next, nth = func(f *file) *digest { return at(f.lines, n) }, n
		case rule.Fixed:
			key, ok := conflict(all, p)
			if !ok {
				continue
			}
			next = func(f *file) *digest { return at(f.values, slices.Index(f.lines, key)) }
		default:
			continue
		}
		groups, rest := map[digest][]*version{}, []*version(nil)
		for _, v := range all {
			if f := v.files[p]; f == nil || next(f) == nil {
				rest = append(rest, v)
			} else {
				groups[*next(f)] = append(groups[*next(f)], v)
			}
		}
		if len(groups) < 2 {
			continue
		}
		d := &divergence{path: p, nth: nth}
		for _, record := range slices.SortedFunc(maps.Keys(groups), func(a, b digest) int { return bytes.Compare(a[:], b[:]) }) {
			d.branches = append(d.branches, branch{record, groups[record]})
		}
		d.branches[0].copies = append(d.branches[0].copies, rest...)
		return d
	}
	return nil
}

// at returns the nth digest, nil if there is none.
func at(list []digest, n int) *digest {
	if n < 0 || n >= len(list) {
		return nil
	}
	return &list[n]
}

// common returns how many lines at the start of a file all copies have, as far as each goes.
func common(all []*version, p string) int {
	for n := 0; ; n++ {
		var first *digest
		for _, v := range all {
			f := v.files[p]
			if f == nil || n >= len(f.lines) {
				continue
			}
			if first == nil {
				first = &f.lines[n]
			} else if *first != f.lines[n] {
				return n
			}
		}
		if first == nil {
			return n
		}
	}
}

// conflict returns the first key, in their order, of which two copies have different lines.
func conflict(all []*version, p string) (found digest, ok bool) {
	seen := map[digest]digest{}
	for _, v := range all {
		f := v.files[p]
		if f == nil {
			continue
		}
		for i, key := range f.lines {
			was, known := seen[key]
			if seen[key] = f.values[i]; known && was != f.values[i] && (!ok || bytes.Compare(key[:], found[:]) < 0) {
				found, ok = key, true
			}
		}
	}
	return found, ok
}

// best sorts copies that have not diverged: first the one that has most.
func best(m *formats.Merge, all []*version) {
	order := paths(m, all)
	slices.SortFunc(all, func(a, b *version) int {
		for _, p := range order {
			x, y := a.files[p], b.files[p]
			if x == nil || y == nil {
				if x != y {
					return cmp.Compare(present(y), present(x))
				}
				continue
			}
			if c := cmp.Or(cmp.Compare(len(y.lines), len(x.lines)), cmp.Compare(y.updated, x.updated)); c != 0 {
				return c
			}
		}
		x, y := a.sum(), b.sum()
		return bytes.Compare(x[:], y[:])
	})
}

// alike reports whether copies that have not diverged have the same conversation.
func alike(all []*version) bool {
	first, have := map[string]*file{}, map[string]int{}
	for _, v := range all {
		for p, f := range v.files {
			if formats.IsSidecar(path.Base(p)) {
				continue
			}
			if first[p] == nil {
				first[p] = f
			}
			if have[p]++; len(f.lines) != len(first[p].lines) {
				return false
			}
		}
	}
	for _, n := range have {
		if n != len(all) {
			return false
		}
	}
	return true
}

func present(f *file) int {
	if f == nil {
		return 0
	}
	return 1
}

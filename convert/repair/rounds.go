package repair

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"rehome/convert/check"
	"rehome/formats"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// Bounds for one store.
const (
	maxRounds   = 32
	maxFindings = 100_000 // in a round; the next one sees the others
)

// repair repairs one store in the copy, in rounds.
func (j *job) repair(ctx context.Context, path string, f *formats.Format, one *Store) error {
	rules := Repairable(f.Name, f.Family)
	if f.Repair == nil || len(rules) == 0 {
		return nil
	}
	for range maxRounds {
		l, err := formats.Locate(path)
		if err != nil {
			return err
		}
		findings, err := j.find(ctx, l, f, rules)
		if err != nil {
			return err
		}
		acts, moved := 0, map[string][]formats.Origin{}
		r := formats.Repair{Owns: j.owns, Moved: func(path string, from []formats.Origin) { moved[path] = from }, Report: func(a formats.Act) {
			acts++
			one.Count++
			if len(one.Acts) < maxActs {
				a.At = j.before(l, a.At)
				one.Acts = append(one.Acts, a)
			}
		}}
		for len(findings) > 0 {
			n := slices.IndexFunc(findings, func(o rule.Finding) bool { return o.At.File != findings[0].At.File })
			if n < 0 {
				n = len(findings)
			}
			r.Findings, findings = findings[:n], findings[n:]
			if err := f.Repair(ctx, l.File(r.Findings[0].At), &r); err != nil {
				return err
			}
		}
		if acts == 0 {
			return nil
		}
		for path, from := range moved {
			j.moved[path] = append(j.moved[path], from)
		}
	}
	return nil
}

// before returns the address that a place in the copy has in the source: earlier rounds
// may have deleted lines before it, and added some.
func (j *job) before(l *formats.Location, at store.Addr) store.Addr {
	if at.Line > 0 {
		for _, from := range slices.Backward(j.moved[l.File(at)]) {
			at.Line = formats.LineBefore(at.Line, from)
		}
	}
	return at
}

// find returns the findings that can be repaired, sorted by place.
func (j *job) find(ctx context.Context, l *formats.Location, f *formats.Format, rules map[string]bool) (out []rule.Finding, err error) {
	var mu sync.Mutex
	inside := map[string]bool{}
	matches := func([]byte) []rule.Cause { return nil } // what does not match a schema is not repaired
	p := &rule.Pass{Schema: func(string) rule.Validator { return matches }, Layers: rule.Container | rule.Schema | rule.References | rule.Meaning, Report: func(f rule.Finding) {
		if !rules[f.Rule] {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if len(out) == maxFindings {
			return
		}
		if !l.IsDir() && f.At.File == filepath.Base(l.Path) {
			f.At.File = ""
		}
		ok, known := inside[f.At.File]
		if !known { // a link in the store must not lead a repair to the source
			ok = j.owns(l.File(f.At))
			inside[f.At.File] = ok
		}
		if ok {
			f.Detach()
			out = append(out, f)
		}
	}}
	if err := f.Check(ctx, l, formats.View{Jobs: j.o.Jobs}, p); err != nil {
		return nil, err
	}
	slices.SortStableFunc(out, func(a, b rule.Finding) int {
		return cmp.Or(strings.Compare(a.At.File, b.At.File), cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.RowID, b.At.RowID),
			strings.Compare(a.Rule, b.Rule), strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.At.Set, b.At.Set))
	})
	return out, nil
}

// owns reports whether a file lies in the copy, with all that SQLite keeps next to it.
func (j *job) owns(path string) bool {
	root, err := filepath.EvalSymlinks(j.folder.Tree)
	if err != nil {
		return false
	}
	for _, side := range []string{"-wal", "-shm", "-journal"} {
		if info, err := os.Lstat(path + side); err == nil && !info.Mode().IsRegular() {
			return false
		}
	}
	real, err := filepath.EvalSymlinks(path)
	return err == nil && strings.HasPrefix(real, root+string(filepath.Separator))
}

// shownByRepair reports whether findings of a rule can be old, although no check could
// see them before the repair: a check goes no further where a container is damaged.
func shownByRepair(id string, before *check.Report) bool {
	if rule.Lookup(id).Layer == rule.Container {
		return false
	}
	for _, s := range before.Stores {
		if s.Err != nil || slices.ContainsFunc(s.Findings, func(f check.RuleFindings) bool {
			return f.Rule.Layer == rule.Container && f.Rule.Severity > rule.Note
		}) {
			return true
		}
	}
	return false
}

package leaves

import (
	"slices"
	"strings"
	"testing"
)

// lined looks for the leaves of each record on its own line, each under its own member and those of
// one member in their order.
func (k *look) lined(t testing.TB, lines map[string]*pool, order []string) {
	t.Helper()
	n := -1
	var record *Record
	last := map[string]int{} // by member, where the one before stands
	for i := range k.leaves {
		l := &k.leaves[i]
		if l.record != record {
			n, record = n+1, l.record
			clear(last)
		}
		if n >= len(order) {
			break
		}
		l.pools = []*pool{lines[order[n]]}
		o := k.member(l)
		if o == nil {
			continue
		}
		if at, ok := last[o.path]; ok && at > o.index {
			t.Errorf("out of order: %s: %s %s: %.200q", l.record.At, l.record.Kind, l.Path, l.Value)
		}
		last[o.path] = o.index
	}
	if n+1 != len(order) {
		t.Errorf("%d records are %d lines", n+1, len(order))
	}
}

// member finds a leaf under the member that it is of: another name of that, and another form of the
// leaf, are declared.
func (k *look) member(l *wanted) *offer {
	take := func(name, key string, ok func(o *offer) bool) *offer {
		o := find(l.pools, key, func(o *offer) bool { return strings.EqualFold(o.path, name) && ok(o) })
		l.take(o)
		return o
	}
	name := memberOf(plainPath(l.Path))
	if o := take(name, l.key(), func(*offer) bool { return true }); o != nil {
		return o
	}
	for _, d := range l.rules {
		at, renamed := strings.CutPrefix(d.Of, "as:")
		if d.Verb != "derived" || !renamed {
			at = name
		}
		inferred := d.Of == "time" && strings.HasSuffix(l.Path, "~")
		for _, key := range derivedKeys(d.Of, l.Leaf) {
			o := take(at, key, func(o *offer) bool { return d.Of != "time" || inferred == strings.HasPrefix(o.whole, "~") })
			if o != nil {
				k.cover(d)
				return o
			}
		}
	}
	return nil
}

// memberOf returns the path of the member that a leaf of a session is of: the types of parts are
// no members.
func memberOf(path string) string {
	names := strings.Split(strings.TrimSuffix(path, "~"), ".")
	for i := 0; i+1 < len(names) && (names[i] == "Parts" || i == 1 && names[i] == "Content"); i++ {
		names = slices.Delete(names, i+1, i+2)
	}
	return strings.Join(names, ".")
}

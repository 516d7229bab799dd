package leaves

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rehome/formats"
)

// HoldsChanged tests the law on copies of a store: with members that no client writes in each
// object, and with sentences in the places where somebody speaks. Extra data may have these: a
// line that no longer repeats another one is no client's. With -short it takes a third of
// them.
func (w *Law) HoldsChanged(t testing.TB, f *formats.Format, path string) {
	t.Helper()
	w.loose = true
	defer func() { w.loose = false }()
	every := 1
	if testing.Short() {
		every = 3
	}
	for i, of := range []byte{'"', 't', '{', '0'} {
		if i%every == 0 {
			w.unknown(t, f, path, of)
		}
	}
	w.changed(t, f, path, "with another part in each list", w.anotherPart())
	places := 0
	w.Rewrite(t, path, t.TempDir(), w.Kinds, w.sentences(func(int) bool { places++; return false }))
	if places == 0 {
		return
	}
	w.changed(t, f, path, "with a sentence in each place", w.sentences(func(int) bool { return true }))
	for i := range 2 * bits.Len(uint(places-1)) { // of two places, each is changed without the other
		if i%every == 0 {
			w.changed(t, f, path, "with sentences in some places", w.sentences(func(n int) bool { return n>>(i/2)&1 == i%2 }))
		}
	}
}

func (w *Law) changed(t testing.TB, f *formats.Format, path, what string, change func(Doc)) *look {
	t.Helper()
	return w.holds(t, f, w.Rewrite(t, path, t.TempDir(), w.Kinds, change), what+": ")
}

// unknown tests the law on a copy with a member that no client writes in each object, whose value
// is of a kind. The walk must see each, and no declaration may cover it, unless it names a loss or,
// for what is no text, unknown fields: one that does covers more than what it was written for.
func (w *Law) unknown(t testing.TB, f *formats.Format, path string, of byte) {
	t.Helper()
	added := map[string]string{} // kinds and paths, by values
	k := w.changed(t, f, path, "with unknown members", addMembers(of, added))
	covered := map[string]bool{}
	for i := range k.leaves {
		l := &k.leaves[i]
		if _, ok := added[l.Value]; !ok {
			continue
		}
		delete(added, l.Value)
		if l.excused && l.by.Verb != "lost" && !(of != '"' && strings.Contains(l.by.Pattern, strconv.Itoa(unknownField))) {
			covered[digits.ReplaceAllString(l.record.Kind+" "+l.Path, "")+": "+l.by.Verb+" "+l.by.Pattern] = true
		}
	}
	for _, one := range slices.Sorted(maps.Keys(covered)) {
		t.Errorf("an unknown member is covered by a declaration: %s", one)
	}
	for _, value := range slices.Sorted(maps.Keys(added)) {
		t.Errorf("the walk does not see %q, which was added to %s", value, added[value])
	}
}

// addMembers returns a change that adds a member to each object, of a kind of value. added is told
// where, by the values.
func addMembers(of byte, added map[string]string) func(Doc) {
	n := 0
	var add func(at *Node, path string)
	add = func(at *Node, path string) {
		for i, item := range at.Items {
			add(item, at.path(path, i))
		}
		if at.Kind != '{' {
			return
		}
		n++
		name, value := "unknown"+strconv.Itoa(n), &Node{Kind: '"', Value: fmt.Sprintf("Unknown value %d.", n)}
		switch of {
		case '0':
			value = &Node{Kind: '0', Value: strconv.Itoa(1<<40 + n)}
		case 't':
			value = &Node{Kind: 't', Value: "true"}
		case '{':
			value = &Node{Kind: '{', Names: []string{name}, Items: []*Node{value}}
		}
		if of != 't' { // true is anywhere
			added[cmp.Or(value.Value, fmt.Sprintf("Unknown value %d.", n))] = path
		}
		at.Names, at.Items = append(at.Names, name), append(at.Items, value)
	}
	return func(d Doc) { add(d.Root, d.Kind+" "+d.Path) }
}

// sentences returns a change that puts a sentence into the places where somebody speaks, by their
// numbers.
func (w *Law) sentences(here func(n int) bool) func(Doc) {
	n := 0
	visit := w.spoken(func(at *Node) {
		if n++; here(n - 1) {
			at.Value = fmt.Sprintf("Planted sentence %d of many.", n)
		}
	})
	return func(d Doc) { visit(d.Root, d.Kind, d.Path) }
}

// anotherPart returns a change that adds an element to each list of what somebody says: a copy of
// the first one with a sentence of its own.
func (w *Law) anotherPart() func(Doc) {
	n := 0
	visit := w.spoken(func(at *Node) {
		n++
		at.Value = fmt.Sprintf("Another sentence %d of many.", n)
	})
	var add func(at *Node, kind, path string)
	add = func(at *Node, kind, path string) {
		for i, item := range at.Items {
			add(item, kind, at.path(path, i))
		}
		if at.Kind != '[' || len(at.Items) == 0 || at.Items[0].Kind != '{' {
			return
		}
		more, err := Parse(at.Items[0].Append(nil))
		before := n
		if err == nil {
			visit(more, kind, at.path(path, 0))
		}
		if n > before {
			at.Items = append(at.Items, more)
		}
	}
	return func(d Doc) { add(d.Root, d.Kind, d.Path) }
}

// spoken returns a function that visits the texts in a value that somebody says, but for those that
// are bytes.
func (w *Law) spoken(visit func(at *Node)) (in func(at *Node, kind, path string)) {
	k := &look{law: w, rules: map[string][]*Declaration{}}
	return func(at *Node, kind, path string) {
		var enter func(at *Node, path string)
		enter = func(at *Node, path string) {
			for i, item := range at.Items {
				enter(item, at.path(path, i))
			}
			if at.Kind != '"' || at.Value == "" {
				return
			}
			said := false
			for _, d := range k.rulesOf(kind, path) {
				if said = said || d.Verb == "said"; d.Of == "base64" || d.Of == "dataurl" {
					return
				}
			}
			if said {
				visit(at)
			}
		}
		enter(at, path)
	}
}

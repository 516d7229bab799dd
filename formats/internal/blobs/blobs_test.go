package blobs

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func parsed(t *testing.T, text string) (id [32]byte, exact bool) {
	t.Helper()
	id, exact, ok := ParseID([]byte(text))
	if !ok {
		t.Fatal(text)
	}
	return id, exact
}

func TestParseID(t *testing.T) {
	lower := strings.Repeat("0a", 32)
	for text, want := range map[string][2]bool{
		lower: {true, true}, strings.ToUpper(lower): {false, true}, lower[:63] + "A": {false, true},
		"": {}, lower[1:]: {}, lower + "0": {}, lower[:63] + "g": {}, lower[:63] + " ": {},
	} {
		id, exact, ok := ParseID([]byte(text))
		if exact != want[0] || ok != want[1] || ok != (id == [32]byte(bytes.Repeat([]byte{10}, 32))) || !ok && id != [32]byte{} {
			t.Errorf("%q: %x %v %v", text, id, exact, ok)
		}
	}
}

// TestIndex: every blob is found, whatever ids strangers chose, with one look at
// a place each.
func TestIndex(t *testing.T) {
	const n = 5000
	x := New(cmp.Compare[int])
	for i := range n {
		id, exact := parsed(t, fmt.Sprintf("%064x", i))
		x.Add(id, exact, i)
	}
	looks := 0
	for i := range n {
		id, _ := parsed(t, fmt.Sprintf("%064x", i))
		if place, ok := x.Find(id, func(p int) bool { looks++; return p == i }); !ok || place != i {
			t.Fatal(i, place, ok)
		}
	}
	if looks > n+1 {
		t.Errorf("%d looks at %d places", looks, n)
	}
	if _, ok := x.Find([32]byte{1}, nil); ok || x.Len() != n {
		t.Error("it finds what is not there", x.Len())
	}
	if places := slices.Sorted(x.Places()); len(places) != n || places[n-1] != n-1 {
		t.Error(len(places))
	}
	for range x.Places() {
		break
	}
}

// TestPreference: an exact id counts before others, then the first place.
func TestPreference(t *testing.T) {
	name := strings.Repeat("ab", 32)
	x := New(cmp.Compare[int])
	for i := range 500 {
		id, exact := parsed(t, strings.ToUpper(name[:i%60+1])+name[i%60+1:])
		x.Add(id, exact, 500-i)
	}
	id, exact := parsed(t, name)
	if place, _ := x.Find(id, nil); place != 1 {
		t.Error(place)
	}
	x.Add(id, exact, 700)
	x.Add(id, exact, 600)
	if place, _ := x.Find(id, nil); place != 600 {
		t.Error(place)
	}
}

// TestAllocations: to read an id and to look a blob up takes no memory.
func TestAllocations(t *testing.T) {
	text, name := []byte(strings.Repeat("ab", 32)), strings.Repeat("ab", 32)
	if n := testing.AllocsPerRun(100, func() { ParseID(text); ParseID(name) }); n > 0 {
		t.Error(n)
	}
	x := New(cmp.Compare[int])
	id, exact := parsed(t, strings.Repeat("ab", 32))
	x.Add(id, exact, 7)
	wanted := 7
	if n := testing.AllocsPerRun(100, func() { x.Find(id, func(p int) bool { return p == wanted }) }); n > 0 {
		t.Error(n)
	}
}

func BenchmarkIndex(b *testing.B) {
	for b.Loop() {
		x := New(cmp.Compare[int64])
		var id [32]byte
		for i := range 100_000 {
			id[0], id[1], id[2] = byte(i), byte(i>>8), byte(i>>16)
			x.Add(id, true, int64(i))
		}
		x.Find(id, nil)
	}
}

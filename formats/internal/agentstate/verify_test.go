package agentstate

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// verifyShelf is blobs for a Graph, and counts how often each is read.
type verifyShelf struct {
	index Index
	data  [][]byte
	reads []int
}

func (s *verifyShelf) add(b []byte) ID {
	id := ID(sha256.Sum256(b))
	s.put(id, b)
	return id
}

func (s *verifyShelf) put(id ID, b []byte) {
	s.index.Add(id, uint64(len(s.data)), b)
	s.data, s.reads = append(s.data, b), append(s.reads, 0)
}

func (s *verifyShelf) walk(t *testing.T, root ID) (faults []string) {
	t.Helper()
	g := &Graph{Index: &s.index, Drift: true, Read: func(_ context.Context, place uint64) ([]byte, error) {
		s.reads[place]++
		return s.data[place], nil
	}, Found: func(f Fault) { faults = append(faults, fmt.Sprintf("%d %s", f.Kind, f.Path)) }}
	if there, err := g.Walk(t.Context(), root); err != nil || !there {
		t.Fatal(there, err)
	}
	slices.Sort(faults)
	return faults
}

func refField(num byte, ids ...ID) (b []byte) {
	for _, id := range ids {
		b = append(append(b, num<<3|2, 32), id[:]...)
	}
	return b
}

func nested(num byte, b []byte) []byte { return append([]byte{num<<3 | 2, byte(len(b))}, b...) }

func TestGraphNamesThePath(t *testing.T) {
	var s verifyShelf
	gone := ID(sha256.Sum256([]byte("gone")))
	user := s.add([]byte{10, 2, 'h', 'i'})
	step := s.add(nested(2, nested(8, nested(2, nested(1, append([]byte{10<<3 | 2, 32}, gone[:]...)))))) // a call to read
	turn := s.add(nested(1, append(refField(1, user), refField(2, step, gone)...)))
	prompt := s.add([]byte(`{"role":"user","content":"hi"}`))
	odd := s.add([]byte{0xff})
	root := append(refField(1, prompt, gone), refField(8, turn, odd)...)
	root = append(root, nested(8, []byte("abc"))...)
	root = append(root, 0xb8, 0x3e, 1) // a field of a later version
	want := []string{
		"0 /rootPromptMessagesJson/1",
		"0 /turns/0/agentConversationTurn/steps/0/toolCall/readToolCall/result/success/contentBlobId",
		"0 /turns/0/agentConversationTurn/steps/1",
		"1 /turns/1", "2 /turns/2", "4 ",
	}
	if got := s.walk(t, s.add(root)); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if s.index.Reached() != s.index.Len() {
		t.Errorf("%d of %d were reached", s.index.Reached(), s.index.Len())
	}
}

// Names that are false can make a circle, and references that multiply.
func TestGraphIsLinear(t *testing.T) {
	var s verifyShelf
	name := func(i int) (id ID) {
		id[0], id[1], id[31] = byte(i), byte(i>>8), 1
		return id
	}
	const links = 300
	for i := range links { // each link leads to all, itself included
		var all []ID
		for k := range links {
			all = append(all, name(k))
		}
		s.put(name(i), refField(1, all...))
	}
	root := s.add(refField(1, name(0)))
	s.walk(t, root)
	for i, n := range s.reads {
		if n > 1 {
			t.Fatalf("blob %d was read %d times", i, n)
		}
	}
}

func TestGraphKeepsMapsApart(t *testing.T) {
	var s verifyShelf
	gone := ID(sha256.Sum256([]byte("gone")))
	entry := append(nested(1, []byte("/a/~b")), nested(2, refField(1, gone))...)
	root := s.add(nested(15, entry))
	if got := s.walk(t, root); !slices.Equal(got, []string{"0 /fileStatesV2/~1a~1~0b/content"}) {
		t.Errorf("%q", got)
	}
}

func TestGraphReadsLinksOf2025(t *testing.T) {
	var s verifyShelf
	a, b := s.add([]byte(`{"role":"user"}`)), s.add([]byte(`{"role":"tool"}`))
	link := s.add(append(refField(1, a), `{"role":"assistant"}`...))
	bad := s.add(append(refField(1, b), `{"role"`...))
	root := s.add(append(refField(1, link, bad), `{"note":1}`...))
	if got := s.walk(t, root); !slices.Equal(got, []string{"3 /rootPromptMessagesJson/1"}) {
		t.Errorf("%q", got)
	}
	if s.index.Reached() != s.index.Len() {
		t.Errorf("%d of %d were reached", s.index.Reached(), s.index.Len())
	}
}

// FuzzGraph: whatever a root holds, the walk ends and does not panic.
func FuzzGraph(f *testing.F) {
	f.Add([]byte{10, 32}, []byte{1})
	f.Add(refField(8, ID{1}), nested(1, refField(2, ID{1})))
	f.Fuzz(func(t *testing.T, root, other []byte) {
		var s verifyShelf
		s.put(ID{1}, other)
		id := ID(sha256.Sum256(root))
		s.put(id, root)
		for _, fault := range s.walk(t, id) {
			if strings.Contains(fault, "\n") {
				t.Errorf("%q", fault)
			}
		}
	})
}

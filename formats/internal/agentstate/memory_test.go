package agentstate

import (
	"context"
	"runtime"
	"testing"
)

// shelf gives blobs away without counting who asks.
type shelf map[ID][]byte

func (s shelf) Blob(_ context.Context, id ID) ([]byte, error) { return s[id], nil }

// TestMemoryPerMessage bounds what is held of a long conversation: its outline,
// and the account of its blobs.
func TestMemoryPerMessage(t *testing.T) {
	const turns, most = 2000, 280
	g, root := longChat(turns)
	before := live()
	s, err := Read(t.Context(), Options{Blobs: shelf(g.blobs), Root: root})
	if err != nil {
		t.Fatal(err)
	}
	outlined := live()
	messages := 0
	for _, err := range s.Messages(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		messages++
	}
	walked := live()
	if messages != turns*13 || s.Reached() != int64(len(g.blobs)) {
		t.Errorf("%d messages, %d of %d blobs", messages, s.Reached(), len(g.blobs))
	}
	for what, n := range map[string]int64{"outlined": outlined - before, "walked": walked - before} {
		if t.Logf("%s: %d bytes a message", what, n/int64(messages)); n > most*int64(messages) {
			t.Errorf("%s: %d bytes a message, %d are promised", what, n/int64(messages), most)
		}
	}
	runtime.KeepAlive(g)
}

// live is what the collector leaves.
func live() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestFates: the account keeps what it was told of each blob.
func TestFates(t *testing.T) {
	var f fates
	id := func(n int) ID { return ID{byte(n), byte(n >> 8), 31: byte(n >> 16)} }
	const many = 70_000
	for n := range many {
		s := f.at(id(n))
		if *s&^slotHash != 0 {
			t.Fatalf("%d was there already", n)
		}
		s.become(fate(n % (int(claimed) + 1)))
		for range n % (usualReads + 1) {
			s.read()
		}
	}
	for n := range many {
		if s := f.find(id(n)); s == nil || s.fate() != fate(n%(int(claimed)+1)) || s.reads() != n%(usualReads+1) {
			t.Fatalf("%d: %v", n, s)
		}
	}
	if f.find(id(many)) != nil || f.used != many || len(f.slots)*8 > 24*many {
		t.Errorf("%d used of %d", f.used, len(f.slots))
	}
	f.at(id(0)).become(claimed)
	f.at(id(0)).become(missing)
	if got := f.find(id(0)).fate(); got != missing {
		t.Error(got)
	}
}

func TestNames(t *testing.T) {
	var n names
	long := make([]byte, 300)
	a, b := n.add([]byte("a"), 1), n.add(long, 2)
	if again := n.add([]byte("a"), 1); again != a || a == 0 || string(n.get(a)) != "a" || string(n.get(b)) != string(long) {
		t.Error(a, b, again)
	}
	if other := n.add([]byte("b"), 1); other == a || string(n.get(other)) != "b" {
		t.Error("two names of one hash are one")
	}
	if n.add(nil, 3) != 0 || n.get(0) != nil {
		t.Error("nothing has a name")
	}
}

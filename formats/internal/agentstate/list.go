package agentstate

import (
	"bytes"
	"math/bits"
	"slices"
)

// blobList lists the blobs of a store.
type blobList struct {
	order  []ID // as they were created
	left   []ID // those that a state does not need, as they were created
	sorted []ID
	starts []int32 // where in sorted the ids of each beginning are, see index
	shift  int
	lead   []byte // see follow
}

// index makes the list ready for has. As ids are digests, about one of them has the same
// first bits.
func (l *blobList) index() {
	l.sorted = slices.Clone(l.order)
	slices.SortFunc(l.sorted, compareIDs)
	l.shift = 32 - min(bits.Len(uint(len(l.sorted))), 24)
	l.starts = make([]int32, 1<<(32-l.shift)+1)
	at := 0
	for i := range l.starts {
		for at < len(l.sorted) && l.bucket(l.sorted[at]) < i {
			at++
		}
		l.starts[i] = int32(at)
	}
}

func (l *blobList) bucket(id ID) int {
	return int((uint64(id[0])<<24 | uint64(id[1])<<16 | uint64(id[2])<<8 | uint64(id[3])) >> l.shift)
}

// has reports whether a blob of that id is in the store.
func (l *blobList) has(id ID) bool {
	n := l.bucket(id)
	_, found := slices.BinarySearchFunc(l.sorted[l.starts[n]:l.starts[n+1]], id, compareIDs)
	return found
}

func compareIDs(a, b ID) int { return bytes.Compare(a[:], b[:]) }

// follow remembers the prompt messages that a root begins with. Most other roots begin with
// the same, which need not be looked at again.
func (l *blobList) follow(root []byte) {
	n := 0
	for ; n+promptSize <= len(root) && bytes.HasPrefix(root[n:], promptTag) && l.has(ID(root[n+len(promptTag):n+promptSize])); n += promptSize {
	}
	l.lead = slices.Clone(root[:n])
}

// rest returns what a root says after what it has in common with the one that was followed.
func (l *blobList) rest(root []byte) []byte {
	n := 0
	for n+promptSize <= min(len(root), len(l.lead)) && bytes.Equal(root[n:n+promptSize], l.lead[n:n+promptSize]) {
		n += promptSize
	}
	return root[n:]
}

// promptTag begins a reference of a root to a prompt message: field 1, and the size of an id.
var promptTag = []byte{1<<3 | 2, 32}

const promptSize = 2 + 32

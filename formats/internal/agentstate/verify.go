package agentstate

import (
	"context"
	"slices"
	"strconv"

	"rehome/formats/internal/wire"
)

// FaultKind is what can be wrong with a graph of blobs.
type FaultKind uint8

// The kinds.
const (
	Missing   FaultKind = iota // a blob that is referred to is not there
	Malformed                  // a blob that should be protobuf is not
	NoID                       // a reference that is no blob's name
	NoMessage                  // a prompt message that is no JSON object
	Unknown                    // a field that is not known: the client has changed
)

// Fault is one of them.
type Fault struct {
	Kind FaultKind
	// By is the blob in which it is found; HasBy is false where that is no blob
	// but what the walk began with.
	By    ID
	HasBy bool
	// Pointer is the place in it, and Path that place as it is come to from the
	// root: /turns/3/steps/1.
	Pointer, Path string
	ID            ID     // what is referred to
	As            Kind   // and as what
	Says          string // what is wrong: a format for Args
	Args          []any
}

// Graph walks the graphs of blobs of one store. However often something is
// referred to, it is walked once.
type Graph struct {
	Index *Index
	// Read gives a blob's bytes until the next call; nil where they are too many
	// to be held.
	Read  func(ctx context.Context, place uint64) ([]byte, error)
	Found func(Fault)
	// Prompt is given each prompt message, once for each state that refers to
	// it: its id, its bytes as JSON, and the path; nil: they are not read. The
	// bytes are valid until it returns.
	Prompt func(id ID, doc []byte, path string)
	// Drift asks for Unknown.
	Drift bool

	path  []byte // to the blob at hand, and in follow to what it refers to
	inner []byte // in the blob at hand
	refs  []refAt
	text  []byte // the paths of refs
	by    ID
	hasBy bool
	false bool // the blob at hand is not what its name says
	from  int  // of the path: where the blob at hand begins
}

// refAt is a reference in a blob at hand: 48 bytes, as a conversation can have
// hundreds of thousands.
type refAt struct {
	id       ID
	from, to int32 // of Graph.text: the path in that blob
	n        int32 // behind that, in a list; -1
	kind     Kind
}

// mostLinks is how deep blobs refer to one another. A client's own stay below
// ten; a cycle takes false names.
const mostLinks = 64

// Walk walks a state by the name of its root. It reports whether that is there.
func (g *Graph) Walk(ctx context.Context, root ID) (there bool, err error) {
	if g.Index.find(root) == nil {
		return false, nil
	}
	g.path, g.refs, g.text, g.hasBy, g.from = g.path[:0], g.refs[:0], g.text[:0], false, 0
	return true, g.blob(ctx, root, KindRoot, 0)
}

// WalkBytes walks a state whose root is no blob.
func (g *Graph) WalkBytes(ctx context.Context, root []byte) error {
	g.path, g.refs, g.text, g.hasBy, g.from = g.path[:0], g.refs[:0], g.text[:0], false, 0
	g.message(KindRoot, root)
	return g.follow(ctx, 0, 0)
}

// blob walks a blob that is referred to as something.
func (g *Graph) blob(ctx context.Context, id ID, as Kind, depth int) error {
	m := g.Index.find(id)
	if m == nil {
		g.missing(id, as)
		return nil
	}
	bit := uint16(1) << as
	again := m.seen&bit != 0
	m.seen |= bit
	if again || depth > mostLinks || as == KindBytes || as == KindPrompt && m.first == '{' && g.Prompt == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	b, err := g.Read(ctx, m.place)
	if b == nil || err != nil { // longer than any message: it is content, whatever refers to it
		return err
	}
	by, hasBy, bad, from, begin, text := g.by, g.hasBy, g.false, g.from, len(g.refs), len(g.text)
	g.by, g.hasBy, g.false, g.from = id, true, m.false, len(g.path)
	if g.inner = g.inner[:0]; as == KindPrompt {
		g.prompt(id, b)
	} else {
		g.message(as, b)
	}
	err = g.follow(ctx, begin, depth)
	g.by, g.hasBy, g.false, g.from, g.refs, g.text = by, hasBy, bad, from, g.refs[:begin], g.text[:text]
	return err
}

// follow walks what the blob at hand refers to.
func (g *Graph) follow(ctx context.Context, begin, depth int) error {
	for i := begin; i < len(g.refs); i++ {
		r := g.refs[i]
		mark := len(g.path)
		g.path = append(g.path, g.text[r.from:r.to]...)
		if r.n >= 0 {
			g.path = strconv.AppendInt(append(g.path, '/'), int64(r.n), 10)
		}
		err := g.blob(ctx, r.id, r.kind, depth+1)
		g.path = g.path[:mark]
		if err != nil {
			return err
		}
	}
	return nil
}

// message walks a message of protobuf and collects what it refers to.
func (g *Graph) message(as Kind, b []byte) {
	m := messageOf(as)
	if m == nil {
		return
	}
	if as == KindRoot {
		if rest := wire.Tail(b); jsonTail(rest) != nil {
			b = b[:len(b)-len(rest)]
		}
	}
	g.inner = g.inner[:0]
	if as == KindRoot {
		g.refs = slices.Grow(g.refs, len(b)/(2+len(ID{})))
	}
	g.fields(m, b, 0)
}

// fields walks the fields of a message; g.inner is the path to it in its blob.
func (g *Graph) fields(m *wire.Message, b []byte, depth int) {
	var counts [48]int32 // of repeated fields, by number
	r := wire.Read(b)
	for r.Next() {
		f := m.Field(r.Num)
		if f == nil {
			if g.Drift {
				g.tell(Fault{Kind: Unknown, Says: "unknown field %d of %s", Args: []any{r.Num, m.Name}})
			}
			continue
		}
		mark, n := len(g.inner), int32(-1)
		g.inner = append(append(g.inner, '/'), f.Name...)
		if f.Repeated && f.Num < len(counts) {
			n = counts[f.Num]
			counts[f.Num]++
		}
		if n >= 0 && f.Kind != wire.Ref || !f.Fits(&r) {
			g.count(n)
		}
		switch {
		case !f.Fits(&r):
			g.tell(Fault{Kind: Malformed, Says: "wrong type for a field of %s", Args: []any{m.Name}})
		case f.Key != 0:
			g.entry(f, r.Body, depth)
		default:
			g.value(f, r.Body, n, depth)
		}
		g.inner = g.inner[:mark]
	}
	if len(r.Rest()) > 0 {
		g.tell(Fault{Kind: Malformed, Says: "%d of %d bytes cannot be decoded as %s", Args: []any{len(r.Rest()), len(b), m.Name}})
	}
}

// count appends a place in a list to the path in the blob at hand.
func (g *Graph) count(n int32) {
	if n >= 0 {
		g.inner = strconv.AppendInt(append(g.inner, '/'), int64(n), 10)
	}
}

// refer notes that the blob at hand refers to another. What a list refers to
// shares one path.
func (g *Graph) refer(id ID, as Kind, n int32) {
	r := refAt{id: id, kind: as, n: n}
	if k := len(g.refs) - 1; k >= 0 && string(g.text[g.refs[k].from:g.refs[k].to]) == string(g.inner) {
		r.from, r.to = g.refs[k].from, g.refs[k].to
	} else {
		r.from = int32(len(g.text))
		g.text = append(g.text, g.inner...)
		r.to = int32(len(g.text))
	}
	g.refs = append(g.refs, r)
}

// value walks what a field or an entry of a map holds; n is its place in a
// list, which the path says already where it is a message.
func (g *Graph) value(f *wire.Field, b []byte, n int32, depth int) {
	switch {
	case f.Kind == wire.Nested && depth < wire.MaxDepth:
		g.fields(f.Message, b, depth+1)
	case f.Kind == wire.Ref && len(b) > 0: // else it is there and says nothing
		id, ok := wire.AsID(b)
		if !ok {
			g.count(n)
			g.tell(Fault{Kind: NoID, Says: "%d bytes", Args: []any{len(b)}})
			return
		}
		g.refer(id, kindOf(f), n)
	}
}

// entry walks an entry of a map.
func (g *Graph) entry(f *wire.Field, b []byte, depth int) {
	if f.Kind != wire.Ref && f.Kind != wire.Nested {
		return
	}
	key, value, ok := wire.MapEntry(b)
	g.inner = appendKey(append(g.inner, '/'), key)
	if !ok {
		g.tell(Fault{Kind: Malformed, Says: "invalid map entry"})
		return
	}
	g.value(f, value, -1, depth)
}

// appendKey spells a map's key in a pointer. Keys are paths and ids; of a long
// one the beginning is told.
func appendKey(out, key []byte) []byte {
	const most = 80
	for i, c := range key {
		switch {
		case i == most:
			return append(out, "..."...)
		case c == '~':
			out = append(out, "~0"...)
		case c == '/':
			out = append(out, "~1"...)
		case c < ' ' || c >= 0x7f:
			out = append(out, '?')
		default:
			out = append(out, c)
		}
	}
	return out
}

// tell tells of a fault at a place in the blob at hand.
func (g *Graph) tell(f Fault) {
	if g.false && f.Kind != Unknown {
		return
	}
	f.By, f.HasBy, f.Pointer = g.by, g.hasBy, string(g.inner)
	f.Path = string(g.path) + f.Pointer
	g.Found(f)
}

// missing tells of a blob that the one at hand refers to: the path leads there.
func (g *Graph) missing(id ID, as Kind) {
	if g.false {
		return
	}
	g.Found(Fault{Kind: Missing, By: g.by, HasBy: g.hasBy, Pointer: string(g.path[g.from:]), Path: string(g.path), ID: id, As: as})
}

package agentstate

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"rehome/formats/internal/wire"
)

// FaultKind is what can be wrong with a graph of blobs.
type FaultKind uint8

// The kinds.
const (
	Missing   FaultKind = iota // a blob that is referred to does not exist
	Malformed                  // a blob that should be protobuf is not
	NoID                       // a reference that is not an id
	NoMessage                  // a prompt message that is not a JSON object
	Unknown                    // an unknown field: the client has changed
)

// Fault is one fault and its place.
type Fault struct {
	Kind FaultKind
	// By is the blob with the fault; HasBy is false if it is not in a blob but in
	// what the walk began with.
	By    ID
	HasBy bool
	// Pointer is the place in that blob, and Path the same place as reached from the
	// root: /turns/3/steps/1.
	Pointer, Path string
	ID            ID     // that is referred to
	As            Kind   // the kind that the reference implies
	Says          string // a format for Args
	Args          []any
}

// Graph walks the graphs of blobs in one store. It walks each blob once, however many
// refer to it.
type Graph struct {
	Index *Index
	// Read returns the bytes of a blob, valid until the next call; nil if they are
	// too large to hold.
	Read  func(ctx context.Context, place uint64) ([]byte, error)
	Found func(Fault)
	// Prompt is called with each prompt message, once for each state that refers to
	// it: its id, its JSON, and the path. If nil, prompt messages are not read. The
	// bytes are valid until it returns.
	Prompt func(id ID, doc []byte, path string)
	// Stray, if set, is called with each unknown field.
	Stray func(r *wire.Reader)
	// Drift enables faults of the kind Unknown.
	Drift bool
	// Unread counts the prompt messages that are too large to hold.
	Unread int

	path     []byte // to the current blob, and in follow to what it refers to
	inner    []byte // in the current blob
	refs     []refAt
	text     []byte // the paths of refs
	by       ID
	hasBy    bool
	mismatch bool // the current blob does not match its id
	from     int  // where in path the current blob begins
}

// Sound verifies a state that was just written. It returns the first fault in words, ""
// if there is none. It sets Found.
func (g *Graph) Sound(ctx context.Context, root ID) (fault string, err error) {
	g.Found = func(f Fault) {
		if fault == "" {
			fault = f.Path + ": " + fmt.Sprintf(f.Says, f.Args...)
		}
	}
	there, err := g.Walk(ctx, root)
	if err == nil && !there {
		fault = "no root"
	}
	return fault, err
}

// refAt is a reference in the current blob. It takes 48 bytes, as a conversation can have
// hundreds of thousands.
type refAt struct {
	id       ID
	from, to int32 // in Graph.text: the path in that blob
	n        int32 // the index after that path; -1
	kind     Kind
}

// maxGraphDepth is how long a chain of references may be. Those of a client stay below
// ten; a cycle takes blobs whose ids are false.
const maxGraphDepth = 64

// Walk walks a state by the id of its root. It reports whether the store has that blob.
func (g *Graph) Walk(ctx context.Context, root ID) (there bool, err error) {
	if g.Index.find(root) == nil {
		return false, nil
	}
	g.path, g.refs, g.text, g.hasBy, g.from = g.path[:0], g.refs[:0], g.text[:0], false, 0
	return true, g.blob(ctx, root, KindRoot, 0)
}

// WalkBytes walks a state whose root is not a blob.
func (g *Graph) WalkBytes(ctx context.Context, root []byte) error {
	g.path, g.refs, g.text, g.hasBy, g.from = g.path[:0], g.refs[:0], g.text[:0], false, 0
	g.message(KindRoot, root)
	return g.follow(ctx, 0, 0)
}

// blob walks a blob as the kind that a reference says it is.
func (g *Graph) blob(ctx context.Context, id ID, as Kind, depth int) error {
	m := g.Index.find(id)
	if m == nil {
		g.missing(id, as)
		return nil
	}
	bit := uint16(1) << as
	again := m.seen&bit != 0
	m.seen |= bit
	if again || depth > maxGraphDepth || as == KindBytes || as == KindPrompt && m.first == '{' && g.Prompt == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	b, err := g.Read(ctx, m.place)
	if b == nil || err != nil { // larger than any message of protobuf: it must be content
		if as == KindPrompt && err == nil {
			g.Unread++
		}
		return err
	}
	by, hasBy, bad, from, begin, text := g.by, g.hasBy, g.mismatch, g.from, len(g.refs), len(g.text)
	g.by, g.hasBy, g.mismatch, g.from = id, true, m.mismatch, len(g.path)
	if g.inner = g.inner[:0]; as == KindPrompt {
		g.prompt(id, b)
	} else {
		g.message(as, b)
	}
	err = g.follow(ctx, begin, depth)
	g.by, g.hasBy, g.mismatch, g.from, g.refs, g.text = by, hasBy, bad, from, g.refs[:begin], g.text[:text]
	return err
}

// follow walks what the current blob refers to.
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
			if g.Stray != nil {
				g.Stray(&r)
			}
			if g.Drift {
				g.report(Fault{Kind: Unknown, Says: "unknown field %d of %s", Args: []any{r.Num, m.Name}})
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
			g.report(Fault{Kind: Malformed, Says: "wrong type for a field of %s", Args: []any{m.Name}})
		case f.Key != 0:
			g.entry(f, r.Body, depth)
		default:
			g.value(f, r.Body, n, depth)
		}
		g.inner = g.inner[:mark]
	}
	if len(r.Rest()) > 0 {
		g.report(Fault{Kind: Malformed, Says: "%d of %d bytes cannot be decoded as %s", Args: []any{len(r.Rest()), len(b), m.Name}})
	}
}

// count appends an index to the path in the current blob.
func (g *Graph) count(n int32) {
	if n >= 0 {
		g.inner = strconv.AppendInt(append(g.inner, '/'), int64(n), 10)
	}
}

// refer records a reference in the current blob. All references in a list share one path.
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

// value walks the value of a field or of a map entry; n is its index in a list. For a
// message the path includes it already.
func (g *Graph) value(f *wire.Field, b []byte, n int32, depth int) {
	switch {
	case f.Kind == wire.Nested && depth < wire.MaxDepth:
		g.fields(f.Message, b, depth+1)
	case f.Kind == wire.Ref && len(b) > 0: // an empty ref means none
		id, ok := wire.AsID(b)
		if !ok {
			g.count(n)
			g.report(Fault{Kind: NoID, Says: "%d bytes", Args: []any{len(b)}})
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
		g.report(Fault{Kind: Malformed, Says: "invalid map entry"})
		return
	}
	g.value(f, value, -1, depth)
}

// appendKey appends the key of a map to a pointer. Keys are paths and ids; long ones are
// cut.
func appendKey(out, key []byte) []byte {
	const maxKey = 80
	for i, c := range key {
		switch {
		case i == maxKey:
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

// report reports a fault at the current place in the current blob.
func (g *Graph) report(f Fault) {
	if g.mismatch && f.Kind != Unknown {
		return
	}
	f.By, f.HasBy, f.Pointer = g.by, g.hasBy, string(g.inner)
	f.Path = string(g.path) + f.Pointer
	g.Found(f)
}

// missing reports a blob that the current one refers to and that does not exist. The path
// leads to it.
func (g *Graph) missing(id ID, as Kind) {
	if g.mismatch {
		return
	}
	g.Found(Fault{Kind: Missing, By: g.by, HasBy: g.hasBy, Pointer: string(g.path[g.from:]), Path: string(g.path), ID: id, As: as})
}

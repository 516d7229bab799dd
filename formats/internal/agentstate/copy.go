package agentstate

import (
	"context"
	"crypto/sha256"
	"errors"

	"rehome/formats/internal/wire"
)

// copied is what a state consists of: its blobs, each before the one that refers to it.
type copied struct {
	order []ID
	seen  map[reached]bool // false if it was only reached as another kind
	walk  Graph
	whole bool
}

// reached is a blob and what a reference says it is.
type reached struct {
	id ID
	as Kind
}

// copy is the Copy of a session's Graph. Wholeness is found out once, before anything is
// stored.
func (s *State) copy(ctx context.Context, put func(ctx context.Context, id [32]byte, data []byte) error) (root [32]byte, whole bool, err error) {
	if s.outer != nil {
		_, whole, err := s.outer.copy(ctx, nil)
		return root, whole, err
	}
	if s.copied == nil {
		s.copied = &copied{seen: map[reached]bool{}}
		err := s.collect(ctx, s.root.id, KindRoot, 0)
		s.copied.whole = err == nil && s.root.named && s.broken == ""
		if s.copied.seen = nil; err != nil && !errors.Is(err, errIncomplete) {
			return root, false, err
		}
	}
	if !s.copied.whole || put == nil {
		return s.root.id, s.copied.whole, nil
	}
	for _, id := range s.copied.order {
		b, err := s.ledger.blobs.Blob(ctx, id)
		if err == nil && b == nil {
			err = errIncomplete
		}
		if err == nil {
			err = put(ctx, id, b)
		}
		if err != nil {
			return root, false, err
		}
	}
	return s.root.id, true, nil
}

var errIncomplete = errors.New("the state is incomplete")

// collect lists a blob after all that it refers to. References of fields that the table
// does not have count if there is such a blob.
func (s *State) collect(ctx context.Context, id ID, as Kind, depth int) error {
	c := s.copied
	if c.seen[reached{id, as}] {
		return nil
	}
	c.seen[reached{id, as}] = true
	if err := ctx.Err(); err != nil {
		return err
	}
	b, err := s.ledger.blobs.Blob(ctx, id)
	if err != nil {
		return err
	}
	if b == nil || depth > maxGraphDepth || sha256.Sum256(b) != id {
		return errIncomplete
	}
	for _, r := range c.refsOf(b, as) {
		if r.as == kindUnsure {
			if b, err := s.ledger.blobs.Blob(ctx, r.id); b == nil || err != nil {
				if err != nil {
					return err
				}
				continue
			}
			r.as = KindBytes
		}
		if err := s.collect(ctx, r.id, r.as, depth+1); err != nil {
			return err
		}
	}
	if anyKind := (reached{id, kindUnsure}); !c.seen[anyKind] {
		c.seen[anyKind] = true
		c.order = append(c.order, id)
	}
	return nil
}

// kindUnsure is the kind of what may be no reference.
const kindUnsure = KindBytes + 1

// refsOf returns what a blob refers to.
func (c *copied) refsOf(b []byte, as Kind) (out []reached) {
	switch {
	case as == KindBytes, as == KindPrompt && len(b) > 0 && b[0] == '{':
		return nil
	case as == KindPrompt:
		refs, _ := links(b)
		for _, id := range refs {
			out = append(out, reached{id, KindPrompt})
		}
		return out
	}
	g := &c.walk
	g.Found = func(Fault) {}
	g.Stray = func(r *wire.Reader) {
		if id, ok := wire.AsID(r.Body); ok && r.Type == wire.Bytes {
			out = append(out, reached{id, kindUnsure})
		}
	}
	g.refs, g.text, g.inner = g.refs[:0], g.text[:0], g.inner[:0]
	g.message(as, b)
	for _, r := range g.refs {
		out = append(out, reached{r.id, r.kind})
	}
	return out
}

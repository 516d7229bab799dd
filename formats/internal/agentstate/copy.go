package agentstate

import (
	"context"
	"crypto/sha256"
	"errors"

	"rehome/formats/internal/wire"
)

// Copier copies what a root leads to.
type Copier struct {
	blobs  Blobs
	root   ID
	sought bool
	whole  bool
	order  []ID             // each blob before the one that refers to it
	seen   map[reached]bool // false if it was only reached as another kind
	walk   Graph
}

// reached is a blob and what a reference says it is.
type reached struct {
	id ID
	as Kind
}

// NewCopier returns a Copier of the state with a root.
func NewCopier(blobs Blobs, root ID) *Copier { return &Copier{blobs: blobs, root: root} }

// Root returns the id of the root.
func (c *Copier) Root() ID { return c.root }

// Copy stores the blobs of the state, each before the one that refers to it. If some are
// missing or damaged, which is found out once, it stores none and returns false. Without
// put, it stores none either.
func (c *Copier) Copy(ctx context.Context, put func(ctx context.Context, id [32]byte, data []byte) error) (whole bool, err error) {
	if !c.sought {
		c.seen = map[reached]bool{}
		err := c.collect(ctx, c.root, KindRoot, 0)
		c.sought, c.whole = true, err == nil
		if c.seen = nil; err != nil && !errors.Is(err, errIncomplete) {
			return false, err
		}
	}
	if !c.whole || put == nil {
		return c.whole, nil
	}
	for _, id := range c.order {
		b, err := c.blobs.Blob(ctx, id)
		if err == nil && b == nil {
			err = errIncomplete
		}
		if err == nil {
			err = put(ctx, id, b)
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// copy is the Copy of a session's Graph.
func (s *State) copy(ctx context.Context, put func(ctx context.Context, id [32]byte, data []byte) error) (root [32]byte, whole bool, err error) {
	switch {
	case s.outer != nil:
		_, whole, err := s.outer.copy(ctx, nil)
		return root, whole, err
	case !s.root.named || s.broken != "":
		return s.root.id, false, nil
	case s.copied == nil:
		s.copied = NewCopier(s.ledger.blobs, s.root.id)
	}
	whole, err = s.copied.Copy(ctx, put)
	return s.root.id, whole, err
}

var errIncomplete = errors.New("the state is incomplete")

// collect lists a blob after all that it refers to. References of fields that the table
// does not have count if there is such a blob.
func (c *Copier) collect(ctx context.Context, id ID, as Kind, depth int) error {
	if c.seen[reached{id, as}] {
		return nil
	}
	c.seen[reached{id, as}] = true
	if err := ctx.Err(); err != nil {
		return err
	}
	b, err := c.blobs.Blob(ctx, id)
	if err != nil {
		return err
	}
	if b == nil || depth > maxGraphDepth || sha256.Sum256(b) != id {
		return errIncomplete
	}
	for _, r := range c.refsOf(b, as) {
		if r.as == kindUnsure {
			if b, err := c.blobs.Blob(ctx, r.id); b == nil || err != nil {
				if err != nil {
					return err
				}
				continue
			}
			r.as = KindBytes
		}
		if err := c.collect(ctx, r.id, r.as, depth+1); err != nil {
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
func (c *Copier) refsOf(b []byte, as Kind) (out []reached) {
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

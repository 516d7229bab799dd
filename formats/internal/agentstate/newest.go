package agentstate

import (
	"context"
	"iter"
	"slices"
	"unicode/utf8"

	"rehome/formats/internal/wire"
)

// Newest finds the root that was stored last, if nothing names it. all yields every blob
// in the order of creation. As a blob does not say what it is, a root is recognized by its
// shape: all its fields are those of a root, and all that it refers to exists.
func Newest(ctx context.Context, blobs Blobs, all iter.Seq2[ID, error]) (root ID, found bool, err error) {
	err = eachRoot(ctx, blobs, all, func(id ID, _ []byte) { root, found = id, true })
	return root, found, err
}

// NewestSound finds the newest root whose whole state can be read. Roots that do not
// begin with the prompt that the first root begins with are those of subagents, and not
// considered. If no state can be read as a whole and lax is set, it is the newest root of
// which only the blobs that it names itself exist.
func NewestSound(ctx context.Context, blobs Blobs, all iter.Seq2[ID, error], lax bool) (root ID, found bool, err error) {
	var list, order []ID
	x := &Index{}
	err = eachRoot(ctx, blobs, func(yield func(ID, error) bool) {
		for id, err := range all {
			if err == nil {
				var b []byte
				if b, err = blobs.Blob(ctx, id); err == nil {
					x.Add(id, uint64(len(order)), b)
					order = append(order, id)
				}
			}
			if !yield(id, err) {
				return
			}
		}
	}, func(id ID, _ []byte) { list = append(list, id) })
	if err != nil {
		return root, false, err
	}
	begins := make([]ID, len(list)) // the first prompt of each root
	for i, id := range list {
		if begins[i], err = firstPrompt(ctx, blobs, id); err != nil {
			return root, false, err
		}
	}
	i, walks := slices.IndexFunc(begins, func(id ID) bool { return id != ID{} }), 0
	for n, id := range slices.Backward(list) {
		if walks == maxWalks {
			break
		}
		if i >= 0 && begins[n] != begins[i] && begins[n] != (ID{}) {
			continue
		}
		if !found && lax {
			root, found = id, true
		}
		walks++
		x.forget() // what it has seen before is not looked at again
		g := Graph{Index: x, Read: func(ctx context.Context, at uint64) ([]byte, error) { return blobs.Blob(ctx, order[at]) }}
		if fault, err := g.Sound(ctx, id); err != nil || fault == "" {
			return id, err == nil, err
		}
	}
	return root, found, nil
}

// maxWalks is how many states are read as a whole, because each can be of all blobs.
const maxWalks = 64

// firstPrompt returns the user's message of the first turn of a root, the zero ID if it
// has none. Unlike the turn, it stays the same while the turn goes on.
func firstPrompt(ctx context.Context, blobs Blobs, root ID) (ID, error) {
	b, err := blobs.Blob(ctx, root)
	if err != nil {
		return ID{}, err
	}
	r := wire.Read(b)
	for r.Next() {
		f := codecs().root.Message.Field(r.Num)
		if f == nil || f.Name != "turns" || !f.Fits(&r) {
			continue
		}
		id, _ := wire.AsID(r.Body)
		turn, err := blobs.Blob(ctx, id)
		if err != nil || turn == nil {
			return ID{}, err
		}
		if a := ParseTurn(turn); a != nil {
			return a.User, nil
		}
		return ID{}, nil
	}
	return ID{}, nil
}

// eachRoot calls f with each blob that has the shape of a root.
func eachRoot(ctx context.Context, blobs Blobs, all iter.Seq2[ID, error], f func(id ID, b []byte)) error {
	list := &blobList{}
	for id, err := range all {
		if err != nil {
			return err
		}
		list.order = append(list.order, id)
	}
	list.index()
	for _, id := range list.order {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := blobs.Blob(ctx, id)
		if err != nil {
			return err
		}
		if list.rootShape(b) {
			f(id, b)
		}
	}
	return nil
}

// rootShape reports whether bytes can be a root.
func (l *blobList) rootShape(b []byte) bool {
	m := codecs().root.Message
	rest := l.rest(b)
	talks := len(rest) < len(b)
	r := wire.Read(rest)
	for r.Next() {
		f := m.Field(r.Num)
		if f == nil || !f.Fits(&r) {
			return false
		}
		switch {
		case f.Kind == wire.String && f.Key == 0:
			if !utf8.Valid(r.Body) {
				return false
			}
		case f.Kind == wire.Ref && f.Key == 0:
			if id, ok := wire.AsID(r.Body); !ok || !l.has(id) {
				return false
			}
			talks = talks || f.Name == "rootPromptMessagesJson" || f.Name == "turns"
		}
	}
	return talks && len(r.Rest()) == 0
}

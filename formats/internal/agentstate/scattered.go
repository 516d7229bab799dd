package agentstate

import (
	"context"
	"crypto/sha256"
	"iter"
	"slices"
)

// Gather makes a root of the messages among blobs, in the order of all, for a conversation
// whose root is missing. It returns nil if there are none. In stores of 2025 a message can
// begin with references to those before it, which are not listed again.
func Gather(ctx context.Context, blobs Blobs, all iter.Seq2[ID, error]) (root []byte, err error) {
	var list []ID
	named := map[ID]bool{}
	for id, err := range all {
		if err != nil {
			return nil, err
		}
		b, err := blobs.Blob(ctx, id)
		if err != nil {
			return nil, err
		}
		if !isPrompt(b) {
			continue
		}
		refs, _ := links(b)
		list = append(list, id)
		for _, r := range refs {
			named[r] = true
		}
	}
	list = slices.DeleteFunc(list, func(id ID) bool { return named[id] })
	if len(list) == 0 {
		return nil, nil
	}
	return (&Root{Prompts: list}).encode(), nil
}

// WithRoot returns blobs with a root that is not one of them, and its id.
func WithRoot(blobs Blobs, root []byte) (Blobs, ID) {
	id := ID(sha256.Sum256(root))
	return &withRoot{blobs, id, root}, id
}

type withRoot struct {
	Blobs
	id   ID
	root []byte
}

func (w *withRoot) Blob(ctx context.Context, id ID) ([]byte, error) {
	if id == w.id {
		return w.root, nil
	}
	return w.Blobs.Blob(ctx, id)
}

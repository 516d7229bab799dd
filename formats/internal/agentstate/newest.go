package agentstate

import (
	"bytes"
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

// eachRoot calls f with each blob that has the shape of a root.
func eachRoot(ctx context.Context, blobs Blobs, all iter.Seq2[ID, error], f func(id ID, b []byte)) error {
	var order, there []ID // in the order of creation, and sorted
	for id, err := range all {
		if err != nil {
			return err
		}
		order = append(order, id)
	}
	there = slices.Clone(order)
	slices.SortFunc(there, compareIDs)
	for _, id := range order {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := blobs.Blob(ctx, id)
		if err != nil {
			return err
		}
		if rootShape(b, there) {
			f(id, b)
		}
	}
	return nil
}

func compareIDs(a, b ID) int { return bytes.Compare(a[:], b[:]) }

// rootShape reports whether bytes can be a root.
func rootShape(b []byte, there []ID) bool {
	m := codecs().root.Message
	talks := false
	r := wire.Read(b)
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
			id, ok := wire.AsID(r.Body)
			if !ok {
				return false
			}
			if _, found := slices.BinarySearchFunc(there, id, compareIDs); !found {
				return false
			}
			talks = talks || f.Name == "rootPromptMessagesJson" || f.Name == "turns"
		}
	}
	return talks && len(r.Rest()) == 0
}

package session

import (
	"context"
	"iter"
)

// Each calls f for each value of a stream, which may be nil. It stops at the first error:
// of the stream, of ctx or of f.
func Each[T any](ctx context.Context, stream iter.Seq2[*T, error], f func(*T) error) error {
	if stream == nil {
		return nil
	}
	for one, err := range stream {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = f(one)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

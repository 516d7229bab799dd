package sdkstore

import (
	"context"
	"iter"
	"slices"
	"testing"
	"testing/synctest"

	"rehome/formats/store"
)

// TestAheadOfLarge: batches are read ahead, but none while a large one is in use.
func TestAheadOfLarge(t *testing.T) {
	const small, large = 10, 5 << 20
	for name, c := range map[string]struct{ sizes, ahead []int }{
		"small":           {[]int{small, small, small, small, small}, []int{4, 5, 5, 5, 5}},
		"large":           {[]int{large, large, large}, []int{1, 2, 3}},
		"large and small": {[]int{small, large, small, large, small}, []int{2, 2, 4, 4, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				made := 0
				scan := func(context.Context) iter.Seq2[*store.Batch, error] {
					return func(yield func(*store.Batch, error) bool) {
						for _, n := range c.sizes {
							b := store.NewBatch(0, 1)
							b.Row(0)
							b.AddBytes(store.Blob, make([]byte, n))
							if made++; !yield(b, nil) {
								return
							}
						}
					}
				}
				var ahead []int
				for b, err := range Ahead(t.Context(), 2, scan) {
					if err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					ahead = append(ahead, made)
					b.Release()
				}
				if !slices.Equal(ahead, c.ahead) {
					t.Errorf("read while each was in use: %v, want %v", ahead, c.ahead)
				}
				for range Ahead(t.Context(), 2, scan) {
					break
				}
				synctest.Wait() // and the goroutine has ended, or the bubble does not
			})
		})
	}
}

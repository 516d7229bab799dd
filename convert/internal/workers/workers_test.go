package workers

import (
	"context"
	"slices"
	"sync"
	"testing"
)

// TestRun: what finds no file left to open is done again when the others have
// finished, one at a time, and once.
func TestRun(t *testing.T) {
	var mu sync.Mutex
	var first, second []int
	Run(t.Context(), 4, slices.Values([]int{3, 1, 2, 0, 4}), func(i int, last bool) bool {
		mu.Lock()
		defer mu.Unlock()
		if last {
			second = append(second, i)
			return true
		}
		first = append(first, i)
		return i%2 == 0
	})
	slices.Sort(first)
	slices.Sort(second)
	if !slices.Equal(first, []int{0, 1, 2, 3, 4}) || !slices.Equal(second, []int{0, 2, 4}) {
		t.Errorf("%v, %v", first, second)
	}
}

// TestRunCanceled: no more values are drawn than one after the context is canceled.
func TestRunCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	drawn := 0
	Run(ctx, 0, func(yield func(int) bool) {
		for drawn < 9 {
			if drawn++; !yield(drawn) {
				return
			}
		}
	}, func(int, bool) bool { return false })
	if drawn != 1 {
		t.Errorf("%d values drawn", drawn)
	}
}

// Package workers runs work in parallel, with no more workers than can have their
// files open.
package workers

import (
	"cmp"
	"context"
	"iter"
	"runtime"
	"slices"
	"sync"
)

// A worker has a source, its log, its copy and its target open at once, besides
// the files of the program as a whole.
const (
	filesOfWorker  = 12
	filesOfProgram = 16
)

// Count returns the number of workers if n were asked for, or one per CPU
// if n is 0: no more than can have their files open.
func Count(n int) int {
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	if limit := fileLimit(); limit > 0 {
		n = min(n, max(1, (limit-filesOfProgram)/filesOfWorker))
	}
	return n
}

// LargestFirst returns the indexes of some sizes, the largest first: the order of work
// that keeps all workers busy to the end.
func LargestFirst(sizes []int64) []int {
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	return order
}

// Run calls do for every value, with so many workers. do reports whether to
// call it again because too many files were open: then one worker calls it again,
// for the last time, when the others have finished.
func Run[T any](ctx context.Context, jobs int, all iter.Seq[T], do func(one T, last bool) (again bool)) {
	queue := make(chan T)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var rest []T
	for range jobs {
		wg.Go(func() {
			for one := range queue {
				if do(one, false) {
					mu.Lock()
					rest = append(rest, one)
					mu.Unlock()
				}
			}
		})
	}
	for one := range all {
		select {
		case queue <- one:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(queue)
	wg.Wait()
	for _, one := range rest {
		do(one, true)
	}
}

package convert

import (
	"context"
	"runtime"
	"sync"
)

// A worker has a source, its log, its copy and its target open at once, besides
// what the program as a whole has.
const (
	filesOfWorker  = 12
	filesOfProgram = 16
)

// jobsOr is how many workers there are where n were asked for, one a processor
// if 0: no more than the system lets have their files open.
func jobsOr(n int) int {
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	if limit := fileLimit(); limit > 0 {
		n = min(n, max(1, (limit-filesOfProgram)/filesOfWorker))
	}
	return n
}

// spread does something for every number in order with so many workers. do reports
// that it had no files left to open: then it is done again, by one worker alone
// and for the last time, when the others have finished.
func spread(ctx context.Context, jobs int, order []int, do func(i int, last bool) (again bool)) {
	queue := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var rest []int
	for range max(1, min(jobs, len(order))) {
		wg.Go(func() {
			for i := range queue {
				if do(i, false) {
					mu.Lock()
					rest = append(rest, i)
					mu.Unlock()
				}
			}
		})
	}
	for _, i := range order {
		select {
		case queue <- i:
		case <-ctx.Done():
		}
	}
	close(queue)
	wg.Wait()
	for _, i := range rest {
		do(i, true)
	}
}

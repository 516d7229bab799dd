package convert

import (
	"context"
	"runtime"
	"sync"
)

// A worker has a source, its log, its copy and its target open at once, besides
// the files of the program as a whole.
const (
	filesOfWorker  = 12
	filesOfProgram = 16
)

// workerCount returns the number of workers if n were asked for, or one per CPU
// if n is 0: no more than can have their files open.
func workerCount(n int) int {
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	if limit := fileLimit(); limit > 0 {
		n = min(n, max(1, (limit-filesOfProgram)/filesOfWorker))
	}
	return n
}

// runAll calls do for every number in order, with so many workers. do reports
// whether to call it again because too many files were open: then one worker
// calls it again, for the last time, when the others have finished.
func runAll(ctx context.Context, jobs int, order []int, do func(i int, last bool) (again bool)) {
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

package scratch

import (
	"os"
	"sync"
	"sync/atomic"
	"testing"
)

// TestSweptWhileMade: a run that sweeps never removes a folder whose lock another run
// has taken, not even one that it took for dead.
func TestSweptWhileMade(t *testing.T) {
	parent := t.TempDir()
	var done atomic.Bool
	var sweepers, makers sync.WaitGroup
	for range 2 {
		sweepers.Go(func() {
			for !done.Load() {
				SweepBeside(parent, "x-", func(string, error) {})
			}
		})
	}
	for range 4 {
		makers.Go(func() {
			for range 1000 {
				d, err := Make(parent, "x-")
				if err != nil {
					continue // swept each time, and nothing is lost
				}
				for range 20 {
					if _, err := os.Lstat(d.Path); err != nil {
						t.Errorf("swept while it is in use: %v", err)
						break
					}
				}
				d.Remove()
			}
		})
	}
	makers.Wait()
	done.Store(true)
	sweepers.Wait()
}

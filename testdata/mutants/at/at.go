// Package at says in code that mutants instrumented which of its changes is made: the
// one whose number is in REHOME_MUTANT.
package at

import (
	"fmt"
	"os"
	"runtime/metrics"
	"strconv"
	"sync"
	"time"
)

// Change is the number of the change that is made; 0 is none.
var Change, _ = strconv.Atoi(os.Getenv("REHOME_MUTANT"))

// Pick returns changed if change n is made, and otherwise plain.
func Pick[T any](n int, plain, changed T) T {
	if n == Change {
		return changed
	}
	return plain
}

// reached is the file that lists which changes would have been met.
var reached = func() *os.File {
	f, _ := os.OpenFile(os.Getenv("REHOME_MUTANT_REACHED"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	return f
}()

var once sync.Map

// Reach notes that the code of change n runs.
func Reach(n int) {
	if reached == nil {
		return
	}
	if _, again := once.LoadOrStore(n, true); !again {
		fmt.Fprintln(reached, n)
	}
}

// maxMemory is many times what a test needs: a change can make a loop without end.
const maxMemory = 4 << 30

var _ = func() bool {
	if Change != 0 {
		go watch()
	}
	return true
}()

func watch() {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	for range time.Tick(200 * time.Millisecond) {
		if metrics.Read(sample); sample[0].Value.Uint64() > maxMemory {
			fmt.Fprintln(os.Stderr, "mutants: too much memory")
			os.Exit(3)
		}
	}
}

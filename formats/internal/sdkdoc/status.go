package sdkdoc

import "strings"

// Statuses of runs, as lines spell them.
const (
	Queued    = "queued" // it waits for its first prompt
	Creating  = "creating"
	Running   = "running"
	Finished  = "finished"
	Failed    = "error"
	Cancelled = "cancelled"
)

// runStatuses are the statuses of runs that the SDK knows. The first stands for none.
var runStatuses = [...]struct {
	word  string // as lines spell it; databases use upper case
	ended bool   // a run does not leave it
	end   int    // the column with the time of the end, -1 if no database holds it
}{
	{Queued, false, -1},
	{Creating, false, -1},
	{Running, false, -1},
	{Finished, true, RunFinished},
	{Failed, true, -1},
	{Cancelled, true, RunCancelled},
	{"expired", true, RunExpired},
}

// runWords returns the statuses of runs as databases spell them.
func runWords() (out []string) {
	for _, s := range runStatuses {
		out = append(out, strings.ToUpper(s.word))
	}
	return out
}

// RunEnds yields each status that a run does not leave, as lines spell it, and the column
// with the time of its end, -1 if no database holds it.
func RunEnds(yield func(status string, column int) bool) {
	for _, s := range runStatuses {
		if s.ended && !yield(s.word, s.end) {
			return
		}
	}
}

// Ended reports whether a status, as lines spell it, is one that a run does not
// leave.
func Ended(status string) bool {
	for word := range RunEnds {
		if word == status {
			return true
		}
	}
	return false
}

// endColumn is the column that holds the end of a run of this status, as databases
// spell it, -1 if none does.
func endColumn(status []byte) int {
	for i, word := range kinds[Run].statuses {
		if word == string(status) {
			return runStatuses[i].end
		}
	}
	return -1
}

package golden

import "testing"

// Every is the distance between the cases that a long family of tests takes: 1, or 8 with
// -short. `make proof` takes all of them. The conformance suite does the same by itself, since
// codecs of others use it.
func Every() int {
	if testing.Short() {
		return 8
	}
	return 1
}

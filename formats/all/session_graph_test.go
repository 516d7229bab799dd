package all_test

import (
	"path/filepath"
	"testing"

	"rehome/formats/formatstest/graphgen"
)

// TestSessionContainers holds the generator against the exact lane: what it
// writes as a state root is, as lines, what it writes as lines.
func TestSessionContainers(t *testing.T) {
	for seed := range uint64(4) {
		p := graphgen.New(seed, graphgen.Whole)
		at := sdkStore(t, p, p.Graph(), graphgen.Odd{})
		want := lineStore(t, p, p.Graph())
		got := filepath.Join(t.TempDir(), "lines")
		there := trip{}
		there.carry(t, "cursor-sdk", "cursor-ndjson", at.Project, got)
		sameFiles(t, want, got)
	}
}

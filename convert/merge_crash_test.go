//go:build linux || darwin

package convert

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"rehome/golden"
)

// twoSources are folders of sessions that two people continued, most of them differently.
func twoSources(t *testing.T, sessions int) (dir, a, b string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "src")
	for i := range sessions {
		id := fmt.Sprintf("20000000-0000-4000-8000-%012d", i)
		line := func(word string) string {
			return fmt.Sprintf(`{"type":"user","uuid":"%s","sessionId":"%s","message":{"role":"user","content":"%s"}}`+"\n", word, id, strings.Repeat(word, 500))
		}
		for _, who := range []string{"a", "b"} {
			write(t, filepath.Join(dir, who, id+".jsonl"), line("base")+line(who))
		}
	}
	return dir, filepath.Join(dir, "a"), filepath.Join(dir, "b")
}

// TestMergeKilledAnywhere kills the real program at random points of a merge: there is the
// old target or its backup, or the new one as a whole.
func TestMergeKilledAnywhere(t *testing.T) {
	bin := program(t)
	src, a, b := twoSources(t, 30)
	killedAnywhere(t, bin, 80/golden.Every(), src, "merge", a, b)
}

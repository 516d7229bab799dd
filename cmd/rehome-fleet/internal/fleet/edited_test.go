package fleet

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEditedPlan: a plan that somebody changed is not reported as complete.
func TestEditedPlan(t *testing.T) {
	bin, src, dir := program(t), machines(t, 2), t.TempDir()
	plan, out := filepath.Join(dir, "plan.ndjson"), filepath.Join(dir, "out")
	must(t, 0, bin, "plan", src, "--out", plan)
	must(t, 0, bin, "do", plan, "--shard", "0/1", "--out", out)
	text, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	last := string(lines[len(lines)-1])
	body := lines[:len(lines)-1]
	digest := func(lines [][]byte) string {
		sum := sha256.Sum256(bytes.Join(lines, nil))
		return hex.EncodeToString(sum[:])
	}
	// sealed returns a plan with other lines, whose last line has their digest.
	sealed := func(lines [][]byte, old, now string) string {
		end := strings.Replace(last, digest(body), digest(lines), 1)
		return string(bytes.Join(lines, nil)) + strings.Replace(end, old, now, 1) + "\n"
	}
	if sealed(body, "", "") != string(text) {
		t.Fatal("the test does not know how a plan is sealed")
	}
	renamed := bytes.SplitAfter(bytes.ReplaceAll(bytes.Join(body, nil), []byte("machine-1/home"), []byte("machine-9/home")), []byte("\n"))
	less := append([][]byte{}, body[:len(body)-1]...)
	for name, edited := range map[string]string{
		"no last line":        string(bytes.Join(body, nil)),
		"half of it":          string(text[:len(text)/2]),
		"another plan behind": string(text) + string(text),
		"a line is missing":   string(bytes.Join(less, nil)) + last + "\n",
		"sealed, less":        sealed(less, "", ""),
		"sealed, renamed":     sealed(renamed, "", ""),
		"sealed, other total": sealed(body, `"stores":4`, `"stores":3`),
		"sealed, others":      sealed(body, `"others":2`, `"others":1`),
	} {
		if edited == string(text) {
			t.Fatalf("%s: not edited", name)
		}
		write(t, dir, "edited", edited)
		if got := must(t, 1, bin, "report", filepath.Join(dir, "edited"), "--out", out); !strings.Contains(got, "damaged plan") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

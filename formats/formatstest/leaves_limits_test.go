package formatstest_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"rehome/formats/all"
	"rehome/formats/formatstest"
	"rehome/formats/formatstest/leaves"
)

// limits reads testdata/leaves/limits.txt: a name, what is counted, and how much it is.
func limits(t *testing.T) map[string]int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "leaves", "limits.txt"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		n, err := strconv.Atoi(words[len(words)-1])
		if err != nil || len(words) != 3 {
			t.Fatalf("limits.txt: %q is not a name, a word and a number", line)
		}
		out[words[0]+" "+words[1]] = n
	}
	return out
}

// within compares a count with its limit, which only falls.
func within(t *testing.T, limits map[string]int, what string, n int) {
	t.Helper()
	if limit := limits[what]; n > limit {
		t.Errorf("%s: %d, and %d are allowed", what, n, limit)
	} else if n < limit {
		t.Errorf("%s: %d instead of %d; lower it in testdata/leaves/limits.txt", what, n, limit)
	}
}

// rawShare compares how much of the text of the fixtures is in extra data alone, in thousandths,
// with its limit.
func rawShare(t *testing.T, c formatstest.Case) {
	w := c.Leaves
	if w == nil || w.Stores < len(c.Fixtures)+len(c.MoreStores) {
		return // only some of the fixtures were tested
	}
	t.Logf("%d of %d bytes of text are in extra data alone", w.Raw, w.Text)
	within(t, limits(t), c.Format.Name+" raw", int(w.Raw*1000/max(1, w.Text)))
}

// TestLeavesLimits: the declarations of each kind in each file are counted, and so are the formats
// with sessions that have no law of leaves.
func TestLeavesLimits(t *testing.T) {
	have := map[string]int{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "leaves.txt" && d.Name() != "writes.txt" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, parts := filepath.Base(filepath.Dir(path)), []string{string(text)}
		if d.Name() == "writes.txt" {
			_, folder, _ := strings.Cut(strings.Replace(filepath.ToSlash(path), "../internal/", "../", 1), "/")
			name, _, _ = strings.Cut(folder, "/")
			name += "-writer"
			from, to := leaves.Writes(string(text))
			parts = []string{from, to}
		}
		for _, part := range parts {
			list, err := leaves.ParseDeclared(part)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			for d := range list.All() {
				have[name+" "+d.Verb]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all.Registry().All() {
		if _, ok := walks()[f.Name]; f.Sessions != nil && !ok && f.Family != "lines" {
			have["formats without-law"]++
		}
	}
	limits := limits(t)
	for what := range limits {
		if !strings.HasSuffix(what, " raw") {
			within(t, limits, what, have[what])
		}
	}
	for what, n := range have {
		if _, ok := limits[what]; !ok {
			t.Errorf("%s: %d, and testdata/leaves/limits.txt has no limit", what, n)
		}
	}
}

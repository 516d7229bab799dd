package formatstest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/store"
)

const (
	mostFiles = 16 // files of one source that are cut
	mostCuts  = 8  // evenly spread cuts of one file, beside its edges
)

// truncated: on a source truncated anywhere, the reader does not panic, and does
// not lose records without an error or a loss.
func truncated(t *testing.T, c Case, s source) {
	whole := mustRead(t, c.Format, s.path, formats.View{Kind: c.kind})
	eachCut(t, s, func(what, path, file string) {
		var got *content
		var losses loss.Log
		err := addressed(t, what, func() (err error) {
			got, err = read(t.Context(), c.Format, path, formats.View{Kind: c.kind, OnLoss: losses.Add})
			return err
		})
		if err == nil && got != nil && losses.Worst() < loss.Dropped { // otherwise it reported the missing part
			nothingLost(t, what, inside(path, file), whole, got)
		}
	})
}

// eachCut calls f for copies of a source in which one file is truncated. With -short it
// makes an eighth of the cuts, others for each file.
func eachCut(t *testing.T, s source, f func(what, path, file string)) {
	path := copied(t, s)
	dir := strings.TrimSuffix(path, strings.TrimPrefix(s.path, s.dir))
	files := tree(t, dir)
	for n, name := range spread(slices.Sorted(maps.Keys(files)), mostFiles) {
		file, all := filepath.Join(dir, filepath.FromSlash(name)), files[name]
		for i, size := range cuts(len(all)) {
			if testing.Short() && (n+i)%8 != 0 {
				continue
			}
			if err := os.WriteFile(file, all[:size], 0o644); err != nil {
				t.Fatal(err)
			}
			f(fmt.Sprintf("%s cut to %d of %d bytes", name, size, len(all)), path, file)
		}
		if err := os.WriteFile(file, all, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// inside is a file's name as sets spell it: relative to a store that is a
// folder; for a store that is one file, what follows its name, such as "-wal".
func inside(storePath, file string) string {
	if info, err := os.Stat(storePath); err == nil && info.IsDir() {
		if rel, err := filepath.Rel(storePath, file); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return strings.TrimPrefix(file, storePath)
}

// nothingLost: a reader that reports nothing about a truncated file must yield the
// same records. Three kinds of file are exempt, because truncation cannot be
// detected: a plain file, a file of lines, which does not record how many there
// are, and a database's own log, whose incomplete end counts as never written.
func nothingLost(t *testing.T, what, cut string, whole, got *content) {
	t.Helper()
	if strings.HasSuffix(cut, "-wal") || strings.HasSuffix(cut, "-journal") {
		return
	}
	if d := schemaDifference(whole.schema, got.schema); d != "" {
		t.Errorf("%s: read without an error: %s", what, d)
		return
	}
	for i, set := range whole.schema.Sets {
		if set.Kind != store.Table && set.File == cut {
			continue
		}
		if d := rowDifference(whole.sets[i].rows, got.sets[i].rows); d != "" {
			t.Errorf("%s: read without an error: %s: %s", what, setName(set), d)
		}
	}
}

// cuts returns the sizes to which a file is truncated: near both ends, and between.
func cuts(size int) []int {
	var out []int
	for _, n := range []int{0, 1, 15, 16, 99, 100, 511, 512, 4095, 4096, size - 512, size - 2, size - 1} {
		if n >= 0 && n < size {
			out = append(out, n)
		}
	}
	for i := range mostCuts {
		out = append(out, size*i/mostCuts)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(n int) bool { return n >= size })
}

// spread picks at most n of a list, evenly.
func spread(list []string, n int) []string {
	if len(list) <= n {
		return list
	}
	out := make([]string, n)
	for i := range out {
		out[i] = list[i*len(list)/n]
	}
	return out
}

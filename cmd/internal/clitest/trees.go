package clitest

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rehome/internal/udiff"
)

// treeDiff is what changed between two folders.
type treeDiff struct {
	Text           string
	Added, Removed int
}

// PlainDiff compares file by file and line by line.
func PlainDiff(a, b, nameA, nameB string) (treeDiff, error) {
	left, err := ReadTree(a)
	if err != nil {
		return treeDiff{}, err
	}
	right, err := ReadTree(b)
	if err != nil {
		return treeDiff{}, err
	}
	names := maps.Clone(left)
	maps.Copy(names, right)
	var d treeDiff
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if bytes.Equal(left[name], right[name]) {
			continue
		}
		fmt.Fprintf(&text, "--- %s/%s\n+++ %s/%s\n", nameA, name, nameB, name)
		old, fresh := splitLines(left[name]), splitLines(right[name])
		for _, h := range udiff.Changes(old, fresh) {
			fmt.Fprintf(&text, "@@ -%s +%s @@\n", lineRange(h.OldStart, h.Removed), lineRange(h.NewStart, h.Added))
			for _, l := range old[h.OldStart : h.OldStart+h.Removed] {
				text.WriteString("-" + l + "\n")
			}
			for _, l := range fresh[h.NewStart : h.NewStart+h.Added] {
				text.WriteString("+" + l + "\n")
			}
			d.Added, d.Removed = d.Added+h.Added, d.Removed+h.Removed
		}
	}
	d.Text = text.String()
	return d, nil
}

// lineRange spells a place as diff does: one without lines is named by the
// line before it.
func lineRange(from, n int) string {
	if n > 0 {
		from++
	}
	return fmt.Sprintf("%d,%d", from, n)
}

// SameTrees reports whether two folders hold the same files with the same
// bytes.
func SameTrees(a, b string) (bool, error) {
	left, err := ReadTree(a)
	if err != nil {
		return false, err
	}
	right, err := ReadTree(b)
	if err != nil || len(left) != len(right) {
		return false, err
	}
	for name, data := range left {
		if other, ok := right[name]; !ok || !bytes.Equal(data, other) {
			return false, nil
		}
	}
	return true, nil
}

// ReadTree reads every file of a folder; the demo's are small.
func ReadTree(folder string) (map[string][]byte, error) {
	out := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		out[name], err = os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
		return err
	})
	return out, err
}

func splitLines(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// treeDiff is what changed between two folders.
type treeDiff struct {
	text           string
	added, removed int
}

// plainDiff compares file by file and line by line.
func plainDiff(a, b, nameA, nameB string) (treeDiff, error) {
	left, err := readTree(a)
	if err != nil {
		return treeDiff{}, err
	}
	right, err := readTree(b)
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
		for _, h := range hunks(old, fresh) {
			fmt.Fprintf(&text, "@@ -%s +%s @@\n", lineRange(h.oldStart, h.removed), lineRange(h.newStart, h.added))
			for _, l := range old[h.oldStart : h.oldStart+h.removed] {
				text.WriteString("-" + l + "\n")
			}
			for _, l := range fresh[h.newStart : h.newStart+h.added] {
				text.WriteString("+" + l + "\n")
			}
			d.added, d.removed = d.added+h.added, d.removed+h.removed
		}
	}
	d.text = text.String()
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

// sameTrees reports whether two folders hold the same files with the same
// bytes.
func sameTrees(a, b string) (bool, error) {
	left, err := readTree(a)
	if err != nil {
		return false, err
	}
	right, err := readTree(b)
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

// readTree reads every file of a folder; the demo's are small.
func readTree(folder string) (map[string][]byte, error) {
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

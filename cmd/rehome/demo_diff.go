package main

import "strings"

// hunk is a run of lines of the old text that a run of lines of the new text replaces.
type hunk struct{ oldStart, removed, newStart, added int }

// hunks compares two lists of lines by their longest common subsequence. It
// takes quadratic time, which is fine for the demo's small files.
func hunks(a, b []string) []hunk {
	common := make([][]int, len(a)+1) // length for a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []hunk
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if i < len(a) && j < len(b) && a[i] == b[j] {
			i, j = i+1, j+1
			continue
		}
		h := hunk{oldStart: i, newStart: j}
		for (i < len(a) || j < len(b)) && (i == len(a) || j == len(b) || a[i] != b[j]) {
			if j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1] {
				i++
			} else {
				j++
			}
		}
		h.removed, h.added = i-h.oldStart, j-h.newStart
		out = append(out, h)
	}
	return out
}

func splitLines(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

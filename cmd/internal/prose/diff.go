package prose

import (
	"strings"

	"rehome/internal/udiff"
)

// unified returns a unified diff of two texts without the two lines that name the files.
func unified(before, after string) (out []string) {
	for _, h := range udiff.Between(ended(before), ended(after)) {
		out = append(append(out, h.Header()), h.Lines...)
	}
	return out
}

// ended returns a text that ends with a line end, unless it is empty.
func ended(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// diffLines returns the lines of a diff without its file headers.
func diffLines(text string) []string {
	list := splitLines(strings.ReplaceAll(text, "\r\n", "\n"))
	for len(list) > 0 && (strings.HasPrefix(list[0], "--- ") || strings.HasPrefix(list[0], "+++ ") || strings.HasPrefix(list[0], "diff ") || strings.HasPrefix(list[0], "Index: ") || strings.HasPrefix(list[0], "====")) {
		list = list[1:]
	}
	return list
}

// DiffStat counts the lines that a diff adds and removes.
func DiffStat(diff []string) (added, removed int) {
	for _, l := range diff {
		switch {
		case strings.HasPrefix(l, "+"):
			added++
		case strings.HasPrefix(l, "-"):
			removed++
		}
	}
	return added, removed
}

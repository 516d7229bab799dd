package console

import (
	"path"
	"path/filepath"
	"strings"

	"rehome/cmd/internal/screen"
)

// ShortPath returns a path with ~ for the home folder, or that it is unknown.
func ShortPath(home, dir string) screen.Safe {
	if dir == "" {
		return Unknown
	}
	return screen.Visible(HomePath(home, dir))
}

// HomePath returns a path with ~ for the home folder.
func HomePath(home, dir string) string {
	if rel, err := filepath.Rel(home, dir); home != "" && err == nil && filepath.IsLocal(rel) {
		return path.Join("~", filepath.ToSlash(rel))
	}
	return dir
}

// ShortenPath shortens a path to a width by cutting it to its last element, and
// that at its beginning.
func ShortenPath(dir screen.Safe, width int) screen.Safe {
	if screen.Cells(dir) > width {
		dir = dir[strings.LastIndexByte(string(dir), '/')+1:]
	}
	return screen.CutLeft(dir, width)
}

// Gap is the number of spaces between columns.
const Gap = 2

// PadRight pads a cell to a width, followed by the gap.
func PadRight(s screen.Safe, width int) screen.Safe {
	return screen.Pad(s, width) + screen.Repeat(" ", Gap)
}

func PadLeft(s screen.Safe, width int) screen.Safe {
	return screen.Repeat(" ", width-screen.Cells(s)) + s
}

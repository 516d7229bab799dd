package layout

import (
	"math"
	"path/filepath"
	"strings"

	"rehome/formats/internal/filename"
	"rehome/formats/internal/sdkdoc"
)

// ProjectPath is the state root in which the SDK looks for the agents of a program
// that works in cwd. The string counts, not the folder: /ws and /ws/ are two.
func ProjectPath(home, cwd string) string {
	return filepath.Join(home, ".cursor", filepath.FromSlash(ProjectSlug(cwd)), RootsName, filename.HashOf(cwd))
}

// ProjectSlug is the project folder of such a program, below that of the client.
// Workspaces whose paths differ only in punctuation share one.
func ProjectSlug(cwd string) string { return ProjectsName + "/" + Slug(cwd) }

// ExternalDir is where the SDK keeps the transcripts of such a program: in its
// project folder, which all state roots of one slug share.
func ExternalDir(home, cwd string) (name, path string) {
	return sdkdoc.Transcripts, filepath.Join(home, ".cursor", filepath.FromSlash(ProjectSlug(cwd)), sdkdoc.Transcripts)
}

// FolderOf returns the folder that has a slug and a hash, "" if none of the likely paths
// has both.
func FolderOf(slug, hash string) string {
	const marks, maxPaths = "/-._ ", 1 << 16
	parts := strings.Split(slug, "-")
	many := 1 // marks that are tried: the likely ones, if there are many parts
	for many < len(marks) && math.Pow(float64(many+1), float64(len(parts))) <= maxPaths {
		many++
	}
	path := make([]byte, 0, len(slug)+1)
	for n := range int(math.Pow(float64(many), float64(len(parts)-1))) {
		path = append(append(path[:0], '/'), parts[0]...)
		for _, part := range parts[1:] {
			path = append(append(path, marks[n%many]), part...)
			n /= many
		}
		if filename.HashOf(string(path)) == hash {
			return string(path)
		}
	}
	return ""
}

// Slug is a path as the name of a folder: what is no ASCII letter or digit
// becomes a dash, several become one, none is left at the ends.
func Slug(path string) string {
	var out []byte
	for _, c := range []byte(path) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
			out = append(out, c)
		case len(out) > 0 && out[len(out)-1] != '-':
			out = append(out, '-')
		}
	}
	if n := len(out); n > 0 && out[n-1] == '-' {
		out = out[:n-1]
	}
	return string(out)
}

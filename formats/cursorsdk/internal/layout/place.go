package layout

import (
	"path/filepath"

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

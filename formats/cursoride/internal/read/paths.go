package read

import (
	"os"
	"path"
	"strings"

	"rehome/formats/cursoride/internal/lists"
)

// filePath returns the path of a file that a record names by URI or path.
func filePath(text string) string {
	if f := lists.ByURI(text); f.Path != "" && strings.Contains(text, "://") {
		if scheme, _, _ := strings.Cut(text, "://"); scheme == "file" || scheme == "vscode-remote" {
			if strings.HasSuffix(text, ".code-workspace") {
				return path.Join(f.Path, path.Base(text))
			}
			return f.Path
		}
	}
	return text
}

// maxPicture is the maximum size of an image file.
const maxPicture = 32 << 20

// smallFile reads a regular file; nil for anything else, such as a link.
func smallFile(path string) []byte {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxPicture {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return b
}

package archive

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"rehome/formats/internal/digest"
	"rehome/formats/internal/filename"
)

func quote(s string) string { return strconv.QuoteToGraphic(s) }

// fold returns a name as a file system that ignores case may see it.
func fold(s string) string { return strings.ToLower(strings.ToUpper(s)) }

// tableBase returns the file name of a table, without extension: its own name if that is
// safe on every system, and otherwise a hash of it.
func tableBase(name string) string {
	if low := strings.ToLower(name); filename.Safe(low) && low != "records" && low != "manifest" {
		return low
	}
	return fmt.Sprintf("t-%016x", digest.Name(name))
}

func tablePath(db, name string) string { return path.Join(db, tableBase(name)) }

// shardPath returns the file of a shard, below the folder of its table: in one of 256
// folders, so that none of them gets large.
func shardPath(shard string) string {
	if !filename.Safe(shard) || strings.ContainsRune(shard, '_') || shard == "records" {
		shard = fmt.Sprintf("h-%016x", digest.Name(shard))
	}
	return fmt.Sprintf("%02x/%s.ndjson", uint8(digest.Name(shard)), shard)
}

// safePath returns an error for a path that could, on any system, name something outside
// of the folder or something else than itself.
func safePath(p string) error {
	if p == "" || len(p) > 1024 || !utf8.ValidString(p) {
		return errors.New("path is empty, too long or not valid UTF-8")
	}
	for _, part := range strings.Split(p, "/") {
		low := fold(part)
		switch {
		case part == "" || part == "." || part == "..":
			return fmt.Errorf("%s has an empty, \".\" or \"..\" component", quote(p))
		case low == ".git" || low == "git~1" || low == ".gitattributes" || low == ".gitmodules" || low == manifestName:
			return fmt.Errorf("%s has a name that is reserved by git or rehome", quote(p))
		case filename.Device(part) || strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "):
			return fmt.Errorf("%s has a name that is not valid on Windows", quote(p))
		case strings.ContainsAny(part, "\\:*?\"<>|") || strings.ContainsFunc(part, func(r rune) bool { return r < ' ' || r == 0x7f }):
			return fmt.Errorf("%s has characters that some systems do not allow in file names", quote(p))
		}
	}
	return nil
}

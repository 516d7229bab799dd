package archive

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// keeps reports whether a file may stay beside a newer text that lacks it: the rows of a
// shard, an entry of a list, a plain file with its digest, and everything of a database
// that is gone as a whole.
func keeps(text, newer, name string) bool {
	has := func(folder, name string) bool {
		_, err := os.Lstat(filepath.Join(folder, filepath.FromSlash(name)))
		return err == nil
	}
	if name == manifestName || path.Base(name) == attributesName || stream(name) {
		return false
	}
	for db := path.Dir(name); ; db = path.Dir(db) {
		if has(newer, path.Join(db, databaseName)) {
			parts := strings.Split(strings.TrimPrefix(name, db+"/"), "/")
			if path.Ext(name) == ".ndjson" {
				return len(parts) == 3 && len(parts[1]) == 2 // of a table that is split
			}
			break
		}
		if has(text, path.Join(db, databaseName)) {
			return true
		}
		if db == "." {
			break
		}
	}
	plain, digest := strings.CutSuffix(name, companionSuffix)
	return digest && has(text, plain) || has(text, name+companionSuffix)
}

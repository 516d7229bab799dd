package archive

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"rehome/formats"
	"rehome/formats/internal/digest"
	"rehome/formats/internal/filename"
	"rehome/formats/store"
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
func shardPath(shard formats.Shard) string {
	ext := ".ndjson"
	if shard.Common {
		ext = ".common.ndjson"
	}
	return hashed(shard.Name) + ext
}

// shardFiles reports which files are those of shards, and of the entries of lists.
func shardFiles(set *store.Set, shards []formats.Shard, lists bool) func(string) bool {
	table, files := tablePath(set.File, set.Name), map[string]bool{}
	for _, s := range shards {
		files[table+".ndjson"] = files[table+".ndjson"] || s.Name == ""
		for _, common := range []bool{false, true} {
			files[path.Join(table, shardPath(formats.Shard{Name: s.Name, Common: common}))] = s.Name != ""
		}
	}
	return func(name string) bool {
		return files[name] || lists && strings.HasPrefix(name, table+"/") && strings.HasSuffix(name, entrySuffix)
	}
}

func hashed(shard string) string {
	if !filename.Safe(shard) || strings.ContainsRune(shard, '_') || shard == "records" {
		shard = fmt.Sprintf("h-%016x", digest.Name(shard))
	}
	return fmt.Sprintf("%02x/%s", uint8(digest.Name(shard)), shard)
}

func databasePath(db string) string { return path.Join(db, databaseName) }

// common reports whether a file of rows may hold those of several sessions: each line has
// its own digest, and git keeps the lines of both sides.
func common(file string) bool { return strings.HasSuffix(file, ".common.ndjson") }

// stream reports whether a file is the compressed stream of a database. No table and no
// shard has such a name.
func stream(file string) bool { return strings.HasPrefix(path.Base(file), "records.ndjson") }

func streamPath(db string) string { return path.Join(db, "records.ndjson") }

// checkPaths returns an error for paths that leave the folder, are the same on a file
// system that ignores case, or are reserved.
func checkPaths(s *store.Schema, version int) error {
	seen := map[string]string{}
	claim := func(path, what string) error {
		if old, ok := seen[fold(path)]; ok {
			return fmt.Errorf("%s and %s have the same path (case is ignored)", old, what)
		}
		seen[fold(path)] = what
		return nil
	}
	alone := len(s.Databases) == 1 && !slices.ContainsFunc(s.Sets, func(set store.Set) bool { return set.Kind == store.Plain })
	for _, d := range s.Databases {
		if d.Path != "" || !alone {
			if err := safePath(d.Path, version); err != nil {
				return fmt.Errorf("database: %w", err)
			}
		}
		if err := claim(d.Path, "database "+quote(d.Path)); err != nil {
			return err
		}
		seen[fold(streamPath(d.Path))] = "compressed text"
	}
	for _, set := range s.Sets {
		if set.Kind == store.Table {
			at := tablePath(set.File, set.Name)
			if err := claim(at, "table "+quote(set.Name)); err != nil {
				return err
			}
			seen[fold(at+".ndjson")] = seen[fold(at)]
			continue
		}
		if err := safePath(set.File, version); err != nil {
			return fmt.Errorf("file: %w", err)
		}
		if err := claim(set.File, "file "+quote(set.File)); err != nil {
			return err
		}
		for dir := path.Dir(set.File); dir != "."; dir = path.Dir(dir) {
			if what := seen[fold(dir)]; strings.HasPrefix(what, "table ") || strings.HasPrefix(what, "file ") {
				return fmt.Errorf("file %s would be inside %s", quote(set.File), what)
			}
		}
	}
	return nil
}

// safePath returns an error for a path that could, on any system, name something outside
// of the folder or something else than itself.
func safePath(p string, version int) error {
	if p == "" || len(p) > 1024 || !utf8.ValidString(p) {
		return errors.New("path is empty, too long or not valid UTF-8")
	}
	for _, part := range strings.Split(p, "/") {
		low := fold(part)
		switch {
		case part == "" || part == "." || part == "..":
			return fmt.Errorf("%s has an empty, \".\" or \"..\" component", quote(p))
		case low == ".git" || low == "git~1" || low == ".gitattributes" || low == ".gitmodules" || low == manifestName,
			version > 1 && (low == databaseName || strings.HasSuffix(low, companionSuffix)):
			return fmt.Errorf("%s has a name that is reserved by git or rehome", quote(p))
		case filename.Device(part) || strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "):
			return fmt.Errorf("%s has a name that is not valid on Windows", quote(p))
		case strings.ContainsAny(part, "\\:*?\"<>|") || strings.ContainsFunc(part, func(r rune) bool { return r < ' ' || r == 0x7f }):
			return fmt.Errorf("%s has characters that some systems do not allow in file names", quote(p))
		}
	}
	return nil
}

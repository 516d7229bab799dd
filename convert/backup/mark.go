package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rehome/formats"
	"rehome/internal/fileid"
)

// marksName is the name of the file with the marks of the last run. It is a cache:
// without it, everything is read again.
const marksName = ".marks.json"

// marks say which files had which state when they were saved last.
type marks struct {
	Index string            `json:"index"` // digest of the index of the snapshot that they belong to
	Files map[string]string `json:"files"` // by path; of an archived store, by the path of the store
}

// readMarks reads the marks that belong to a snapshot. Any others are worthless.
func readMarks(dir, snapshot string) map[string]string {
	var m marks
	text, err := os.ReadFile(filepath.Join(dir, marksName))
	if err != nil || json.Unmarshal(text, &m) != nil || m.Index != indexDigest(snapshot) || m.Files == nil {
		return map[string]string{}
	}
	return m.Files
}

func writeMarks(dir, snapshot string, files map[string]string) error {
	text, err := json.Marshal(marks{indexDigest(snapshot), files})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, marksName), text, 0o600)
}

func indexDigest(snapshot string) string {
	text, err := os.ReadFile(filepath.Join(snapshot, IndexName))
	if err != nil {
		return "none"
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// markOf returns the mark of a file, "" if it was changed too recently for one.
func markOf(info fs.FileInfo, now time.Time) string {
	if !fileid.Settled(info.ModTime(), now) {
		return ""
	}
	id := fileid.Of(info)
	return fmt.Sprintf("%d %d %d %d", id.Size, id.Changed, id.Inode, id.Status)
}

// storeMark returns the mark of all files of a store, "" if it has none, and when
// the newest was changed. It leaves out the shared memory of SQLite, which holds no
// data.
func storeMark(path string, now time.Time) (mark string, newest int64) {
	sum, old := sha256.New(), true
	add := func(p string, info fs.FileInfo) {
		m := markOf(info, now)
		old = old && m != ""
		newest = max(newest, info.ModTime().UnixMilli())
		fmt.Fprintf(sum, "%q %s\n", p, m)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", 0
	}
	if !info.IsDir() {
		for _, side := range []string{"", "-wal", "-journal"} {
			if info, err := os.Stat(path + side); err == nil {
				add(side, info)
			}
		}
	} else if filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && formats.IsStaging(e.Name()):
			return fs.SkipDir
		case e.IsDir() || strings.HasSuffix(p, "-shm"):
			return nil
		}
		info, err := os.Stat(p)
		if err == nil {
			add(p, info)
		}
		return nil // a dangling link, or just removed
	}) != nil {
		old = false
	}
	if !old {
		return "", newest
	}
	return hex.EncodeToString(sum.Sum(nil)), newest
}

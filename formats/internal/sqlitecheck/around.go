package sqlitecheck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// around asks about the file as a whole, and about the logs beside it.
func (c *check) around(ctx context.Context, path string, m *sqlitefile.Image) error {
	at := store.Addr{File: c.file}
	if over := m.Bytes - int64(m.Pages)*int64(m.Page); over > 0 && !m.Hot {
		c.q.Reportf("RH104", at, "%v after %v", rule.Count(over, "byte"), rule.Count(int64(m.Pages), "page"))
	}
	if !m.UTF8() {
		c.q.Reportf("RH117", at, "")
	}
	if !m.Hot {
		return nil
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	head := make([]byte, 1)
	if err := beginning(path+"-journal", head); err == nil && head[0] != 0 {
		c.q.Reportf("RH115", store.Addr{File: side(c.file, path, "-journal")}, "")
	}
	what, err := Log(ctx, path+"-wal")
	if err != nil || what == "" {
		return err
	}
	// A frame that is just being written looks the same, but not for long.
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(settled):
	}
	again, err := Log(ctx, path+"-wal")
	if err != nil || again != what {
		return err
	}
	c.q.Reportf("RH114", store.Addr{File: side(c.file, path, "-wal")}, what)
	return nil
}

// settled is how long a frame takes at most to be written.
const settled = 100 * time.Millisecond

// side names a log of a file inside the store.
func side(file, path, end string) string {
	if file == "" {
		file = filepath.Base(path)
	}
	return file + end
}

func beginning(path string, b []byte) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.ReadFull(f, b)
	return err
}

// Log reads a write-ahead log, and returns what is wrong with it, "" if nothing is or there
// is none. Frames of an older round behind the newest one are what every log has; frames
// of this round behind one that does not fit are what SQLite does not see.
func Log(ctx context.Context, path string) (what string, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, sqlitepages.LogHeader)
	if n, err := io.ReadFull(f, head); err != nil {
		if n == 0 {
			return "", nil
		}
		return fmt.Sprintf("the header has %d of %d bytes", n, len(head)), nil
	}
	frames, problem := sqlitepages.NewFrames(head)
	if problem != "" {
		return problem, nil
	}
	broken, commits := 0, 0
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		err := frames.Next(f)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return "", err
		}
		if err != nil || !frames.Current() { // the end, a frame that is being written, or one of an older round
			break
		}
		if broken == 0 && !frames.Valid() {
			broken = n
		}
		if broken > 0 && frames.Commits() {
			commits++
		}
	}
	if commits == 0 {
		return "", nil
	}
	return fmt.Sprintf("frame %d has a wrong checksum, with commits in it or after it", broken), nil
}

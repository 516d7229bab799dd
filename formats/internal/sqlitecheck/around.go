package sqlitecheck

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"rehome/formats/internal/sqlitefile"
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
	head := make([]byte, 32)
	if n, err := io.ReadFull(f, head); err != nil {
		if n == 0 {
			return "", nil
		}
		return fmt.Sprintf("the header has %d of 32 bytes", n), nil
	}
	magic, page := binary.BigEndian.Uint32(head), int(binary.BigEndian.Uint32(head[8:]))
	var order binary.ByteOrder = binary.LittleEndian
	if magic&1 != 0 {
		order = binary.BigEndian
	}
	if magic&^1 != 0x377f0682 || page < 512 || page > 65536 || page&(page-1) != 0 {
		return "invalid header", nil
	}
	sum := checksum(order, [2]uint32{}, head[:24])
	if sum != [2]uint32{binary.BigEndian.Uint32(head[24:]), binary.BigEndian.Uint32(head[28:])} {
		return "wrong header checksum", nil
	}
	return frames(ctx, f, head, page, order, sum)
}

func frames(ctx context.Context, f io.Reader, head []byte, page int, order binary.ByteOrder, sum [2]uint32) (string, error) {
	frame := make([]byte, 24+page)
	broken, behind := 0, 0
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if got, err := io.ReadFull(f, frame); err != nil {
			if err != io.EOF && err != io.ErrUnexpectedEOF {
				return "", err
			}
			if broken == 0 && got >= 16 && string(frame[8:16]) == string(head[16:24]) {
				return "", nil // being written, or cut off before its commit: both are usual
			}
			break
		}
		if string(frame[8:16]) != string(head[16:24]) {
			break // of an older round
		}
		if broken > 0 {
			if binary.BigEndian.Uint32(frame[4:]) != 0 {
				behind++
			}
			continue
		}
		next := checksum(order, checksum(order, sum, frame[:8]), frame[24:])
		if next != [2]uint32{binary.BigEndian.Uint32(frame[16:]), binary.BigEndian.Uint32(frame[20:])} {
			broken = n
			if binary.BigEndian.Uint32(frame[4:]) != 0 {
				behind++
			}
		}
		sum = next
	}
	if broken == 0 || behind == 0 {
		return "", nil
	}
	return fmt.Sprintf("frame %d has a wrong checksum, with commits in it or after it", broken), nil
}

// checksum is SQLite's for its logs.
func checksum(order binary.ByteOrder, s [2]uint32, b []byte) [2]uint32 {
	for ; len(b) >= 8; b = b[8:] {
		s[0] += order.Uint32(b) + s[1]
		s[1] += order.Uint32(b[4:]) + s[0]
	}
	return s
}

package check

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/rule"
	"rehome/formats/store"
)

const (
	windowSize = 1 << 20 // bytes scanned at a time
	overlap    = 8 << 10 // repeated if a line is longer; a multiple of 4, to stay aligned with base64
)

// files searches the files of a store as text. It reports whether some were
// skipped because they are compressed.
func (s *secretSearch) files(ctx context.Context) (packed bool, err error) {
	if !s.one.loc.IsDir() {
		return s.file(ctx, s.one.loc.Path, "")
	}
	err = filepath.WalkDir(s.one.loc.Path, func(at string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && at != s.one.loc.Path:
			return nil // deleted during the search
		case err != nil:
			return &formats.Error{At: at, Err: formats.Cause(err)}
		case e.IsDir() && e.Name() == ".git":
			return fs.SkipDir
		case !e.Type().IsRegular():
			return nil
		}
		rel, err := filepath.Rel(s.one.loc.Path, at)
		if err != nil {
			return err
		}
		p, err := s.file(ctx, at, filepath.ToSlash(rel))
		packed = packed || p
		return err
	})
	return packed, err
}

// file searches a file in windows that end with a line, if lines are short
// enough.
func (s *secretSearch) file(ctx context.Context, name, rel string) (packed bool, err error) {
	f, err := os.Open(name)
	if err != nil {
		return false, &formats.Error{At: name, Err: formats.Cause(err)}
	}
	defer f.Close()
	p := fileWindow{file: rel, line: 1, reported: map[int64]bool{}}
	for {
		n, err := io.ReadFull(f, p.space())
		p.buf = p.buf[:p.kept+n]
		last := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !last {
			return false, &formats.Error{At: name, Err: formats.Cause(err)}
		}
		if p.from == 0 && isCompressed(p.buf) {
			return true, nil
		}
		whole, next := p.cut(last)
		s.scan(ctx, p.buf[:whole], p.at)
		if last || ctx.Err() != nil {
			return false, ctx.Err()
		}
		p.advance(next)
	}
}

// fileWindow is the part of a file in memory.
type fileWindow struct {
	file     string
	buf      []byte
	kept     int            // bytes of buf that are from the previous window
	from     int64          // offset of buf in the file
	line     int            // line at the start of buf
	col      int64          // and its column
	reported map[int64]bool // offsets in the overlap that were reported
}

// space returns the free space after the bytes that were kept.
func (p *fileWindow) space() []byte {
	if p.buf == nil {
		p.buf = make([]byte, windowSize)
	}
	p.buf = p.buf[:windowSize]
	return p.buf[p.kept:]
}

// cut returns how much to scan and where the next window begins: after the last
// line break or, in a line that is longer than a window, at the overlap,
// aligned with the base64 that it may be in.
func (p *fileWindow) cut(last bool) (whole, next int) {
	if last {
		return len(p.buf), len(p.buf)
	}
	if end := bytes.LastIndexByte(p.buf, '\n') + 1; end > windowSize/2 {
		return end, end
	}
	next = len(p.buf) - overlap
	begin := len(p.buf)
	for begin > 0 && isBase64(p.buf[begin-1]) {
		begin--
	}
	if begin < next {
		next = begin + (next-begin)&^3
	}
	return len(p.buf), next
}

func (p *fileWindow) advance(next int) {
	before := p.buf[:next]
	if end := bytes.LastIndexByte(before, '\n'); end >= 0 {
		p.line += bytes.Count(before, []byte("\n"))
		p.col = int64(next - end - 1)
	} else {
		p.col += int64(next)
	}
	p.from += int64(next)
	for at := range p.reported {
		if at < p.from {
			delete(p.reported, at)
		}
	}
	p.kept = copy(p.buf, p.buf[next:])
}

// at returns the place of an offset in the window, and whether it is new.
func (p *fileWindow) at(offset int64) (f rule.Finding, news bool) {
	news = !p.reported[p.from+offset]
	p.reported[p.from+offset] = true
	before := p.buf[:offset]
	col := p.col + offset
	if end := bytes.LastIndexByte(before, '\n'); end >= 0 {
		col = offset - int64(end) - 1
	}
	at := store.Addr{File: p.file, Line: p.line + bytes.Count(before, []byte("\n"))}
	return rule.Finding{At: at, Message: "byte %d of the line", Args: []any{col}}, news
}

// isCompressed recognizes gzip and zstd by their first bytes.
func isCompressed(b []byte) bool {
	return bytes.HasPrefix(b, []byte{0x1f, 0x8b}) || bytes.HasPrefix(b, []byte{0x28, 0xb5, 0x2f, 0xfd})
}

// encodedRun is a run of digits that encodes other bytes.
type encodedRun struct {
	offset int64 // where it begins
	bytes  []byte
}

// minRun is the min number of digits: a shorter secret in another encoding is
// not worth the time.
const minRun = 64

// encodedRuns yields the decoded runs of base64 or hexadecimal digits. A path
// looks like base64, too, and decodes to noise, in which nothing is found.
func encodedRuns(b []byte) iter.Seq[encodedRun] {
	return func(yield func(encodedRun) bool) {
		for i := 0; i < len(b); {
			if !isBase64(b[i]) {
				i++
				continue
			}
			end := i
			for end < len(b) && isBase64(b[end]) {
				end++
			}
			if end-i >= minRun {
				if out := decodeRun(b[i:end]); out != nil && !yield(encodedRun{int64(i), out}) {
					return
				}
			}
			i = end
		}
	}
}

func isBase64(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '+' || c == '/' || c == '-' || c == '_'
}

func decodeRun(digits []byte) []byte {
	out := make([]byte, len(digits))
	if n, err := hex.Decode(out, digits[:len(digits)&^1]); err == nil {
		return out[:n]
	}
	enc := base64.RawStdEncoding
	if bytes.ContainsAny(digits, "-_") {
		enc = base64.RawURLEncoding
	}
	if len(digits)%4 == 1 {
		digits = digits[:len(digits)-1]
	}
	n, err := enc.Decode(out, digits)
	if err != nil {
		return nil
	}
	return out[:n]
}

// shards returns the files of a table in an archive: one file, or a folder of
// them.
func (s *secretSearch) shards(base string) (out []string) {
	const ending = ".ndjson"
	if info, err := os.Stat(filepath.Join(s.one.loc.Path, filepath.FromSlash(base+ending))); err == nil && info.Mode().IsRegular() {
		out = append(out, base+ending)
	}
	root := filepath.Join(s.one.loc.Path, filepath.FromSlash(base))
	filepath.WalkDir(root, func(at string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && strings.HasSuffix(at, ending) {
			if rel, err := filepath.Rel(root, at); err == nil {
				out = append(out, path.Join(base, filepath.ToSlash(rel)))
			}
		}
		return nil
	})
	return out
}

// lineWithPrefix returns the number of the first line with a prefix, or 0.
func lineWithPrefix(name, begins string) int {
	f, err := os.Open(name)
	if err != nil {
		return 0
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<16)
	for n, fresh := 1, true; ; {
		part, err := r.ReadSlice('\n')
		if fresh && bytes.HasPrefix(part, []byte(begins)) {
			return n
		}
		fresh = err == nil
		if fresh {
			n++
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return 0
		}
	}
}

package convert

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
	window  = 1 << 20 // what is scanned at once
	overlap = 8 << 10 // of it again, where a line is longer than that; a multiple of 4, so that base64 stays in step
)

// files scans the files of a store as text. packed reports some that are
// compressed, which are not.
func (s *secretive) files(ctx context.Context) (packed bool, err error) {
	if !s.one.loc.IsDir() {
		return s.file(ctx, s.one.loc.Path, "")
	}
	err = filepath.WalkDir(s.one.loc.Path, func(at string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && at != s.one.loc.Path:
			return nil // it went meanwhile
		case err != nil:
			return &formats.Error{At: at, Err: bare(err)}
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

// file scans a file in windows that end with a line, where lines allow that.
func (s *secretive) file(ctx context.Context, name, rel string) (packed bool, err error) {
	f, err := os.Open(name)
	if err != nil {
		return false, &formats.Error{At: name, Err: bare(err)}
	}
	defer f.Close()
	p := pane{file: rel, line: 1, told: map[int64]bool{}}
	for {
		n, err := io.ReadFull(f, p.grow())
		p.buf = p.buf[:p.kept+n]
		last := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !last {
			return false, &formats.Error{At: name, Err: bare(err)}
		}
		if p.from == 0 && compressed(p.buf) {
			return true, nil
		}
		whole, next := p.cut(last)
		s.look(ctx, p.buf[:whole], p.at)
		if last || ctx.Err() != nil {
			return false, ctx.Err()
		}
		p.move(whole, next)
	}
}

// pane is what of a file is before our eyes.
type pane struct {
	file string
	buf  []byte
	kept int            // bytes of buf that were there before it was filled up
	from int64          // offset of buf in the file
	line int            // that buf begins in,
	col  int64          // and where in it
	told map[int64]bool // offsets in the overlap that have been told
}

// grow is the room behind what was kept.
func (p *pane) grow() []byte {
	if p.buf == nil {
		p.buf = make([]byte, window)
	}
	p.buf = p.buf[:window]
	return p.buf[p.kept:]
}

// cut says how much is to be scanned, and where the next pane begins: behind
// the last line end, or, of a line that is longer than a pane, a little before
// the end, in step with the base64 that it may be in.
func (p *pane) cut(last bool) (whole, next int) {
	if last {
		return len(p.buf), len(p.buf)
	}
	if end := bytes.LastIndexByte(p.buf, '\n') + 1; end > window/2 {
		return end, end
	}
	next = len(p.buf) - overlap
	begin := len(p.buf)
	for begin > 0 && digit64(p.buf[begin-1]) {
		begin--
	}
	if begin < next {
		next = begin + (next-begin)&^3
	}
	return len(p.buf), next
}

func (p *pane) move(whole, next int) {
	before := p.buf[:next]
	if end := bytes.LastIndexByte(before, '\n'); end >= 0 {
		p.line += bytes.Count(before, []byte("\n"))
		p.col = int64(next - end - 1)
	} else {
		p.col += int64(next)
	}
	p.from += int64(next)
	for at := range p.told {
		if at < p.from {
			delete(p.told, at)
		}
	}
	p.kept = copy(p.buf, p.buf[next:])
}

// at is the place of an offset in the pane, and whether it is news.
func (p *pane) at(offset int64) (f rule.Finding, news bool) {
	news = !p.told[p.from+offset]
	p.told[p.from+offset] = true
	before := p.buf[:offset]
	col := p.col + offset
	if end := bytes.LastIndexByte(before, '\n'); end >= 0 {
		col = offset - int64(end) - 1
	}
	at := store.Addr{File: p.file, Line: p.line + bytes.Count(before, []byte("\n"))}
	return rule.Finding{At: at, Message: "byte %d of the line", Args: []any{col}}, news
}

// compressed knows gzip and zstd by how they begin.
func compressed(b []byte) bool {
	return bytes.HasPrefix(b, []byte{0x1f, 0x8b}) || bytes.HasPrefix(b, []byte{0x28, 0xb5, 0x2f, 0xfd})
}

// run is a piece of bytes that stands for other bytes.
type run struct {
	offset int64 // where it begins
	bytes  []byte
}

// shortestRun is how many digits there are at least: a shorter credential in
// another alphabet is not worth the time.
const shortestRun = 64

// encoded yields what stands in base64 or in hexadecimal digits. Text between
// slashes, such as a path, passes for base64 as well and decodes to noise, in
// which nothing is found.
func encoded(b []byte) iter.Seq[run] {
	return func(yield func(run) bool) {
		for i := 0; i < len(b); {
			if !digit64(b[i]) {
				i++
				continue
			}
			end := i
			for end < len(b) && digit64(b[end]) {
				end++
			}
			if end-i >= shortestRun {
				if out := decoded(b[i:end]); out != nil && !yield(run{int64(i), out}) {
					return
				}
			}
			i = end
		}
	}
}

func digit64(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '+' || c == '/' || c == '-' || c == '_'
}

func decoded(digits []byte) []byte {
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

// shards are the files of a table in an archive, by its name: one, or a folder
// of them.
func (s *secretive) shards(base string) (out []string) {
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

// lineThat is the number of the line that begins so, 0 if none does.
func lineThat(name, begins string) int {
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

package linerepair

import (
	"bytes"
	"context"
	"errors"
	"os"
	"unicode/utf8"

	"rehome/formats"
	"rehome/formats/internal/lines"
	"rehome/formats/rule"
	"rehome/internal/rawjson"
)

// Text repairs the findings of one file that concern it as text, and reports whether
// there were any. No other repair of that file makes sense in the same round: line
// numbers change.
func Text(ctx context.Context, path string, r *formats.Repair) (done bool, err error) {
	t, mark := texts{r: r, byLine: map[int]rule.Finding{}}, true
	for _, f := range r.Findings {
		if rule.Lookup(f.Rule).Layer != rule.Container {
			continue
		}
		if f.Rule == "RH123" {
			return utf16ToUTF8(path, f, r)
		}
		if was, ok := t.byLine[f.At.Line]; !ok || was.Rule == "RH124" {
			t.byLine[f.At.Line] = f
		}
		if f.Rule == "RH124" {
			mark = false
			r.Did(f, "removed the byte order mark", "")
		}
	}
	if len(t.byLine) == 0 {
		return false, nil
	}
	return true, rewrite(ctx, path, r, mark, t.line)
}

type texts struct {
	r      *formats.Repair
	byLine map[int]rule.Finding
}

// line writes one line as it should be.
func (t *texts) line(w *Writer, l *lines.Line) error {
	f, wrong := t.byLine[l.Number]
	if !wrong {
		return w.Copy(l)
	}
	b := l.Bytes
	switch f.Rule {
	case "RH124":
		return w.Copy(l)
	case "RH127":
		t.r.Did(f, "deleted the incomplete last line", rule.Count(int64(len(b)), "byte").String()+" of an incomplete record")
	case "RH135":
		t.split(w, f, l)
	case "RH145":
		t.r.Did(f, "spelled the line separators as escapes", "")
		b = bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\u2028"), []byte(`\u2028`)), []byte("\u2029"), []byte(`\u2029`))
		return w.Copy(&lines.Line{Bytes: b, Ended: l.Ended})
	case "RH136":
		t.r.Did(f, "deleted the zero bytes", "")
	case "RH137":
		t.r.Did(f, "replaced bytes that are not UTF-8 by U+FFFD, as clients read them", "those bytes")
		return w.Copy(&lines.Line{Bytes: bytes.ToValidUTF8(b, []byte("\ufffd")), Ended: l.Ended})
	case "RH131":
		if bare := bytes.Trim(b, "\x00"); len(bare) < len(b) && whole(bare) {
			t.r.Did(f, "removed the zero bytes around the record", "")
			w.Line(bare)
			return nil
		}
		if lines.Conflict(b) { // both sides of a merge would become one conversation
			return w.Copy(l)
		}
		fallthrough
	default:
		lost := rule.Count(int64(len(b)), "byte").String() + " of a record"
		if l.Long {
			lost = "more than " + lost
		}
		t.r.Did(f, "deleted the unusable line", lost)
	}
	return nil
}

// whole reports whether a text is one JSON value.
func whole(b []byte) bool {
	end, err := rawjson.End(b, 0)
	return err == nil && len(bytes.TrimSpace(b[end:])) == 0
}

// split writes each of the records on a line on its own. What is left and not JSON
// becomes a line that the next round looks at.
func (t *texts) split(w *Writer, f rule.Finding, l *lines.Line) {
	rest := bytes.TrimSpace(l.Bytes)
	for len(rest) > 0 {
		end, err := rawjson.End(rest, 0)
		if err != nil || end == 0 {
			end = len(rest)
		}
		w.Line(rest[:end])
		rest = bytes.TrimSpace(rest[end:])
	}
	t.r.Did(f, "put each record on a line of its own", "")
}

// maxUTF16 is how long a file may be that is decoded in memory.
const maxUTF16 = 256 << 20

// utf16ToUTF8 rewrites a file in UTF-16 that becomes JSON lines in UTF-8.
func utf16ToUTF8(path string, f rule.Finding, r *formats.Repair) (bool, error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxUTF16 {
		return false, err
	}
	b, err := os.ReadFile(path)
	if err != nil || len(b) < 4 || len(b)%2 != 0 {
		return false, err
	}
	big := b[0] == 0xfe || b[0] == 0
	out := make([]byte, 0, len(b)/2)
	var half rune
	for i := 0; i < len(b); i += 2 {
		u := rune(b[i]) | rune(b[i+1])<<8
		if big {
			u = rune(b[i+1]) | rune(b[i])<<8
		}
		switch {
		case i == 0 && u == 0xfeff:
		case u >= 0xd800 && u < 0xdc00 && half == 0:
			half = u
		case u >= 0xdc00 && u < 0xe000 && half != 0:
			out = utf8.AppendRune(out, (half-0xd800)<<10+(u-0xdc00)+0x10000)
			half = 0
		case half != 0 || u >= 0xd800 && u < 0xe000:
			return false, nil // not UTF-16
		default:
			out = utf8.AppendRune(out, u)
		}
	}
	first, _, _ := bytes.Cut(out, []byte("\n"))
	if half != 0 || !whole(first) {
		return false, nil
	}
	fresh := path + formats.StagingMark + "new"
	if err := os.WriteFile(fresh, out, info.Mode().Perm()); err != nil {
		return false, errors.Join(err, os.Remove(fresh))
	}
	if err := errors.Join(os.Chtimes(fresh, info.ModTime(), info.ModTime()), os.Rename(fresh, path)); err != nil {
		return false, err
	}
	r.Did(f, "converted the file from UTF-16 to UTF-8", "")
	return true, nil
}

// Repair repairs the files of a format whose records need no repair beyond their text.
func Repair(ctx context.Context, path string, r *formats.Repair) error {
	_, err := Text(ctx, path, r)
	return err
}

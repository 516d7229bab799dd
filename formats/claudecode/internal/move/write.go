package move

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"rehome/formats"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/shape"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lines"
	"rehome/internal/rawjson"
)

const maxLine = jsonl.MaxLine

// The members, beside cwd, by which the client finds a session and its files.
const (
	movedName    = "relocatedCwd"  // overrides cwd
	checkpointIn = "realParentDir" // of a file in a checkpoint, inside backup or snapshot
)

// member is the value of such a member in a file.
type member struct {
	name, text string
	from, to   int64
}

// find returns such members of a line, in order.
func find(l lines.Line) (out []member) {
	if l.Long {
		return nil
	}
	match := func(name []byte, depth int) string {
		switch s := string(name); {
		case depth == 1 && (s == shape.Names[shape.Cwd] || s == movedName || s == "type"), depth > 1 && s == checkpointIn:
			return s
		}
		return ""
	}
	checkpoint := false
	err := rawjson.Find(l.Bytes, match, func(m rawjson.Member) bool {
		text := rawjson.Text(l.Bytes[m.From:m.To])
		if m.Name == "type" {
			checkpoint = text == "file-history-snapshot" || text == "file-history-delta"
		} else if text != "" {
			out = append(out, member{m.Name, text, l.Offset + int64(m.From), l.Offset + int64(m.To)})
		}
		return true
	})
	if err != nil {
		return nil // the client does not read it either
	}
	kept := out[:0]
	for _, m := range out {
		if m.name != checkpointIn || checkpoint {
			kept = append(kept, m)
		}
	}
	return kept
}

// File is formats.Mover.File: in a file of lines, the folders are replaced where they stand,
// and all other bytes are copied.
func File(ctx context.Context, from, to string, mv *formats.Moved) (done bool, err error) {
	if filepath.Ext(from) != outline.Ending {
		return false, nil
	}
	return true, write(ctx, from, to, mv)
}

func write(ctx context.Context, from, to string, mv *formats.Moved) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	c := &copier{in: io.NewSectionReader(in, 0, 1<<62), out: bufio.NewWriterSize(out, 1<<18)}
	if err := c.lines(ctx, in, mv); err != nil {
		return err
	}
	if _, err := io.Copy(c.out, c.in); err != nil {
		return err
	}
	return c.out.Flush()
}

// copier copies a file, but for some values.
type copier struct {
	in  *io.SectionReader // what was not copied yet
	at  int64             // where that begins
	out *bufio.Writer
}

func (c *copier) lines(ctx context.Context, in io.Reader, mv *formats.Moved) error {
	for l, err := range lines.Each(ctx, in, maxLine) {
		if err != nil {
			return err
		}
		for _, m := range find(l) {
			to, in := mv.Path(m.text)
			if !in {
				continue
			}
			if _, err := io.CopyN(c.out, c.in, m.from-c.at); err != nil {
				return err
			}
			if _, err := c.out.Write(rawjson.Quote(nil, []byte(to))); err != nil {
				return err
			}
			if _, err := c.in.Seek(m.to, io.SeekStart); err != nil {
				return err
			}
			c.at = m.to
		}
	}
	return nil
}

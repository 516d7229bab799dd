package write

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"rehome/formats"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/shape"
	"rehome/formats/internal/lines"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// tail is what lines that are appended to a file continue.
type tail struct {
	id, parent string // of the session, and of its last line
	lines      int64
	ended      bool              // the last line ends with a line feed
	last       int64             // time of the last line
	titles     map[string][]byte // the last line of each kind of title
}

// titleKinds are the kinds of titles that are written again, because the client looks
// for them only at the ends of a file.
func titleKinds() []string { return []string{"ai-title", "custom-title"} }

// extend appends the messages of a session to the session in the file at SessionBuild.Path,
// as its client does: after the last line of the branch that the client continues.
func (k *sink) extend(ctx context.Context, s *session.Session, b formats.SessionBuild, d *formats.Draft) error {
	f, err := os.OpenFile(b.Path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	t, err := readTail(ctx, f)
	if err != nil {
		return &formats.Error{Format: outline.FormatName, At: b.Path, Err: err, Hint: "run `rehome check` on this file"}
	}
	e := newEncoder(s, b)
	e.sink, e.w = k, bufio.NewWriterSize(f, 256<<10)
	e.id, e.parent, e.lines, e.last, e.begun = t.id, t.parent, t.lines, max(t.last, e.last), true
	if !t.ended {
		e.w.WriteByte('\n')
	}
	if err := e.messages(ctx); err != nil {
		return err
	}
	e.close()
	for _, kind := range titleKinds() {
		if line := t.titles[kind]; line != nil {
			e.put(line)
		}
	}
	d.Tokens = e.context.tokens()
	return errors.Join(e.files(ctx), e.w.Flush(), f.Sync())
}

func readTail(ctx context.Context, f *os.File) (*tail, error) {
	tree, err := outline.ReadTree(ctx, lines.Each(ctx, f, outline.MaxLine), false)
	if err != nil {
		return nil, err
	}
	t := &tail{id: tree.ID, lines: int64(len(tree.Lines)), titles: map[string][]byte{}}
	if tree.Last.Known() {
		t.last = tree.Last.Millis()
	}
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, end-1); err != nil {
		return nil, err
	}
	t.ended = last[0] == '\n'
	read := func(o *outline.Line) ([]byte, error) {
		b := make([]byte, o.Size)
		_, err := f.ReadAt(b, o.Offset)
		return b, err
	}
	var live *outline.Line
	for _, i := range tree.LinesOf(0) {
		o := &tree.Lines[i]
		end := o.Branch == outline.Live && o.Kind.Chained() && o.Kind != shape.Progress
		if end && (live == nil || o.Offset > live.Offset) {
			live = o
		}
	}
	for i := range tree.Lines {
		if o := &tree.Lines[i]; o.Kind == shape.Title {
			b, err := read(o)
			if err != nil {
				return nil, err
			}
			t.titles[rawjson.TextAt(b, "type")] = b
		}
	}
	switch {
	case live == nil:
		return nil, errors.New("there are no messages")
	case tree.Torn:
		return nil, errors.New("the last line is incomplete")
	case !formats.IsUUID(t.id):
		return nil, fmt.Errorf("session id %q is not a UUID", t.id)
	}
	b, err := read(live)
	if err == nil && b[0] != '{' {
		err = errors.New("the last message is malformed")
	}
	t.parent = rawjson.TextAt(b, "uuid")
	if err == nil && !formats.IsUUID(t.parent) {
		err = fmt.Errorf("uuid %q of the last message is invalid", t.parent)
	}
	return t, err
}

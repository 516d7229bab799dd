package documents

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
)

// Joiner writes the items of a set as its file. They come in the order of Ord, Kind and Part,
// except that those of Tail are last.
type Joiner struct {
	set     Set
	out     *bufio.Writer
	feed    bool // the last line still lacks its line feed
	last    int64
	bare    int64
	spelled []byte
	at      int64 // the Ord of spelled
	buf     []byte
}

// NewJoiner returns a Joiner that writes to w.
func NewJoiner(set Set, w io.Writer) *Joiner {
	return &Joiner{set: set, out: bufio.NewWriterSize(w, 256<<10), bare: -1}
}

// Put writes an item. Errors of the writer are returned by Close at the latest.
func (j *Joiner) Put(it *Item) error {
	switch it.Kind {
	case Spelled:
		if it.Part == 0 {
			j.spelled, j.at = j.spelled[:0], it.Ord
		}
		if j.spelled = append(j.spelled, it.Raw...); len(j.spelled) > maxLine {
			return fmt.Errorf("line %d is longer than %d bytes", it.Ord, maxLine)
		}
		return nil
	case Bare:
		j.bare = it.Ord
		return nil
	case Tail:
		if it.Ord < j.last { // documents were appended
			return nil
		}
	case Document:
		j.line()
		j.document(it)
		j.feed, j.last = true, it.Ord
		return nil
	case Raw:
	default:
		return fmt.Errorf("line %d: unknown kind %d", it.Ord, it.Kind)
	}
	if it.Part == 0 {
		j.line()
	}
	if n := len(it.Raw); n > 0 {
		j.out.Write(it.Raw)
		j.feed = it.Raw[n-1] != '\n'
	}
	// A raw line without a line feed is the end of its file, unless documents follow.
	j.bare, j.last = it.Ord, it.Ord
	return nil
}

// line ends the last line, if something follows.
func (j *Joiner) line() {
	if j.feed {
		j.out.WriteByte('\n')
	}
	j.feed = false
}

func (j *Joiner) document(it *Item) {
	r := &it.Row
	if j.set != Checkpoints {
		// A line feed in JSON that another program wrote is whitespace.
		if bytes.IndexByte(r.Doc, '\n') >= 0 {
			r.Doc = bytes.ReplaceAll(r.Doc, []byte("\n"), []byte(" "))
		}
		j.out.Write(r.Doc)
		return
	}
	if len(j.spelled) > 0 && j.at == it.Ord {
		was, _, ok := parse(j.set, j.spelled, &j.buf)
		if ok && bytes.Equal(was.Agent, r.Agent) && bytes.Equal(was.Blob, r.Blob) && bytes.Equal(was.Data, r.Data) {
			j.out.Write(j.spelled)
			return
		}
	}
	j.buf = appendHead(j.buf[:0], r)
	j.out.Write(j.buf)
	e := base64.NewEncoder(base64.StdEncoding, j.out)
	e.Write(r.Data)
	e.Close()
	j.out.WriteString(`"}`)
}

// Close writes what is left.
func (j *Joiner) Close() error {
	if j.feed && j.bare != j.last {
		j.line()
	}
	return j.out.Flush()
}

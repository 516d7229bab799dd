package sidecar

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"unicode/utf8"

	"rehome/formats/internal/digest"
	"rehome/formats/session"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

const (
	header = `{"rehome":"sidecar","version":1,"of":"canonical"}`
	// MaxLine bounds what is held of a sidecar.
	MaxLine = 128 << 20
	// writeSize is what goes to the disk at once.
	writeSize = 64 << 10
)

// record is the line of a session.
type record struct {
	Session string `json:"session"`
	Agent   string `json:"agent"`
	Within  string `json:"within,omitempty"` // of a subagent: the session whose state precedes
	Lines   string `json:"lines"`            // the digest of the lines of the session
	Root    string `json:"root,omitempty"`   // of the state; "" for a subagent that has other sources, too
	Extras  int    `json:"extras,omitempty"`
	Partial bool   `json:"partial,omitempty"`
}

func (r *record) line() []byte {
	w := new(bytes.Buffer)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.Encode(r) // strings and numbers
	return w.Bytes()
}

// Recorder writes the sidecars of sessions, each parent before its subagents.
type Recorder struct {
	path   string // of the current family; "" if it has none
	root   record
	family map[string]bool
}

// Sidecar is a sidecar as it was written. Lines of subagents may follow.
type Sidecar struct {
	Size   int64
	Digest store.Digest
}

// Record keeps the state of a session whose lines have a digest. It returns nil if there
// is no new sidecar: the session has no state, or is a subagent of the one before.
func (r *Recorder) Record(ctx context.Context, path string, s *session.Session, lines store.Digest) (*Sidecar, error) {
	line := record{Session: s.ID, Agent: s.Agent, Lines: lines.String()}
	if s.Parent != nil && r.path != "" && s.Agent == r.root.Agent && r.family[s.Parent.Session] {
		r.family[s.ID] = true
		if line.Within = r.root.Session; s.Graph != nil {
			if _, whole, err := s.Graph.Copy(ctx, nil); err != nil {
				return nil, err
			} else if whole {
				line.Root, line.Extras, line.Partial = r.root.Root, s.Graph.Extras, s.Graph.Partial
			}
		}
		return nil, extend(r.path, line.line())
	}
	*r = Recorder{}
	if s.Graph == nil {
		return nil, nil
	}
	root, whole, err := s.Graph.Copy(ctx, nil)
	if err != nil || !whole || root == [32]byte{} {
		return nil, err
	}
	line.Root, line.Extras, line.Partial = hex.EncodeToString(root[:]), s.Graph.Extras, s.Graph.Partial
	out, err := write(ctx, path, &line, s.Graph)
	if out != nil {
		*r = Recorder{path: path, root: line, family: map[string]bool{s.ID: true}}
	}
	return out, err
}

// extend adds a line to the sidecar of a parent, unless that was withheld.
func extend(path string, line []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Close())
}

// errTooLong is the error of a blob whose line would be too long to be read again.
var errTooLong = errors.New("blob too large for a sidecar")

func write(ctx context.Context, path string, of *record, g *session.Graph) (out *Sidecar, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err == nil {
			return
		}
		out, err = nil, errors.Join(err, os.Remove(path))
		if errors.Is(err, errTooLong) {
			err = nil // the state is rebuilt from the text
		}
	}()
	out = &Sidecar{}
	sum, w := digest.NewStream(), bufio.NewWriterSize(f, writeSize)
	put := func(line []byte) error {
		sum.Write(line)
		out.Size += int64(len(line))
		_, err := w.Write(line)
		return err
	}
	if err := put(append([]byte(header+"\n"), of.line()...)); err != nil {
		return nil, err
	}
	var line []byte
	_, _, err = g.Copy(ctx, func(_ context.Context, id [32]byte, data []byte) error {
		if line = appendBlob(line[:0], id, data); len(line) > MaxLine {
			return errTooLong
		}
		return put(line)
	})
	out.Digest = sum.Sum()
	return out, errors.Join(err, w.Flush())
}

func appendBlob(line []byte, id [32]byte, data []byte) []byte {
	line = hex.AppendEncode(append(line, `{"blob":"`...), id[:])
	if utf8.Valid(data) {
		line = rawjson.Quote(append(line, `","text":`...), data)
	} else {
		line = base64.StdEncoding.AppendEncode(append(line, `","base64":"`...), data)
		line = append(line, '"')
	}
	return append(line, '}', '\n')
}

// Verify compares the file with what was written to it.
func (s *Sidecar) Verify(path string) (same bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	sum := digest.NewStream()
	n, err := io.Copy(sum, io.LimitReader(f, s.Size))
	return n == s.Size && sum.Sum() == s.Digest, err
}

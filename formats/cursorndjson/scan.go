package cursorndjson

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/tally"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// scan is one pass over the store.
type scan struct {
	*reader
	ctx   context.Context
	tally *tally.Tally
	batch *store.Batch
	line  []byte // of which the beginning was in an earlier piece
	moved []byte // an agent's line with another workspace
	n     int64  // lines so far
}

func (s *scan) run() error {
	agents := int64(0)
	for set := range s.schema.Sets {
		if err := s.file(set); err != nil {
			return s.fail(s.schema.Sets[set].File, err)
		}
		if set == int(sdkdoc.Agent) {
			agents = s.n
		}
	}
	s.residue(agents)
	return s.ctx.Err()
}

// file reads one file in pieces.
func (s *scan) file(set int) error {
	f, err := s.open(s.schema.Sets[set].File)
	if err != nil || f == nil {
		return err
	}
	defer f.Close()
	s.n, s.line = 0, s.line[:0]
	take := s.lines
	if s.schema.Sets[set].Kind == store.Plain {
		take = s.piece
	}
	buffer := make([]byte, store.PieceBytes)
	some := false
	for {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		n, err := io.ReadFull(f, buffer)
		if n > 0 {
			some = true
			if err := take(set, buffer[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if s.schema.Sets[set].Kind == store.Lines && (len(s.line) > 0 || !some) {
		if err := s.add(set, store.Blob, s.line); err != nil {
			return err
		}
	}
	return s.give()
}

// open opens a file, nil if it is not there.
func (s *scan) open(p string) (*os.File, error) {
	// Looked at first: opening a pipe would wait for ever.
	info, err := s.root.Stat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	}
	f, err := s.root.Open(p)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err != nil {
		f.Close()
		return nil, err
	}
	s.was[p] = info
	return f, nil
}

// lines cuts a piece of a file into lines.
func (s *scan) lines(set int, piece []byte) error {
	for {
		i := bytes.IndexByte(piece, '\n')
		if i < 0 {
			if len(s.line)+len(piece) > maxLine {
				return &formats.Error{Err: fmt.Errorf("line %d is longer than %d MB", s.n+1, maxLine>>20)}
			}
			s.line = append(s.line, piece...)
			return nil
		}
		line := piece[:i]
		if len(s.line) > 0 {
			s.line = append(s.line, line...)
			line = s.line
		}
		if err := s.add(set, store.Text, line); err != nil {
			return err
		}
		s.line, piece = s.line[:0], piece[i+1:]
	}
}

// add adds a line as the view wants it.
func (s *scan) add(set int, class store.Class, line []byte) error {
	s.n++
	if set == int(sdkdoc.Agent) {
		line = s.agent(line)
	}
	if s.view.Secrets == formats.WithholdSecrets {
		bare, torn := s.bare(set, line)
		if torn && class == store.Blob {
			return nil // a last line without its end: what is left of it is no line
		}
		line = bare
	}
	if s.batch == nil {
		s.batch = store.NewBatch(set, 1)
	}
	s.batch.Row(s.n)
	s.batch.AddBytes(class, line)
	if s.batch.Full() {
		return s.give()
	}
	return nil
}

// agent gives an agent another workspace, if so told.
func (s *scan) agent(line []byte) []byte {
	at := store.Addr{File: sdkdoc.Agent.File(), Line: int(s.n)}
	if s.view.Cwd != "" {
		out, changed := sdkdoc.SetCwd(s.moved[:0], line, s.view.Cwd)
		if changed {
			s.moved, line = out, out
			s.note(loss.Loss{Code: loss.WorkspaceChanged, At: at})
		}
	}
	return line
}

// bare leaves the secrets of a line out. Of a line that is torn where one
// stands nothing is left.
func (s *scan) bare(set int, line []byte) (bare []byte, torn bool) {
	bare, cuts, torn := sdkdoc.Kind(set).Strip(line)
	if torn {
		bare = nil
	}
	if torn || cuts != nil {
		at := store.Addr{File: s.schema.Sets[set].File, Line: int(s.n)}
		s.note(loss.Loss{Code: loss.SecretInLine, At: at, Args: []string{"blobEncryptionKey"}})
		if s.view.OnLeftover != nil {
			s.view.OnLeftover(sdkdoc.Omission(at, 0))
		}
	}
	return bare, torn
}

func (s *scan) note(n loss.Loss) { s.view.OnLoss.Add(n) }

// piece adds a piece of a transcript.
func (s *scan) piece(set int, piece []byte) error {
	s.batch = store.NewBatch(set, 1)
	s.batch.Row(s.n)
	s.batch.AddBytes(store.Blob, piece)
	s.n++
	return s.give()
}

func (s *scan) give() error {
	b := s.batch
	s.batch = nil
	if err := s.tally.Give(b); err != nil {
		return err
	}
	return s.ctx.Err()
}

// drop lets go of what was not given.
func (s *scan) drop() {
	if s.batch != nil {
		s.batch.Release()
	}
}

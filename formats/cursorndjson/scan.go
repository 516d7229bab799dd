package cursorndjson

import (
	"context"
	"fmt"
	"io"

	"rehome/formats"
	"rehome/formats/internal/lines"
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
	moved []byte // an agent's line with another workspace
	n     int64  // lines so far

	joined int // bytes in the buffers of all cursors

	part     *part               // of the line
	local    int                 // its number there
	resolved []store.SidecarItem // items of parts, by the numbers of the joined lines
}

func (s *scan) run() error {
	agents := int64(0)
	if s.split {
		s.deal()
	}
	for set := range s.schema.Sets {
		s.n = 0
		if s.split && set < sdkdoc.Kinds {
			if err := s.join(sdkdoc.Kind(set)); err != nil {
				return err
			}
		} else if err := s.file(set); err != nil {
			return s.fail(s.schema.Sets[set].File, err)
		}
		if set == int(sdkdoc.Agent) {
			agents = s.n
		}
	}
	s.sidecar(agents)
	return s.ctx.Err()
}

// file reads one file: by lines, or in pieces.
func (s *scan) file(set int) error {
	p := s.schema.Sets[set].File
	if real := s.real[p]; real != "" {
		p = real
	}
	f, err := s.reader.file(p)
	if err != nil || f == nil {
		return err
	}
	defer f.Close()
	if s.schema.Sets[set].Kind == store.Plain {
		return s.pieces(set, f)
	}
	s.part = s.parts[0]
	for l, err := range lines.Each(s.ctx, f, sdkdoc.MaxLine) {
		if err != nil {
			return err
		}
		if l.Long {
			return &formats.Error{Err: fmt.Errorf("line %d is longer than %d MB", l.Number, sdkdoc.MaxLine>>20)}
		}
		if lines.Conflict(l.Bytes) {
			return errConflict(l.Number)
		}
		line, class := l.Bytes, store.Text
		if s.local = l.Number; set == int(sdkdoc.Agent) {
			line = sdkdoc.CutSummary(line)
		}
		if l.Number == 1 && l.Offset > 0 {
			line = append([]byte("\ufeff"), line...) // a mark that lines passes over
		}
		if !l.Ended {
			class = store.Blob
		}
		if err := s.add(set, class, line); err != nil {
			return err
		}
	}
	if s.n == 0 {
		if err := s.add(set, store.Blob, nil); err != nil {
			return err
		}
	}
	return s.give()
}

// pieces reads a transcript.
func (s *scan) pieces(set int, f io.Reader) error {
	buffer := make([]byte, store.PieceBytes)
	for {
		n, err := io.ReadFull(f, buffer)
		if n > 0 {
			s.batch = store.NewBatch(set, 1)
			s.batch.Row(s.n)
			s.batch.AddBytes(store.Blob, buffer[:n])
			s.n++
			if err := s.give(); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return s.ctx.Err()
		case err != nil:
			return err
		}
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
	if s.view.Cwd != "" {
		out, changed := sdkdoc.SetCwd(s.moved[:0], line, s.view.Cwd)
		if changed {
			s.moved, line = out, out
			s.note(loss.Loss{Code: loss.WorkspaceChanged, At: s.place(int(sdkdoc.Agent))})
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
		s.note(loss.Loss{Code: loss.SecretInLine, At: s.place(set), Args: []string{"blobEncryptionKey"}})
		if s.view.OnLeftover != nil {
			s.view.OnLeftover(sdkdoc.Omission(at, 0))
		}
	}
	return bare, torn
}

// place returns where the line is.
func (s *scan) place(set int) store.Addr {
	return inPart(s.part, store.Addr{File: s.schema.Sets[set].File, Line: s.local})
}

func (s *scan) note(n loss.Loss) { s.view.OnLoss.Add(n) }

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

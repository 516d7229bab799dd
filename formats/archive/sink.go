package archive

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"

	"rehome/formats/internal/digest"
	"rehome/formats/internal/packed"
	"rehome/formats/store"
)

// maxPackers bounds the memory of compression, about 15 MB for each worker.
const maxPackers = 4

var errQuit = errors.New("archive: closed before Finish")

// sink writes encoded text to files, in the order of the batches.
type sink struct {
	w       *writer
	workers int
	set     int            // the set being written, -1 before the first
	out     io.WriteCloser // its file, or the stream of its database
	under   *os.File       // the file that out writes to
	stream  string         // the open compressed stream of a database; "" if none
	plain   *digest.Stream // digest of a plain file
	wrote   text           // of the plain file, or of the file or stream of a table
	shards  shards
}

func newSink(w *writer, workers int) *sink {
	return &sink{w: w, workers: workers, set: -1, shards: shards{root: w.root}}
}

func (s *sink) run() error {
	for j := range s.w.ordered {
		<-j.done
		err := s.take(j)
		s.w.idle <- j
		if err == nil {
			select {
			case <-s.w.quit:
				err = errQuit
			default:
			}
		}
		if err != nil {
			go s.drain()
			return err
		}
	}
	return nil
}

// take writes an encoded job and releases its batch.
func (s *sink) take(j *job) error {
	err := j.err
	if err == nil {
		err = s.write(j)
	}
	j.batch.Release()
	j.batch = nil
	return err
}

// drain discards jobs until the writer ends, so that Put never waits for a sink that has
// failed.
func (s *sink) drain() {
	for j := range s.w.ordered {
		<-j.done
		j.batch.Release()
		s.w.idle <- j
	}
}

func (s *sink) write(j *job) error {
	if err := s.reach(j.batch.Set); err != nil {
		return err
	}
	if s.w.schema.Sets[j.batch.Set].Kind != store.Table {
		for i := range j.batch.Rows() {
			piece := j.batch.Cell(i, 0).Bytes()
			s.wrote.bytes += int64(len(piece))
			_, _ = s.plain.Write(piece)
			if _, err := s.out.Write(piece); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range j.parts {
		p := &j.parts[i]
		lines, err := j.text[p.from:p.to], error(nil)
		if p.shard.Name != "" {
			err = s.shards.add(p, lines)
		} else {
			s.wrote.join(p.wrote)
			_, err = s.out.Write(lines)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reach moves to a set, and finishes the ones before it. A set without records has a
// file, too.
func (s *sink) reach(set int) error {
	for s.set < set {
		if err := s.leave(); err != nil {
			return err
		}
		s.set++
		if err := s.enter(&s.w.schema.Sets[s.set]); err != nil {
			return err
		}
	}
	if s.set > set {
		return errors.New("archive: batches out of order")
	}
	return nil
}

func (s *sink) enter(set *store.Set) error {
	s.wrote = text{}
	if set.Kind != store.Table {
		s.plain = digest.NewStream()
		return s.open(set.File)
	}
	if s.w.pack == packed.None {
		return s.open(tablePath(set.File, set.Name) + ".ndjson")
	}
	if s.stream == "" {
		if err := s.open(streamPath(set.File) + s.w.pack.Ext()); err != nil {
			return err
		}
		s.out = packed.NewWriter(s.under, s.w.pack, min(s.workers, maxPackers))
		s.stream = streamPath(set.File)
	}
	head, err := section(set.Name)
	if err == nil {
		_, err = s.out.Write(head)
	}
	return err
}

func (s *sink) leave() error {
	if s.set < 0 {
		return nil
	}
	sets := s.w.schema.Sets
	if err := s.shards.flush(); err != nil {
		return err
	}
	if s.plain != nil {
		s.wrote.digest = s.plain.Sum()
		s.plain = nil
		return errors.Join(s.shut(), s.file(sets[s.set].File+companionSuffix, s.wrote.companion()))
	}
	if _, err := s.out.Write(s.wrote.trailer()); err != nil {
		return err
	}
	last := s.set+1 == len(sets) || sets[s.set+1].File != sets[s.set].File || sets[s.set+1].Kind != store.Table
	if s.stream != "" && !last {
		return nil // the next table of this database continues the stream
	}
	return s.shut()
}

// open creates a file and writes to it.
func (s *sink) open(name string) (err error) {
	if dir := path.Dir(name); dir != "." {
		if err := s.w.root.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	s.under, err = s.w.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	s.out = s.under
	return err
}

// file creates a whole file.
func (s *sink) file(name string, b []byte) error {
	if err := s.open(name); err != nil {
		return err
	}
	_, err := s.out.Write(b)
	return errors.Join(err, s.shut())
}

func (s *sink) shut() error {
	if s.out == nil {
		return nil
	}
	err := s.out.Close()
	if s.stream != "" { // the compressor does not close its file
		err = errors.Join(err, s.under.Close())
	}
	s.out, s.under, s.stream = nil, nil, ""
	return err
}

func (s *sink) finish() error {
	if err := s.reach(len(s.w.schema.Sets) - 1); err != nil {
		return err
	}
	return s.leave()
}

// close closes what an error left open.
func (s *sink) close() { _ = s.shut() }

// section returns the line that precedes the rows of a table in a compressed stream.
func section(name string) ([]byte, error) {
	b, err := json.Marshal(map[string]string{"table": name})
	return append(b, '\n'), err
}

package archive

import (
	"os"
	"path"
	"slices"
)

const (
	shardDirect = 32 << 10 // lines of this size are written without a buffer
	shardFlush  = 64 << 10 // a buffer of this size is written
	shardsMax   = 8 << 20  // at this size of all buffers, the larger half is written
)

// shards appends lines to the files of one set, named by their paths below its folder.
// Rows of different shards interleave, so each shard has a buffer until it is written;
// then it is forgotten, so that memory is bounded for any number of shards.
type shards struct {
	root *os.Root
	dir  string
	open map[string]*buffer
	size int
	free []*buffer
	made map[string]bool
}

type buffer struct{ text []byte }

func (s *shards) add(shard string, lines []byte) error {
	b := s.open[shard]
	switch {
	case b == nil && len(lines) >= shardDirect:
		return s.write(shard, lines)
	case b == nil:
		b = s.take(shard)
	}
	b.text = append(b.text, lines...)
	s.size += len(lines)
	switch {
	case len(b.text) >= shardFlush:
		return s.put(shard, b)
	case s.size >= shardsMax:
		return s.shed(s.size / 2)
	}
	return nil
}

func (s *shards) take(shard string) *buffer {
	b := new(buffer)
	if n := len(s.free); n > 0 {
		b, s.free = s.free[n-1], s.free[:n-1]
	}
	if s.open == nil {
		s.open = map[string]*buffer{}
	}
	s.open[shard] = b
	return b
}

// shed writes the largest buffers until the rest have no more than limit bytes.
func (s *shards) shed(limit int) error {
	names := make([]string, 0, len(s.open))
	for name := range s.open {
		names = append(names, name)
	}
	slices.SortFunc(names, func(x, y string) int { return len(s.open[y].text) - len(s.open[x].text) })
	for _, name := range names {
		if s.size <= limit {
			break
		}
		if err := s.put(name, s.open[name]); err != nil {
			return err
		}
	}
	return nil
}

// flush writes all buffers of the set.
func (s *shards) flush() error {
	err := s.shed(-1)
	s.made = nil
	return err
}

// put writes the buffer of a shard and forgets the shard.
func (s *shards) put(shard string, b *buffer) error {
	delete(s.open, shard)
	s.size -= len(b.text)
	err := s.write(shard, b.text)
	if b.text = b.text[:0]; cap(b.text) <= 2*shardFlush && len(s.free) < 64 {
		s.free = append(s.free, b)
	}
	return err
}

// write appends lines to the file of a shard. The staging folder was empty, so a file that
// exists is of this set.
func (s *shards) write(name string, lines []byte) error {
	name = path.Join(s.dir, name)
	if dir := path.Dir(name); !s.made[dir] {
		if err := s.root.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		if s.made == nil {
			s.made = map[string]bool{}
		}
		s.made[dir] = true
	}
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(lines)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

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

// shards appends lines to the files of one set, by path. Rows of different shards
// interleave, so each shard has a buffer until it is written. Then only its count and
// digest are kept, for its last line.
type shards struct {
	root  *os.Root
	open  map[string]*buffer
	size  int
	free  []*buffer
	made  map[string]bool
	wrote map[string]text
}

type buffer struct{ text []byte }

// add appends a part.
func (s *shards) add(p *part, lines []byte) error {
	if s.wrote == nil {
		s.wrote = map[string]text{}
	}
	sum := s.wrote[p.path]
	sum.join(p.wrote)
	s.wrote[p.path] = sum
	return s.append(p.path, lines)
}

func (s *shards) append(file string, lines []byte) error {
	b := s.open[file]
	switch {
	case b == nil && len(lines) >= shardDirect:
		return s.write(file, lines)
	case b == nil:
		b = s.take(file)
	}
	b.text = append(b.text, lines...)
	s.size += len(lines)
	switch {
	case len(b.text) >= shardFlush:
		return s.put(file, b)
	case s.size >= shardsMax:
		return s.shed(s.size / 2)
	}
	return nil
}

func (s *shards) take(file string) *buffer {
	b := new(buffer)
	if n := len(s.free); n > 0 {
		b, s.free = s.free[n-1], s.free[:n-1]
	}
	if s.open == nil {
		s.open = map[string]*buffer{}
	}
	s.open[file] = b
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

// flush ends all files of the set.
func (s *shards) flush() error {
	for file, sum := range s.wrote {
		if common(file) {
			continue
		}
		if err := s.append(file, sum.trailer()); err != nil {
			return err
		}
	}
	err := s.shed(-1)
	s.made, s.wrote = nil, nil
	return err
}

// put writes the buffer of a shard and forgets it.
func (s *shards) put(file string, b *buffer) error {
	delete(s.open, file)
	s.size -= len(b.text)
	err := s.write(file, b.text)
	if b.text = b.text[:0]; cap(b.text) <= 2*shardFlush && len(s.free) < 64 {
		s.free = append(s.free, b)
	}
	return err
}

// write appends lines to a file. The staging folder was empty, so a file that exists is of
// this set.
func (s *shards) write(file string, lines []byte) error {
	if dir := path.Dir(file); !s.made[dir] {
		if err := s.root.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		if s.made == nil {
			s.made = map[string]bool{}
		}
		s.made[dir] = true
	}
	f, err := s.root.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(lines)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

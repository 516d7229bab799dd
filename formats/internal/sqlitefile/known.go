package sqlitefile

import "sync"

// What strangers' schemas can make us remember, of tables and of databases.
const (
	mostKnown = 1000     // of them,
	longKnown = 64 << 10 // none with longer statements,
	allKnown  = 4 << 20  // of so many bytes together
)

// Known remembers what the tables of earlier databases were found to be. A
// client makes all its stores with the same statements, and asking SQLite about
// them takes longer than reading a small store. The same statement under the
// same name is the same table. The zero Known is ready.
type Known struct {
	shapes memory[[2]string, *shape] // by name and statement
	plans  memory[string, *Plan]     // by planKey
	whole  buffers                   // that small files are read into
	joints buffers                   // that records of several pages are read into
}

// memory keeps values that are never changed.
type memory[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]V
	bytes  int // of the keys
}

func (m *memory[K, V]) get(key K) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[key]
}

// put keeps a value whose key has so many bytes, while there is room.
func (m *memory[K, V]) put(key K, size int, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if size > longKnown || len(m.values) == mostKnown || m.bytes+size > allKnown {
		return
	}
	if m.values == nil {
		m.values = map[K]V{}
	}
	m.values[key] = v
	m.bytes += size
}

// buffers keeps a few buffers for others to use.
type buffers struct {
	mu   sync.Mutex
	list [][]byte
}

const mostBuffers = 4

// get takes a buffer of so many bytes out, nil if there is none.
func (p *buffers) get(n int) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, b := range p.list {
		if cap(b) >= n {
			p.list = append(p.list[:i], p.list[i+1:]...)
			return b[:n]
		}
	}
	return nil
}

// put keeps a buffer, in the place of a smaller one if there are too many.
func (p *buffers) put(b []byte) {
	if cap(b) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.list) < mostBuffers {
		p.list = append(p.list, b)
	} else if i := len(b) % mostBuffers; cap(p.list[i]) < cap(b) {
		p.list[i] = b
	}
}

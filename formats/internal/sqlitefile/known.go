package sqlitefile

import "sync"

// What strangers' schemas can make us remember.
const (
	mostKnown = 1000     // tables,
	longKnown = 64 << 10 // none with a longer statement,
	allKnown  = 4 << 20  // of so many bytes together
)

// Known remembers what the tables of earlier databases were found to be. A
// client makes all its stores with the same statements, and asking SQLite about
// them takes longer than reading a small store. The same statement under the
// same name is the same table.
type Known struct {
	mu     sync.Mutex
	shapes map[[2]string]*shape // never changed once they are here
	bytes  int                  // of their keys
}

func (k *Known) recall(name, sql string) *shape {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.shapes[[2]string{name, sql}]
}

func (k *Known) learn(name, sql string, s *shape) {
	n := len(name) + len(sql)
	if k == nil || n > longKnown {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.shapes == nil {
		k.shapes = map[[2]string]*shape{}
	}
	if len(k.shapes) < mostKnown && k.bytes+n <= allKnown {
		k.shapes[[2]string{name, sql}] = s
		k.bytes += n
	}
}

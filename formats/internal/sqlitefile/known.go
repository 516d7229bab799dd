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
	plans  map[string]*Plan     // the same of whole databases
	bytes  int                  // of their keys
	rooms  [][]byte             // that small files were read into, and that others may be
	joints [][]byte             // the same of records
}

const mostRooms = 4 // of them are kept

// room is a place for so many bytes, which somebody may have used before.
func (k *Known) room(n int) []byte {
	if k != nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		for i, b := range k.rooms {
			if cap(b) >= n {
				k.rooms = append(k.rooms[:i], k.rooms[i+1:]...)
				return b[:n]
			}
		}
	}
	return make([]byte, n, max(n+n/4, 256<<10))
}

func (k *Known) giveBack(b []byte) {
	if k == nil || b == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.rooms) < mostRooms {
		k.rooms = append(k.rooms, b)
	} else if i := len(b) % mostRooms; cap(k.rooms[i]) < cap(b) {
		k.rooms[i] = b
	}
}

// joint is room for records that lie on several pages.
func (k *Known) joint() (b []byte) {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := len(k.joints); n > 0 {
		b, k.joints = k.joints[n-1][:0], k.joints[:n-1]
	}
	return b
}

func (k *Known) leaveJoint(b []byte) {
	const most = 4 << 20
	if k == nil || cap(b) == 0 || cap(b) > most {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.joints) < mostRooms {
		k.joints = append(k.joints, b)
	}
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

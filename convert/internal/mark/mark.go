// Package mark remembers what an update read and wrote, so that the next one can skip
// stores that have not changed, and recognizes files that others have edited.
//
// A mark is a file in the user's state folder, not in the target: it says something of
// one machine. It is a cache. Without it everything is read and compared again.
package mark

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rehome/internal/fileid"
)

// Mark is what is known of a target.
type Mark struct {
	Rehome  string           `json:"rehome"`
	Version int              `json:"version"`
	Target  string           `json:"target"`
	Made    string           `json:"made"`   // by which rehome, with which options
	Stores  map[string]Store `json:"stores"` // by path below the source
	Files   map[string]File  `json:"files"`  // by slash path below the folder of the target

	changes map[string][]byte // to be written, by store
}

// Store is a source as it was converted.
type Store struct {
	Source []Stat          `json:"source"` // nil: it may have changed while it was read
	Report json.RawMessage `json:"report"`

	// Changes is the digest of what finds the changes since; "" if nothing does.
	Changes string `json:"changes,omitempty"`

	// Kept reports whether the target has files of records that the source lost.
	Kept bool `json:"kept,omitempty"`
}

// File is a file of the target as rehome wrote it.
type File struct {
	Store  string `json:"store"`
	Stat   Stat   `json:"stat"`
	Digest string `json:"digest,omitempty"` // "": it was removed
	Was    string `json:"was,omitempty"`    // before that: the mark is written first
}

// Has reports whether a file with a digest is one that rehome wrote.
func (f File) Has(digest string) bool { return digest == f.Digest || digest == f.Was }

// Stat is what a file system says of a file.
type Stat struct {
	Path  string `json:"path,omitempty"`
	Size  int64  `json:"size"`
	Time  int64  `json:"time"` // of the last change, in nanoseconds
	Inode uint64 `json:"inode,omitempty"`
	Mode  uint32 `json:"mode"`

	// Status is fileid.ID.Status of a source. Files of a target get a new one when they
	// get their names, and when a backup links them.
	Status int64 `json:"status,omitempty"`
}

const version = 1

// New returns an empty mark of a target.
func New(target, made string) *Mark {
	return &Mark{Rehome: "mark", Version: version, Target: target, Made: made, Stores: map[string]Store{}, Files: map[string]File{}}
}

func pathOf(dir, target string) string {
	sum := sha256.Sum256([]byte(target))
	return filepath.Join(dir, hex.EncodeToString(sum[:16])+".json")
}

// Read reads the mark of a target, nil if there is none that can be used.
func Read(dir, target string) *Mark {
	if dir == "" {
		return nil
	}
	b, err := os.ReadFile(pathOf(dir, target))
	m := New("", "")
	if err != nil || json.Unmarshal(b, m) != nil || m.Rehome != "mark" || m.Version != version || m.Target != target {
		return nil
	}
	return m
}

// Write writes the mark of its target.
func (m *Mark) Write(dir string) error {
	if dir == "" {
		return nil
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// The mark comes first: without it, what was just written looks edited.
	err = replace(pathOf(dir, m.Target), append(b, '\n'))
	for store, b := range m.changes {
		if err == nil {
			err = replace(changesOf(dir, m.Target, store), b)
		}
	}
	return err
}

// SetChanges has a mark keep what finds the changes of a store.
func (m *Mark) SetChanges(store string, b []byte) {
	s := m.Stores[store]
	sum := sha256.Sum256(b)
	if s.Changes = hex.EncodeToString(sum[:]); m.changes == nil {
		m.changes = map[string][]byte{}
	}
	m.Stores[store], m.changes[store] = s, b
}

// Changes returns what SetChanges was given, nil if it is not there.
func (m *Mark) Changes(dir, store string) []byte {
	b, err := os.ReadFile(changesOf(dir, m.Target, store))
	if sum := sha256.Sum256(b); err != nil || hex.EncodeToString(sum[:]) != m.Stores[store].Changes {
		return nil
	}
	return b
}

func changesOf(dir, target, store string) string {
	return strings.TrimSuffix(pathOf(dir, target+"\x00"+store), ".json") + ".changes"
}

// replace writes a file completely or not at all.
func replace(name string, b []byte) error {
	err := os.WriteFile(name+".new", b, 0o600)
	if err == nil {
		err = os.Rename(name+".new", name)
	}
	return err
}

// StatOf returns what a file system says of a file.
func StatOf(info fs.FileInfo) Stat {
	id := fileid.Of(info)
	return Stat{Size: id.Size, Time: id.Changed, Inode: id.Inode, Mode: uint32(info.Mode())}
}

// maxFiles bounds the files of a source that a mark describes.
const maxFiles = 1 << 16

// Source describes all files below each path, nil if there are too many or some cannot
// be read. A path that does not exist is described, too.
func Source(paths ...string) (out []Stat) {
	for _, p := range paths {
		err := filepath.WalkDir(p, func(at string, e fs.DirEntry, err error) error {
			if err != nil {
				if at == p && os.IsNotExist(err) {
					out = append(out, Stat{Path: at, Size: -1})
					return nil
				}
				return err
			}
			info, err := os.Stat(at) // through links, as it is read
			if err != nil {
				return err
			}
			s := StatOf(info)
			if s.Path = at; info.IsDir() {
				s.Size, s.Time = 0, 0 // its entries are described themselves
			} else {
				s.Status = fileid.Of(info).Status
			}
			if out = append(out, s); len(out) > maxFiles {
				return fs.ErrInvalid
			}
			return nil
		})
		if err != nil {
			return nil
		}
	}
	return out
}

// Settled reports whether all files last changed well before a time of the same
// clock: else one could change again without a new time.
func Settled(list []Stat, now time.Time) bool {
	return list != nil && !slices.ContainsFunc(list, func(s Stat) bool { return !fileid.Settled(time.Unix(0, s.Time), now) })
}

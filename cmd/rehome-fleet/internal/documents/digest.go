package documents

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
)

// Manifest is what a server keeps about a store as a whole. A store that clients created has
// none.
type Manifest struct {
	Layout int      `json:"layout"`
	Files  []string `json:"files"` // of the four, those that existed
}

// Digest is the digest of the files of the sets, as they were or would be.
type Digest struct{ sums [Sets]hash.Hash }

// Set returns the hash that the bytes of an existing file go to.
func (d *Digest) Set(set Set) hash.Hash {
	d.sums[set] = sha256.New()
	return d.sums[set]
}

// Sum returns the digest of all files.
func (d *Digest) Sum() []byte {
	all := sha256.New()
	for _, sum := range d.sums {
		if sum == nil {
			all.Write([]byte{0})
			continue
		}
		all.Write(append([]byte{1}, sum.Sum(nil)...))
	}
	return all.Sum(nil)
}

// Manifest returns the manifest of a store.
func (s *Store) Manifest() []byte {
	m := Manifest{Layout: 1, Files: []string{}}
	for set := range Sets {
		if s.Has[set] {
			m.Files = append(m.Files, set.File())
		}
	}
	b, _ := json.Marshal(m) // strings and a number
	return b
}

// ReadManifest returns which files a manifest names; without one, those that have rows exist.
func ReadManifest(b []byte) (has [Sets]bool, err error) {
	if b == nil {
		return has, nil
	}
	var m Manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return has, fmt.Errorf("invalid manifest: %w", err)
	}
	if m.Layout != 1 {
		return has, fmt.Errorf("layout %d is not supported, only 1", m.Layout)
	}
	for set := range Sets {
		for _, f := range m.Files {
			has[set] = has[set] || f == set.File()
		}
	}
	return has, nil
}

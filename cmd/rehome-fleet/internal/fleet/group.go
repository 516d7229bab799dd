package fleet

import (
	"fmt"
	"slices"
	"strings"

	"rehome/cmd/rehome-fleet/internal/bucket"
)

// grouper makes stores of objects that come in the order of their keys. The objects of a
// store are close together then, so that few stores are open at a time.
type grouper struct {
	names *names
	emit  func(Store)
	other func(bucket.Object)
	open  []*Store
}

func (g *grouper) add(o bucket.Object) {
	if o.Bad == "" {
		g.close(o.Key)
		path, kind := g.store(o.Key)
		if kind != "" {
			g.put(path, kind, o)
			return
		}
		o.Bad = "no known name"
		if strings.HasSuffix(o.Key, ".vscdb.backup") {
			o.Bad = "a backup that the client made"
		}
	} else {
		g.lack(o)
	}
	g.other(o)
}

// lack marks the store that an object belongs to which cannot be read: without a log, a
// database is an older one. What only belongs to a store, such as a log, does not make one.
func (g *grouper) lack(o bucket.Object) {
	path, kind := g.store(o.Key)
	if kind == "codex" || kind == "cursor-transcript" { // their files are sessions of their own
		return
	}
	if _, folder := g.names.owner(o.Key); folder == "" && !slices.ContainsFunc(g.open, func(s *Store) bool { return s.Path == path }) {
		return
	}
	if s := g.at(path, kind); s.Lacks == "" {
		s.Lacks = fmt.Sprintf("%q: %s", o.Key, o.Bad)
	}
}

// store returns the store that a key belongs to.
func (g *grouper) store(key string) (path, kind string) {
	if path, kind = g.names.owner(key); kind != "" {
		return path, kind
	}
	for _, s := range g.open { // what a client or a conversion keeps next to a file
		if key == s.Path+sidecarEnding || s.Kind == "claude-code" && strings.HasPrefix(key, strings.TrimSuffix(s.Path, ".jsonl")+"/") {
			return s.Path, s.Kind
		}
	}
	return fileStore(key)
}

// at returns a store that is open from now on.
func (g *grouper) at(path, kind string) *Store {
	i := slices.IndexFunc(g.open, func(s *Store) bool { return s.Path == path && s.Kind == kind })
	if i < 0 {
		i = len(g.open)
		g.open = append(g.open, &Store{Path: path, Kind: kind, Members: []Member{}})
	}
	return g.open[i]
}

func (g *grouper) put(path, kind string, o bucket.Object) {
	s := g.at(path, kind)
	s.Bytes += o.Size
	if s.Objects++; s.Objects > maxMembers {
		s.Members = nil // it is giant
		return
	}
	s.Members = append(s.Members, Member{o.Key, o.Size, o.Tag})
}

// close emits the stores that no key from this one on belongs to; all for "".
func (g *grouper) close(key string) {
	g.open = slices.DeleteFunc(g.open, func(s *Store) bool {
		// What belongs to a store has its name, and then one of - . /, which 0 follows.
		if key != "" && (s.Path == "" || key < strings.TrimSuffix(s.Path, ".jsonl")+"0") {
			return false
		}
		g.emit(*s)
		return true
	})
}

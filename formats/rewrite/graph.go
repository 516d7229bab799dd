package rewrite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"rehome/formats"
	"rehome/formats/store"
	"rehome/internal/scratch"
)

// maxEdges bounds the references between blobs that are held in memory.
const maxEdges = 1 << 24

// graph is the blobs of a store that are named by their content, and what they are named
// once it has changed.
type graph struct {
	index  map[id]int32
	ids    []id
	edges  [][2]int32  // from a blob to one that refers to it
	next   map[id]id   // of blobs that change
	merged map[id]bool // ids that several blobs have now: their content differed in nothing else
	find   *finder     // of the ids in next
}

func newGraph() *graph {
	return &graph{index: map[id]int32{}, next: map[id]id{}, merged: map[id]bool{}}
}

func (g *graph) add(x id) {
	if _, ok := g.index[x]; !ok {
		g.index[x] = int32(len(g.ids))
		g.ids = append(g.ids, x)
	}
}

// plan finds the blobs that change, because of their own values or of what they refer
// to, and names them.
func (r *Reader) plan(ctx context.Context) error {
	g := r.graph
	if len(g.ids) == 0 {
		return nil
	}
	changed, err := r.edges(ctx)
	if err != nil || !g.spread(changed) {
		return err
	}
	g.find = newFinder(len(g.ids), func(x id) (to id, ok bool) {
		to, ok = g.next[x]
		return to, ok
	})
	for n, is := range changed {
		if is {
			g.find.add(g.ids[n])
		}
	}
	return r.name(ctx, changed)
}

// edges finds the references between blobs, and the blobs whose own values change.
func (r *Reader) edges(ctx context.Context) (changed []bool, err error) {
	g := r.graph
	changed = make([]bool, len(g.ids))
	at := int32(0)
	seen := map[int32]bool{} // references of the blob at hand
	find := newFinder(len(g.ids), func(x id) (id, bool) {
		if child, ok := g.index[x]; ok && child != at && !seen[child] {
			seen[child] = true
			g.edges = append(g.edges, [2]int32{child, at})
		}
		return x, false
	})
	for _, x := range g.ids {
		find.add(x)
	}
	return changed, r.blobs(ctx, func(n int32, content []byte) error {
		out, _, err := r.value(ctx, content, true, nil)
		if err != nil {
			return err
		}
		changed[n], at = !bytes.Equal(out, content), n
		clear(seen)
		find.replace(content, 0)
		if len(g.edges) > maxEdges {
			return fmt.Errorf("more than %d references between blobs", maxEdges)
		}
		return nil
	})
}

// blobs visits each blob once.
func (r *Reader) blobs(ctx context.Context, do func(n int32, content []byte) error) error {
	done := make([]bool, len(r.graph.ids))
	sets := r.src.Schema().Sets
	return r.each(ctx, visitor{
		row: func(_ int64, b *store.Batch, i int) error {
			a, ok := addressed(b, i, sets[b.Set].Kind)
			if !ok {
				return nil
			}
			n, known := r.graph.index[a.id]
			if !known {
				return formats.Changed("", "")
			}
			if done[n] {
				return nil
			}
			done[n] = true
			if err := do(n, a.content); err != nil {
				return r.failure(b, i, err)
			}
			return nil
		},
		text: func(int, int, []byte) error { return nil },
	})
}

// spread marks what refers to a marked blob. It reports whether any is marked.
func (g *graph) spread(changed []bool) (some bool) {
	first, next := g.parents()
	var queue []int32
	for n, is := range changed {
		if is {
			queue = append(queue, int32(n))
		}
	}
	some = len(queue) > 0
	for len(queue) > 0 {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for e := first[n]; e >= 0; e = next[e] {
			if up := g.edges[e][1]; !changed[up] {
				changed[up] = true
				queue = append(queue, up)
			}
		}
	}
	return some
}

// parents returns the edges of each blob as chains.
func (g *graph) parents() (first, next []int32) {
	first, next = make([]int32, len(g.ids)), make([]int32, len(g.edges))
	for n := range first {
		first[n] = -1
	}
	for e, edge := range g.edges {
		next[e], first[edge[0]] = first[edge[0]], int32(e)
	}
	return first, next
}

// name names the blobs that change, those first that refer to no other. The others
// wait in a file.
func (r *Reader) name(ctx context.Context, changed []bool) error {
	g := r.graph
	waits := make([]int32, len(g.ids)) // for so many blobs
	for _, e := range g.edges {
		if changed[e[0]] {
			waits[e[1]]++
		}
	}
	file, err := scratch.NewFile("blobs")
	if err != nil {
		return err
	}
	defer file.Close()
	s := &spool{file: file, at: map[int32][2]int64{}}
	var ready []int32
	err = r.blobs(ctx, func(n int32, content []byte) error {
		if !changed[n] {
			return nil
		}
		out, _, err := r.value(ctx, content, true, nil)
		switch {
		case err != nil:
			return err
		case waits[n] > 0:
			return s.put(n, out)
		}
		g.next[g.ids[n]] = sha256.Sum256(out)
		ready = append(ready, n)
		return nil
	})
	if err != nil {
		return err
	}
	first, next := g.parents()
	named := len(ready)
	for len(ready) > 0 {
		n := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for e := first[n]; e >= 0; e = next[e] {
			up := g.edges[e][1]
			if waits[up]--; waits[up] > 0 {
				continue
			}
			content, err := s.get(up)
			if err != nil {
				return err
			}
			out, _ := g.find.replace(content, 0)
			g.next[g.ids[up]] = sha256.Sum256(out)
			ready = append(ready, up)
			named++
		}
	}
	for _, is := range changed {
		if is {
			named--
		}
	}
	if named != 0 {
		return errors.New("blobs refer to each other in a circle")
	}
	g.merge()
	return nil
}

// merge finds ids that several blobs have now.
func (g *graph) merge() {
	seen := make(map[id]bool, len(g.next))
	for _, to := range g.next {
		_, old := g.index[to]
		if seen[to] || old {
			g.merged[to] = true
		}
		seen[to] = true
	}
}

// spool is a temporary file of blobs.
type spool struct {
	file *scratch.File
	size int64
	at   map[int32][2]int64
}

func (s *spool) put(n int32, b []byte) error {
	if _, err := s.file.WriteAt(b, s.size); err != nil {
		return err
	}
	s.at[n] = [2]int64{s.size, int64(len(b))}
	s.size += int64(len(b))
	return nil
}

func (s *spool) get(n int32) ([]byte, error) {
	at, ok := s.at[n]
	if !ok {
		return nil, formats.Changed("", "")
	}
	b := make([]byte, at[1])
	_, err := s.file.ReadAt(b, at[0])
	return b, err
}

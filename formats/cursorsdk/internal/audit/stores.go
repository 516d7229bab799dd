package audit

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"rehome/formats/internal/sdkstore"
	"rehome/formats/internal/sqlitestore"
	"rehome/formats/internal/storecheck"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// checkStores checks each agent's store.db, several at a time.
func (c *checker) checkStores(ctx context.Context) error {
	c.folders = map[string]bool{}
	for _, f := range c.stores {
		c.folders[path.Base(path.Dir(f.Path))] = true
	}
	owners := map[string]string{} // folder -> agent
	var agents []string
	if c.catalog != nil {
		for _, a := range c.catalog.Agents() {
			owners[storecheck.AgentFolder(a.ID)], owners[sdkstore.HashOf(a.ID)] = a.ID, a.ID
			agents = append(agents, a.ID)
		}
	}
	var mu sync.Mutex
	var errs []error
	have := map[string]bool{}
	next := make(chan sqlitestore.File)
	var workers sync.WaitGroup
	for range max(1, min(c.view.Jobs, len(c.stores))) {
		workers.Go(func() {
			for f := range next {
				agent, err := c.checkStore(ctx, f, owners[path.Base(path.Dir(f.Path))])
				mu.Lock()
				errs = append(errs, err)
				have[agent] = true
				mu.Unlock()
			}
		})
	}
	for _, f := range c.stores {
		next <- f
	}
	close(next)
	workers.Wait()
	if err := errors.Join(errs...); err != nil || !c.q.Enabled(rule.References) {
		return err
	}
	for _, id := range agents {
		if !have[id] && !c.hollow(id) {
			if err := c.catalog.Walk(ctx, id, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// hollow reports an agent whose database could not be looked at as one of the
// store's files: it has no byte, which says that there are no checkpoints, or
// is no file at all.
func (c *checker) hollow(id string) bool {
	info, err := os.Stat(filepath.Join(c.place, filepath.FromSlash(c.root), "agents", storecheck.AgentFolder(id), sdkstore.StoreName))
	return err == nil && !info.Mode().IsRegular()
}

// checkStore checks one store.db, and returns whose it is.
func (c *checker) checkStore(ctx context.Context, f sqlitestore.File, owner string) (agent string, err error) {
	folder := path.Base(path.Dir(f.Path))
	s, err := c.Caches.stores.Open(ctx, f.Name, f.Path, c.view, c.q.OwnedBy(owner))
	if s == nil || err != nil {
		return owner, err // what it holds is not known: nothing is missing
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	s.Meta.Ask()
	at := store.Addr{File: f.Path}
	if owner != "" && folder == sdkstore.HashOf(owner) {
		c.q.OwnedBy(owner).Reportf("RH416", at, "belongs to %q", owner)
		if c.folders[storecheck.AgentFolder(owner)] {
			return "", nil // left behind: the agent's own is another one
		}
	}
	if owner == "" && c.catalog != nil {
		if owner = c.stray(s, at); owner == "" {
			return "", nil
		}
	}
	if c.catalog == nil {
		return owner, nil
	}
	if err := c.catalog.Walk(ctx, owner, s.Graph); err != nil {
		return owner, err
	}
	if root, ok := s.Meta.RootID(); ok { // until version 1.0.14
		if err := s.Graph.Root(ctx, root, s.Meta.At, "/latestRootBlobId"); err != nil {
			return owner, err
		}
	}
	s.Graph.Finish(store.Addr{File: f.Path, Set: "blobs"})
	return owner, nil
}

// stray finds out whose a store.db is that is in no agent's folder.
func (c *checker) stray(s *storecheck.Store, at store.Addr) (owner string) {
	id := s.Meta.Agent
	switch {
	case c.catalog.Known(id):
		c.q.OwnedBy(id).Reportf("RH311", at, "id is %q", id)
		return id
	case s.Graph.Len() > 0 && !c.catalog.Gaps.Agents:
		says, args := "%v", []any{rule.Count(int64(s.Graph.Len()), "blob")}
		if id != "" {
			says, args = "%v of %q", append(args, strings.ToValidUTF8(id, "\ufffd"))
		}
		c.q.Reportf("RH313", at, says, args...)
	}
	return ""
}

package check

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"rehome/convert/internal/walk"
	"rehome/convert/internal/worktree"
	"rehome/formats"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// checkMerged reports the files of a store that have conflicts in git.
func (c *checker) checkMerged(ctx context.Context, one *storeCheck, _ formats.View, q *rule.Pass) error {
	at := walk.ResolvedPath(one.loc.Path)
	top := worktree.Top(at)
	if top == "" || !q.Enabled(rule.Container) {
		return nil
	}
	c.merging.Lock()
	defer c.merging.Unlock()
	files, known := c.merges[top]
	if !known && worktree.Merging(top) {
		files, _ = worktree.Unmerged(ctx, top) // without git, nothing is merged
	}
	if c.merges == nil {
		c.merges = map[string]map[string]worktree.Sides{}
	}
	c.merges[top] = files
	for _, name := range slices.Sorted(maps.Keys(files)) {
		rel, err := filepath.Rel(at, filepath.Join(top, filepath.FromSlash(name)))
		switch {
		case err != nil || !filepath.IsLocal(rel):
		case rel == ".":
			q.Reportf(ruleMerge, store.Addr{File: filepath.Base(one.loc.Path)}, "")
		default:
			q.Reportf(ruleMerge, store.Addr{File: filepath.ToSlash(rel)}, "")
		}
	}
	return ctx.Err()
}

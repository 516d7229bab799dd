package sessions

import (
	"slices"
	"sync"

	"rehome/convert/internal/workers"
	"rehome/formats"
	"rehome/formats/session"
)

// maxPromptsPerHash is how many first prompts are read to find the folder with
// an unknown hash: one that names it does so for all sessions below the hash.
const maxPromptsPerHash = 3

// resolveFolders finds the folders of sessions that do not state theirs.
func (l *lister) resolveFolders() {
	known := NewFolders(l.reg, l.o.Folders...)
	list := l.out.Sessions
	for i := range list {
		known.add(list[i].Workspace)
	}
	byHash, order := map[string][]int{}, []string{}
	var alone []int
	for i := range list {
		s := &list[i]
		for _, src := range s.Sources {
			if s.Workspace == "" {
				s.Workspace = known.ofPath(src.Path)
			}
		}
		if !needsPrompt(s) {
			continue
		}
		if hash := known.hashAbove(s.Sources[0].Path); hash == "" {
			alone = append(alone, i)
		} else {
			if byHash[hash] == nil {
				order = append(order, hash)
			}
			byHash[hash] = append(byHash[hash], i)
		}
	}
	var mu sync.Mutex
	jobs := workers.Count(l.o.Jobs)
	workers.Run(l.ctx, jobs, slices.Values(order), func(hash string, _ bool) bool {
		below := byHash[hash]
		for _, n := range below[:min(len(below), maxPromptsPerHash)] {
			dir := l.promptFolder(&list[n])
			if dir == "" {
				continue
			}
			list[n].Workspace = dir
			if known.isHashOf(hash, dir) {
				mu.Lock()
				known.add(dir)
				mu.Unlock()
				break
			}
		}
		return false
	})
	workers.Run(l.ctx, jobs, slices.Values(alone), func(i int, _ bool) bool {
		list[i].Workspace = l.promptFolder(&list[i])
		return false
	})
	for i := range list {
		if s := &list[i]; needsPrompt(s) {
			s.Workspace = known.ofPath(s.Sources[0].Path)
		}
	}
}

// needsPrompt reports whether only a session's first prompt can name its
// folder. Other clients that keep prompts state the folder, if there is one.
func needsPrompt(s *Listed) bool {
	return s.Workspace == "" && s.Parent == nil && s.Turns != 0 && s.Agent == session.CursorCLI && s.Sources[0].format.Sessions != nil
}

// promptFolder returns the folder that a session's first prompt names.
func (l *lister) promptFolder(s *Listed) string {
	loc, err := formats.Locate(s.Sources[0].Path)
	if err != nil {
		return ""
	}
	return promptFolder(l.ctx, s.Sources[0].format, loc, l.view(), s.ID)
}

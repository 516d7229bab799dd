package sessions

import (
	"slices"

	"rehome/convert/internal/workers"
	"rehome/formats"
	"rehome/formats/session"
)

// maxPromptsPerHash is how many first prompts are read to find the folder with
// an unknown hash: one that names it does so for all sessions below the hash.
const maxPromptsPerHash = 3

// resolveFolders finds the folders of sessions in the stores that were read, before any
// are merged: two stores can hold states of one session for different folders.
func (l *lister) resolveFolders() {
	known := NewFolders(l.reg, l.candidates())
	for _, s := range l.found {
		for i := range s.heads {
			known.add(s.heads[i].Workspace)
		}
	}
	l.askPrompts(known)
	for _, s := range l.found {
		for i := range s.heads {
			h := &s.heads[i]
			if dir := known.movedTo(s.Path, h.Workspace); dir != "" {
				h.Workspace = dir
			} else if h.Workspace == "" {
				h.Workspace = known.ofPath(s.Path)
			}
		}
	}
}

func (l *lister) candidates() Candidates {
	c := l.o.Folders
	if c.Home == "" {
		c.Home = l.o.Machine.Home
	}
	return c
}

// askPrompts reads first prompts for the folders with hashes that no candidate has. Those
// of moved stores name the folder where they were, so the hash decides.
func (l *lister) askPrompts(known *Folders) {
	type unknown struct {
		src Source
		h   *session.Head
	}
	byHash, order := map[string][]unknown{}, []string{}
	for _, s := range l.found {
		hash := known.hashAbove(s.Path)
		for i := range s.heads {
			if h := &s.heads[i]; hash != "" && needsPrompt(h, s.Source) && known.ofPath(s.Path) == "" {
				if byHash[hash] == nil {
					order = append(order, hash)
				}
				byHash[hash] = append(byHash[hash], unknown{s.Source, h})
			}
		}
	}
	workers.Run(l.ctx, workers.Count(l.o.Jobs), slices.Values(order), func(hash string, _ bool) bool {
		below := byHash[hash]
		for _, u := range below[:min(len(below), maxPromptsPerHash)] {
			u.h.Workspace = l.promptFolder(u.src, u.h.ID)
			known.add(u.h.Workspace)
			if known.isHashOf(hash, u.h.Workspace) {
				break
			}
		}
		return false
	})
}

// askAlone reads the first prompts of the sessions that nothing else says the folder of.
func (l *lister) askAlone() {
	known := NewFolders(l.reg, Candidates{})
	list := l.out.Sessions
	var alone []int
	for i := range list {
		if s := &list[i]; needsPrompt(&s.Head, s.Sources[0]) && known.hashAbove(s.Sources[0].Path) == "" {
			alone = append(alone, i)
		}
	}
	workers.Run(l.ctx, workers.Count(l.o.Jobs), slices.Values(alone), func(i int, _ bool) bool {
		list[i].Workspace = l.promptFolder(list[i].Sources[0], list[i].ID)
		return false
	})
}

// needsPrompt reports whether only a session's first prompt can name its
// folder. Other clients that keep prompts state the folder, if there is one.
func needsPrompt(h *session.Head, in Source) bool {
	return h.Workspace == "" && h.Parent == nil && h.Turns != 0 && h.Agent == session.CursorCLI && in.format.Sessions != nil
}

// promptFolder returns the folder that a session's first prompt names.
func (l *lister) promptFolder(in Source, id string) string {
	loc, err := formats.Locate(in.Path)
	if err != nil {
		return ""
	}
	return promptFolder(l.ctx, in.format, loc, l.view(), id)
}

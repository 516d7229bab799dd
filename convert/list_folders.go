package convert

import (
	"sync"

	"rehome/formats"
	"rehome/formats/session"
)

// A hash of a folder that nobody here knows is looked up in the first prompts of
// some of the sessions that lie below it: one that has this hash is that of all.
const mostAskedForHash = 3

// settleFolders names the folders of sessions that do not state theirs.
func (l *lister) settleFolders() {
	known := NewFolders(l.reg, l.o.Folders...)
	list := l.out.Sessions
	for i := range list {
		known.enter(list[i].Workspace)
	}
	byHash, order := map[string][]int{}, []string{}
	var alone []int
	for i := range list {
		s := &list[i]
		for _, src := range s.Sources {
			if s.Workspace == "" {
				s.Workspace = known.lies(src.Path)
			}
		}
		if !promptsTell(s) {
			continue
		}
		if hash := hashAbove(s.Sources[0].Path); hash == "" {
			alone = append(alone, i)
		} else {
			if byHash[hash] == nil {
				order = append(order, hash)
			}
			byHash[hash] = append(byHash[hash], i)
		}
	}
	var mu sync.Mutex
	l.spread(len(order), func(i int) {
		below := byHash[order[i]]
		for _, n := range below[:min(len(below), mostAskedForHash)] {
			dir := l.prompted(&list[n])
			if dir == "" {
				continue
			}
			list[n].Workspace = dir
			if isHashOf(order[i], dir) {
				mu.Lock()
				known.enter(dir)
				mu.Unlock()
				break
			}
		}
	})
	l.spread(len(alone), func(i int) { list[alone[i]].Workspace = l.prompted(&list[alone[i]]) })
	for i := range list {
		if s := &list[i]; promptsTell(s) {
			s.Workspace = known.lies(s.Sources[0].Path)
		}
	}
}

// promptsTell reports whether a session's first prompt may name its folder: of
// what else keeps prompts the clients state the folder, or there is none.
func promptsTell(s *Listed) bool {
	return s.Workspace == "" && s.Parent == nil && s.Turns != 0 && s.Agent == session.CursorCLI && s.Sources[0].format.Decode != nil
}

func (l *lister) spread(n int, do func(i int)) {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	spread(l.ctx, jobsOr(l.o.Jobs), order, func(i int, _ bool) bool { do(i); return false })
}

// prompted is the folder that a session's first prompt names.
func (l *lister) prompted(s *Listed) string {
	loc, err := formats.Locate(s.Sources[0].Path)
	if err != nil {
		return ""
	}
	return prompted(l.ctx, s.Sources[0].format, loc, l.view(), s.ID)
}

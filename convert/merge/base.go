package merge

import (
	"bytes"
	"maps"
	"path"
	"slices"

	"rehome/formats"
)

// rebase takes the base out of the copies, and with it each copy that is as it was there:
// what only one source changed or removed since is changed or removed.
func (u *union) rebase() {
	for id, all := range u.sessions {
		at := slices.IndexFunc(all, func(v *version) bool { return v.from[0] == 0 })
		if at < 0 {
			continue
		}
		base := all[at]
		all = slices.Delete(slices.Clone(all), at, at+1)
		if id == "" {
			u.sessions[id] = rebaseFiles(base, all)
			continue
		}
		changed := slices.DeleteFunc(slices.Clone(all), func(v *version) bool { return v.unchanged(base) })
		switch {
		case len(all) == 0:
		case len(changed) == 0 && len(all) == 1: // removed in the other source
			all = nil
		case len(changed) == 0:
		case len(all) == 1 && len(changed) == 1:
			u.remarks(id + ": removed in one source, and kept because the other one has changed it")
		case len(changed) == 1:
			all, u.newer[id] = changed, true
		}
		if u.sessions[id] = all; len(all) == 0 {
			delete(u.sessions, id)
		}
	}
}

// unchanged reports whether a copy is as it was, apart from row ids and other details.
func (v *version) unchanged(base *version) bool {
	details := func(m map[string]*file) map[string]*file {
		m = maps.Clone(m)
		maps.DeleteFunc(m, func(p string, _ *file) bool { return formats.IsSidecar(path.Base(p)) })
		return m
	}
	return maps.EqualFunc(details(v.files), details(base.files), func(a, b *file) bool { return bytes.Equal(a.sum[:], b.sum[:]) })
}

// rebaseFiles does the same with the files that belong to no session, one by one. all has
// a copy of each source that has any.
func rebaseFiles(base *version, all []*version) []*version {
	for p, was := range base.files {
		same := func(v *version) bool { return v.files[p] != nil && v.files[p].sum == was.sum }
		differs := slices.ContainsFunc(all, func(v *version) bool { return !same(v) })
		if !differs && len(all) > 1 {
			continue
		}
		for _, v := range all {
			if same(v) {
				delete(v.files, p)
			}
		}
	}
	return slices.DeleteFunc(all, func(v *version) bool { return len(v.files) == 0 })
}

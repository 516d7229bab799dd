package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"rehome/formats"
)

// listed is a session in a file of a source.
type listed struct {
	formats.MergeSession
	source source
	real   string
}

// uniteSessions unites stores whose files name their sessions inside. A session and its
// subagents are united together.
func (m *merger) uniteSessions(ctx context.Context, rel string, all []source, format *formats.Format, out string) error {
	var found []listed
	for _, s := range all {
		list, err := m.list(ctx, s, format)
		if err != nil {
			return err
		}
		found = append(found, list...)
	}
	unions := map[string]*union{}
	top := families(found)
	if err := checkForms(format, found); err != nil {
		return err
	}
	for _, one := range found {
		u := unions[one.Group]
		if u == nil {
			u = m.newUnion(format)
			unions[one.Group] = u
		}
		if one.ID == "" {
			if err := m.addCommon(u, one); err != nil {
				return err
			}
			continue
		}
		id := top(one)
		u.titles[one.ID] = max(u.titles[one.ID], one.Title)
		if err := errors.Join(ctx.Err(), m.addSession(u, one, id)); err != nil {
			return err
		}
	}
	want := map[string]bool{}
	for _, group := range slices.Sorted(maps.Keys(unions)) {
		u := unions[group]
		if err := u.settle(ctx); err != nil {
			return err
		}
		m.report(u, rel, slices.Sorted(maps.Keys(u.sessions))...)
		if err := u.write(out); err != nil {
			return err
		}
		for _, copies := range u.sessions {
			for _, p := range paths(u.of, copies) {
				at := longest(p, copies).at()
				for _, v := range copies {
					if f := v.files[p]; f != nil && f.session != "" {
						want[group+"\n"+f.session+"\n"+at] = true
					}
				}
			}
		}
	}
	if len(want) == 0 && m.opts.Base != "" {
		return nil // removed
	}
	return m.listAgain(ctx, format, out, want)
}

// list lists the sessions of a source.
func (m *merger) list(ctx context.Context, s source, format *formats.Format) (out []listed, err error) {
	for one, err := range format.Merge.Sessions(ctx, s.loc) {
		switch {
		case err != nil:
			return nil, err
		case one.Path == "":
			m.remark(cmp.Or(one.File, s.loc.Path) + ": left out, because it is not a file with sessions")
			continue
		}
		local, err := filepath.Localize(cmp.Or(one.File, "."))
		if err != nil {
			return nil, &formats.Error{At: one.File, Err: errors.New("not a valid path inside a store")}
		}
		out = append(out, listed{one, s, filepath.Join(s.loc.Path, local)})
	}
	if format.Sessions.Heads != nil && !slices.ContainsFunc(out, func(one listed) bool { return one.Title != "" }) {
		titles := map[string]string{}
		for h, err := range format.Sessions.Heads(ctx, s.loc, m.view()) {
			if err == nil {
				titles[h.ID] = h.Title
			}
		}
		for i := range out {
			out[i].Title = titles[out[i].ID]
		}
	}
	return out, nil
}

// maxNesting is how deep subagents are united with the session that started them.
const maxNesting = 64

// families returns a function that returns the session that started a subagent, or the one
// that started that one: any source can say so.
func families(all []listed) func(listed) string {
	type key struct{ group, id string }
	parents := map[key]string{}
	for _, one := range all {
		k := key{one.Group, one.ID}
		parents[k] = max(parents[k], one.Parent)
	}
	return func(one listed) string {
		id, seen := one.ID, []string{}
		for range maxNesting {
			up := parents[key{one.Group, id}]
			if _, known := parents[key{one.Group, up}]; !known || up == "" {
				return id
			}
			if i := slices.Index(seen, up); i >= 0 {
				return slices.Min(seen[i:]) // they started each other
			}
			id, seen = up, append(seen, up)
		}
		return id
	}
}

// checkForms returns an error if a session is in files of two forms, which cannot be compared.
func checkForms(format *formats.Format, all []listed) error {
	forms := map[[2]string]string{}
	for _, one := range all {
		k, form := [2]string{one.Group, one.ID}, path.Ext(one.Path)
		if was, known := forms[k]; known && was != form && one.ID != "" {
			return &formats.Error{Format: format.Name, At: one.real, Err: fmt.Errorf("another copy of its session is a %s file: they cannot be compared", was),
				Hint: "decompress the one that is compressed (zstd -d --rm FILE), or leave one out"}
		}
		forms[k] = form
	}
	return nil
}

// copyOf is a session of a source, or a file of its copies.
type copyOf struct {
	source     int
	root, file string
}

// addSession adds a session to the copy of its family that the source has. A source can
// have several copies of a session: these are united like those of several sources.
func (m *merger) addSession(u *union, one listed, root string) error {
	info, err := os.Stat(one.real)
	if err != nil {
		return &formats.Error{At: one.real, Err: formats.Cause(err)}
	}
	p := nameOf(one.ID, one.Path) // sources can have it in other folders, or in files with other names
	f := &file{path: p, place: one.Path, real: one.real, info: info, session: one.ID, own: one.Own, parent: one.Parent, from: one.From, size: one.To - one.From, changed: info.ModTime(), progress: u.progress}
	f.rule, _ = ruleFor(u.of, p)
	if err := f.load(); err != nil {
		return err
	}
	of := copyOf{one.source.n, root, ""}
	nth := copyOf{of.source, root, p}
	if u.copies[nth]++; u.copies[nth] > u.copies[of] {
		u.copies[of]++
		u.sessions[root] = append(u.sessions[root], &version{from: []int{one.source.n}, files: map[string]*file{}, root: root})
	}
	// Sources are read one after the other: the last copies are those of this one.
	v := u.sessions[root][len(u.sessions[root])-u.copies[of]+u.copies[nth]-1]
	v.files[p] = f
	return nil
}

// addCommon adds a file that belongs to no session.
func (m *merger) addCommon(u *union, one listed) error {
	info, err := os.Stat(one.real)
	if err != nil {
		return &formats.Error{At: one.real, Err: formats.Cause(err)}
	}
	f := &file{path: one.Path, real: one.real, info: info, changed: info.ModTime()}
	f.rule, _ = ruleFor(u.of, f.path)
	v := &version{from: []int{one.source.n}, files: map[string]*file{f.path: f}}
	u.sessions[""] = append(u.sessions[""], v)
	return f.load()
}

// nameOf returns the name by which the files of a session are compared.
func nameOf(id, p string) string { return id + path.Ext(p) }

// listAgain lists the sessions of the result, each of which has to be in its file.
func (m *merger) listAgain(ctx context.Context, format *formats.Format, out string, want map[string]bool) error {
	l, err := formats.Locate(out)
	if err != nil {
		return err
	}
	for one, err := range format.Merge.Sessions(ctx, l) {
		key := one.Group + "\n" + one.ID + "\n" + one.File
		if err == nil && one.ID == "" {
			continue
		}
		if err == nil && !want[key] {
			err = &formats.Error{Format: format.Name, At: filepath.Join(out, one.File), Op: "verify", Err: errors.New("does not hold the session that was merged")}
		}
		if err != nil {
			return err
		}
		delete(want, key)
	}
	for key := range want {
		return &formats.Error{Format: format.Name, At: out, Op: "verify", Err: fmt.Errorf("%q is missing", key)}
	}
	return nil
}

package merge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"rehome/formats"
)

// union is the union of some stores of one format, by the sessions in them.
type union struct {
	format   *formats.Format
	of       *formats.Merge
	titles   map[string]string
	sessions map[string][]*version // copies of each session; "" has what belongs to none
	settled  map[string]bool
	forked   map[string]string // forks, and the sessions that they are of
	newer    map[string]bool   // sessions that only one source has changed since the base
	copies   map[copyOf]int    // how many a source has
	remarks  func(string)
	progress func(stage string, n int)
}

// add adds a file of a source.
func (u *union) add(source int, f *file) error {
	id := u.of.Owner(f.path)
	if f.rule, _ = ruleFor(u.of, f.path); f.info != nil {
		f.changed = f.info.ModTime()
	}
	f.progress = u.progress
	if err := f.load(); err != nil {
		return err
	}
	all := u.sessions[id]
	if len(all) == 0 || all[len(all)-1].from[0] != source {
		all = append(all, &version{from: []int{source}, files: map[string]*file{}})
		u.sessions[id] = all
	}
	all[len(all)-1].files[f.path] = f
	return nil
}

// settle makes forks until no session has copies that diverge.
func (u *union) settle(ctx context.Context) error {
	u.rebase()
	for {
		var open []string
		for id := range u.sessions {
			if id != "" && !u.settled[id] {
				open = append(open, id)
			}
		}
		if err := ctx.Err(); err != nil || len(open) == 0 {
			if common := u.sessions[""]; common != nil {
				u.sessions[""] = distinct(common)
			}
			return err
		}
		slices.Sort(open)
		for _, id := range open {
			if err := errors.Join(ctx.Err(), u.split(id)); err != nil {
				return err
			}
		}
	}
}

// split makes forks of the copies of a session that diverge.
func (u *union) split(id string) error {
	u.settled[id] = true
	u.sessions[id] = distinct(u.sessions[id])
	for {
		d := diverge(u.of, u.sessions[id])
		if d == nil {
			return nil
		}
		if err := u.checkBases(d); err != nil {
			return err
		}
		for _, b := range d.branches[1:] {
			to := u.of.Fork(id, b.record.String())
			u.forked[to] = id
			u.settled[to] = false
			for _, v := range b.copies {
				forked, err := u.fork(v, id, to, d, b.record)
				if err != nil {
					return err
				}
				u.sessions[to] = append(u.sessions[to], forked)
			}
		}
		u.sessions[id] = d.branches[0].copies
	}
}

// checkBases returns an error if a copy has a session that goes on with one that has
// diverged, but not that one: nobody knows with which of them.
func (u *union) checkBases(d *divergence) error {
	base := d.branches[0].copies[0].files[d.path].session
	for _, v := range d.branches[0].copies {
		for _, f := range v.files {
			if f.own && f.parent == base && base != "" && v.files[d.path] == nil {
				return &formats.Error{Format: u.format.Name, At: f.real, Err: fmt.Errorf("continues session %s, which its source lacks and others continued differently", base),
					Hint: "add that session to its source, or leave this file out"}
			}
		}
	}
	return nil
}

// refuse returns the error of a session that was continued differently, in a format
// without forks.
func (u *union) refuse(d *divergence) error {
	return &formats.Error{Format: u.format.Name, At: d.path, Err: errors.New("differs between the sources, and such a file has no forks"),
		Hint: "merge the stores of the clients, or give one of the files another name"}
}

// distinct returns one of each of some copies that are equal.
func distinct(all []*version) (out []*version) {
	by := map[digest]*version{}
	for _, v := range all {
		sum := v.sum()
		if one := by[sum]; one != nil {
			one.from = append(one.from, v.from...)
			slices.Sort(one.from)
			one.from = slices.Compact(one.from)
			for p, f := range v.files {
				was := one.files[p]
				if was.changed = latest(was.changed, f.changed); comparePlaces(f, was) > 0 {
					was.place = f.place
				}
			}
			continue
		}
		by[sum] = v
		out = append(out, v)
	}
	return out
}

// latest returns the later one of two times.
func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// fork returns a copy of a session as a fork of it.
func (u *union) fork(v *version, id, to string, d *divergence, record digest) (*version, error) {
	fk := &fork{rewrite: u.of.Rewrite, ids: map[string]string{id: to}, title: u.titles[id]}
	titled, err := u.identify(v, fk, d, to, record)
	if err != nil {
		return nil, err
	}
	rule := ruleOf([]*version{v}, d.path)
	untitled := !titled && u.of.Title != nil && rule != nil && rule.Key == nil
	for _, f := range v.files {
		if f.session != "" && f.session != id {
			fk.ids[f.session] = u.of.Fork(f.session, record.String())
		}
	}
	out := &version{from: v.from, files: map[string]*file{}, root: fk.ids[v.root], store: v.store, rel: v.rel, forks: append(slices.Clone(v.forks), to)}
	for p, f := range v.files {
		if formats.IsSidecar(path.Base(p)) { // it is about other lines
			u.remarks("fork " + to + ": details that its lines cannot hold, such as row ids, are new")
			continue
		}
		if f.virtual() {
			out.files[p] = f
			continue
		}
		one, as := *f, forked{fork: fk, nth: d.nth}
		if untitled && p == d.path {
			as.line = u.of.Title(to, fk.title)
		}
		one.path, one.forks = strings.ReplaceAll(p, id, to), append(slices.Clone(f.forks), as)
		if f.session != "" {
			one.of, one.parent = f.session, cmp.Or(fk.ids[f.parent], f.parent)
			if one.session = fk.ids[f.session]; f.rule == nil {
				return nil, u.refuse(d)
			}
			one.path, one.place = nameOf(one.session, f.path), u.of.Path(f.at(), f.session, one.session)
		}
		if err := one.load(); err != nil {
			return nil, err
		}
		out.files[one.path] = &one
	}
	return out, nil
}

// identify finds the ids that the lines of a session define, and whether what the
// copies have in common says its title.
func (u *union) identify(v *version, fk *fork, d *divergence, to string, record digest) (titled bool, err error) {
	for p, f := range v.files {
		if f.rule == nil || f.rule.State || f.virtual() {
			continue
		}
		n := 0
		err := f.each(func(line []byte) error {
			text := bytes.TrimRight(line, "\r\n")
			if n++; f.rule.Key != nil {
				switch _, id := f.rule.Key(text); {
				case id == "":
				case f.rule.Session:
					fk.ids[id] = to
				case fk.ids[id] == "":
					fk.ids[id] = u.of.Fork(id, record.String())
				}
			} else if p == d.path && n <= d.nth && !titled {
				_, titled = u.of.Rewrite(nil, text, p, fk.ids, "")
			}
			return nil
		})
		if err != nil {
			return false, err
		}
	}
	return titled, nil
}

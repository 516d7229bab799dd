package merge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rehome/convert/internal/notify"
	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/store"
)

// whole is a store that is one session, with its path below its source.
type whole struct {
	source
	rel string
}

// folder returns the folder that the session's own folder is in: a store is a folder, or
// a file in one.
func (w *whole) folder() string {
	if dir := path.Dir(w.rel); w.isDir() || dir == "." {
		return dir
	}
	return path.Dir(path.Dir(w.rel))
}

// isDir reports whether the store, or its archive, is a folder.
func (w *whole) isDir() bool { return w.archive != nil || w.loc.IsDir() }

// uniteWhole unites the stores that are one session each, folder by folder.
func (m *merger) uniteWhole(ctx context.Context, out string) error {
	unions := map[string]*union{}
	for _, w := range m.whole {
		key := w.format.Name + "\x00" + w.folder()
		if unions[key] == nil {
			unions[key] = m.newUnion(w.format)
		}
		if err := m.readWhole(ctx, unions[key], w); err != nil {
			return err
		}
	}
	taken := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(unions)) {
		u := unions[key]
		if err := u.settle(ctx); err != nil {
			return err
		}
		for _, id := range slices.Sorted(maps.Keys(u.sessions)) {
			all := u.sessions[id]
			best(u.of, all)
			rel := place(all, id)
			if taken[rel] {
				return &formats.Error{At: rel, Err: errors.New("two sessions have this path"), Hint: "give one of the stores another name"}
			}
			taken[rel] = true
			at, goal := filepath.Join(out, filepath.FromSlash(rel)), ""
			as := m.archived
			if v := all[0]; v.store.original != nil && len(v.forks) == 0 {
				if err := copyText(v.store.original, at); err != nil {
					return err
				}
				m.report(u, rel, id)
				continue
			}
			if as != nil {
				at, goal = filepath.Join(m.temp.Path, "restored", "merged", filepath.Base(at)), at
			}
			if err := m.writeWhole(ctx, u, all[0], id, at); err != nil {
				return err
			}
			if as != nil {
				if err := m.archive(ctx, at, goal, as.Name); err != nil {
					return err
				}
			}
			m.report(u, rel, id)
		}
	}
	return nil
}

// place returns the path of a session's store: one that it has in the sources, or that of
// a fork beside it.
func place(all []*version, id string) string {
	var rels []string
	for _, v := range all {
		w := whole{v.store, v.rel}
		switch {
		case len(v.forks) > 0 && w.isDir():
			rels = append(rels, path.Join(w.folder(), id))
		case len(v.forks) > 0:
			rels = append(rels, path.Join(w.folder(), id, path.Base(w.loc.Path)))
		case v.rel == ".":
			rels = append(rels, path.Join(folderName(id), map[bool]string{false: path.Base(w.loc.Path)}[w.isDir()]))
		default:
			return v.rel
		}
	}
	return slices.Min(rels)
}

// folderName returns the id of a session as the name of its folder. An id is what a store
// says: one that is not a plain name is replaced by a digest of it.
func folderName(id string) string {
	plain := func(c rune) bool {
		return c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	if _, err := filepath.Localize(id); err != nil || id == "" || len(id) > 64 || strings.TrimFunc(id, plain) != "" {
		return digestOf([]byte(id)).String()[:32]
	}
	return id
}

// readWhole adds a store that is one session.
func (m *merger) readWhole(ctx context.Context, u *union, w whole) (err error) {
	id := ""
	for h, err := range w.format.Sessions.Heads(ctx, w.loc, m.view()) {
		if err != nil {
			return err
		}
		if id == "" {
			id = h.ID
			u.titles[id] = max(u.titles[id], h.Title)
		}
	}
	view := m.view()
	view.OnLoss = func(l loss.Loss) { m.lost(cmp.Or(w.original, w.loc).Path, l.Group()) }
	r, err := w.format.Records.Open(ctx, w.loc, view)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	v := &version{from: []int{w.n}, files: map[string]*file{}, store: w.source, rel: w.rel}
	sets := r.Schema().Sets
	for i := range sets {
		f := &file{path: sets[i].File + "/" + sets[i].Name, rule: &formats.MergeFile{State: true}}
		if u.of.Added(&sets[i]) {
			f.rule = &formats.MergeFile{}
		}
		v.files[f.path] = f
	}
	state := sha256.New()
	err = store.EachRow(r.Batches(ctx), func(b *store.Batch, i int) error {
		f := v.files[sets[b.Set].File+"/"+sets[b.Set].Name]
		row := sha256.New()
		fmt.Fprintln(row, b.Set)
		for col := range b.Width() {
			c := b.Cell(i, col)
			row.Write(binary.LittleEndian.AppendUint64([]byte{byte(c.Class)}, c.Bits()))
			row.Write(c.Bytes())
			m.progress(notify.Reading, len(c.Bytes()))
		}
		sum := row.Sum(nil)
		state.Write(sum)
		if !f.rule.State {
			f.lines = append(f.lines, digest(sum))
		}
		return nil
	})
	for _, f := range v.files {
		f.sum = digest(state.Sum(nil)) // of the store: two that differ in anything are two
	}
	u.sessions[id] = append(u.sessions[id], v)
	return err
}

// writeWhole writes a store, reads it again and compares both.
func (m *merger) writeWhole(ctx context.Context, u *union, v *version, id, at string) (err error) {
	format := v.store.format
	r, err := format.Records.Open(ctx, v.store.loc, m.view())
	if was := u.forked[id]; err == nil && was != "" && len(v.forks) > 0 {
		if err = r.Close(); err == nil {
			r, err = u.of.Open(ctx, v.store.loc, m.view(), first(u, v), id)
		}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		return err
	}
	w, err := format.Records.Create(ctx, formats.Build{Path: at, Schema: r.Schema(), Shard: format.Records.Shard, Jobs: m.opts.Jobs, WithSecrets: true, OnSidecar: func(store.SidecarItem) {}, OnLoss: m.view().OnLoss})
	if err != nil {
		return err
	}
	defer w.Close()
	for b, err := range r.Batches(ctx) {
		if err != nil {
			return err
		}
		m.progress(notify.Writing, b.Size())
		if err := w.Put(ctx, b); err != nil {
			return err
		}
	}
	if err := errors.Join(w.Finish(ctx), w.Close()); err != nil {
		return err
	}
	l, err := formats.Locate(at)
	if err != nil {
		return err
	}
	again, err := format.Records.Open(ctx, l, m.view())
	if err != nil {
		return err
	}
	err = store.EachRow(again.Batches(ctx), func(*store.Batch, int) error { return nil })
	if err == nil && !slices.Equal(again.Summary(), r.Summary()) {
		err = &formats.Error{Format: format.Name, At: at, Op: "verify", Err: errors.New("read back with other content than was written")}
	}
	return errors.Join(err, again.Close())
}

// first returns the id that a store has, of which a copy is a fork, or a fork of one.
func first(u *union, v *version) string {
	return u.forked[v.forks[0]]
}

// view is how stores are read: as they are, with secrets.
func (m *merger) view() formats.View {
	v := formats.FullView(m.opts.Jobs)
	v.Live, v.Verbose, v.OnNotice = m.opts.Live, m.opts.Verbose, m.opts.OnNotice
	return v
}

package watch

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"rehome/convert"
	"rehome/convert/internal/walk"
	"rehome/convert/sessions"
	"rehome/formats"
	"rehome/formats/session"
)

// Stores up to maxListed bytes are listed to find out which of their sessions have
// changed. Up to maxDecoded bytes of them, sessions are also decoded if that is needed
// to count their turns.
const (
	maxListed  = 256 << 20
	maxDecoded = 16 << 20
)

// reportChanges reports what a round has changed. The first one has nothing to compare
// with, so that only the numbers of stores are reported.
func (w *watcher) reportChanges(ctx context.Context, r *convert.Report) {
	kept := w.newKept(r)
	if !w.ready {
		w.ready, w.known = true, map[string]session.Head{}
		for _, h := range w.headsOf(ctx, placed(r)...) {
			w.known[h.Agent+"/"+h.ID] = h
		}
		w.emit(Event{Kind: Ready, Target: w.Target, Stores: countStores(r)})
		return
	}
	for _, s := range placed(r) {
		if s.Change != convert.Unchanged {
			w.reportStore(ctx, s)
		}
	}
	for _, store := range kept {
		w.emit(Event{Kind: Kept, Store: store, Target: w.inTarget(store)})
	}
}

// placed returns the stores whose text is up to date.
func placed(r *convert.Report) (out []*convert.StoreReport) {
	for i := range r.Stores {
		if s := &r.Stores[i]; s.Status == convert.Placed {
			out = append(out, s)
		}
	}
	return out
}

// reportStore reports the sessions of a store that have changed, or the store if that
// is unknown.
func (w *watcher) reportStore(ctx context.Context, s *convert.StoreReport) {
	some := false
	for _, now := range w.headsOf(ctx, s) {
		before, known := w.known[now.Agent+"/"+now.ID]
		w.known[now.Agent+"/"+now.ID] = now
		if known && now.Turns == before.Turns && now.Bytes == before.Bytes && now.Updated == before.Updated && now.Title == before.Title {
			continue
		}
		e := Event{Kind: Session, Store: s.Path, Session: now.ID, Client: now.Agent, Title: now.Title, Target: w.fileOf(s, now.ID)}
		if now.Turns >= 0 {
			e.Turns = &now.Turns
		}
		if n := now.Turns - max(before.Turns, 0); now.Turns >= 0 && n >= 0 && (!known || before.Turns >= 0) {
			e.NewTurns = &n
		}
		some = true
		w.emit(e)
	}
	if !some {
		w.emit(Event{Kind: Store, Store: s.Path, Target: w.inTarget(s.Path), Files: len(s.Files)})
	}
}

// headsOf returns the heads of the sessions of some stores: as they were converted, or
// if records were, as the stores list them now.
func (w *watcher) headsOf(ctx context.Context, stores ...*convert.StoreReport) (out []session.Head) {
	var paths []string
	for _, s := range stores {
		for _, c := range s.Sessions {
			out = append(out, session.Head{ID: c.ID, Agent: c.Agent, Title: c.Title, Turns: c.Turns, Bytes: c.Bytes})
		}
		if len(s.Sessions) == 0 {
			paths = append(paths, filepath.Join(w.Source, filepath.FromSlash(s.Path)))
		}
	}
	return append(out, w.list(ctx, paths)...)
}

// newKept returns the stores that have vanished since the last round.
func (w *watcher) newKept(r *convert.Report) (fresh []string) {
	gone := map[string]bool{}
	for i := range r.Stores {
		if s := &r.Stores[i]; s.Change == convert.Kept {
			gone[s.Path] = true
			if !w.kept[s.Path] {
				fresh = append(fresh, s.Path)
			}
		}
	}
	w.kept = gone
	return fresh
}

func (w *watcher) inTarget(store string) string {
	return filepath.Join(w.Target, filepath.FromSlash(store))
}

// fileOf returns the file or folder of the target that is named after a session, or
// the text of its store.
func (w *watcher) fileOf(s *convert.StoreReport, id string) string {
	for _, f := range s.Files {
		file := f.Path
		for at := ""; file != "" && id != ""; {
			name, rest, _ := strings.Cut(file, "/")
			if at, file = path.Join(at, name), rest; strings.Contains(name, id) {
				return filepath.Join(w.Target, filepath.FromSlash(at))
			}
		}
	}
	return w.inTarget(s.Path)
}

// listHeads lists the sessions of some stores. What cannot be listed, because it is
// too large or in use, is left out.
func (w *watcher) listHeads(ctx context.Context, stores []string) (out []session.Head) {
	o := sessions.Options{Live: w.Convert.Live, Jobs: w.Convert.Jobs}
	total := int64(0)
	for _, at := range stores {
		loc, err := formats.Locate(at)
		if err != nil {
			continue
		}
		if size := walk.Size(loc); size <= maxListed {
			o.Paths, total = append(o.Paths, at), total+size
		}
	}
	o.Long = total <= maxDecoded
	if len(o.Paths) == 0 {
		return nil
	}
	listing, err := sessions.List(ctx, w.Registry, o)
	if err != nil {
		return nil
	}
	for _, s := range listing.Sessions {
		out = append(out, s.Head)
	}
	return out
}

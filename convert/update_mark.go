package convert

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"rehome/convert/internal/mark"
	"rehome/convert/internal/sidecar"
	"rehome/convert/internal/worktree"
	"rehome/formats"
	"rehome/internal/fsx"
)

// layoutVersion changes when the same source makes other text: then no store is
// skipped.
const layoutVersion = 3

// StateDir returns the folder of a user's machine for what updates remember, ""
// if there is none.
func StateDir(m formats.Machine) string {
	if dir := m.State(); dir != "" {
		return filepath.Join(dir, "updates")
	}
	return ""
}

func defaultStateDir() string {
	home, _ := os.UserHomeDir() // "" if unknown
	return StateDir(formats.Machine{OS: runtime.GOOS, Home: home, Getenv: os.Getenv})
}

// madeBy names what decides on the text besides the source.
func (u *update) madeBy() string {
	o, build := u.opts, ""
	if info, ok := debug.ReadBuildInfo(); ok {
		build = info.Main.Version
		for _, s := range info.Settings {
			if strings.HasPrefix(s.Key, "vcs.") {
				build += " " + s.Value
			}
		}
	}
	src, _ := filepath.Abs(u.src)
	b, _ := json.Marshal([]any{layoutVersion, build, src, o.From, o.To, o.Allow, o.Sidecar, o.WithSecrets, o.Compress, o.Cwd, o.BySession, o.DropThinking, o.FullHistory, o.History, o.Sessions, o.Workspace, o.Since})
	return string(b)
}

// skipUnchanged describes the sources before any is read, and skips those that are as
// the previous update read them, if it wrote what the target has. It reports whether
// nothing is left to do.
func (u *update) skipUnchanged() bool {
	u.after = mark.New(u.dest.Path(), u.madeBy())
	u.sources, u.made = make([][]mark.Stat, len(u.found)), map[string]bool{}
	if u.before != nil {
		u.after.Files = maps.Clone(u.before.Files)
		maps.DeleteFunc(u.after.Files, func(name string, f mark.File) bool {
			_, err := os.Lstat(u.currentPath(u.above(name)))
			return f.Digest == "" && err != nil
		})
	}
	if u.rep.Lane == SessionConversion {
		return false // the folders of sessions and their heads come from other files, too
	}
	now, all := time.Now(), u.exists
	for i, f := range u.found {
		if f.Loc == nil {
			all = false
			continue
		}
		if u.sources[i] = u.describeSource(f.Loc); !mark.Settled(u.sources[i], now) {
			u.sources[i] = nil
		}
		if !u.skip(i) {
			all = false
		}
	}
	if !all || u.opts.Delete {
		return false
	}
	if !u.selects() {
		u.vanished()
	}
	return true
}

// describeSource describes the files that a store is read from: a database with its
// logs, else all files of its folder.
func (u *update) describeSource(l *formats.Location) []mark.Stat {
	at, err := sidecar.PathOf(u.src)
	if err != nil {
		return nil
	}
	if l.IsDir() {
		return mark.Source(l.Path, at)
	}
	return mark.Source(l.Path, l.Path+"-wal", l.Path+"-journal", at)
}

// skip skips a store that has not changed.
func (u *update) skip(i int) bool {
	rel := u.found[i].Rel
	if u.before == nil || u.before.Made != u.after.Made || u.opts.Verify == VerifyFull || u.opts.Redact != nil || !u.exists {
		return false
	}
	was, ok := u.before.Stores[rel]
	if !ok || was.Source == nil || was.Kept && u.opts.Delete || !slices.Equal(was.Source, u.sources[i]) {
		return false
	}
	rep := newStoreReport(u.found[i])
	if json.Unmarshal(was.Report, &rep) != nil || rep.Path != rel || rep.Status != Placed && rep.Status != Checked {
		return false
	}
	if !u.asWritten(rel) {
		return false
	}
	rep.Status, rep.Change, rep.Files = Placed, Unchanged, nil
	if u.opts.DryRun {
		rep.Status = Checked
	}
	rep.skipped = true
	u.rep.Stores[i] = rep
	u.after.Stores[rel] = was
	return true
}

// asWritten reports whether all files of a store look as the previous update wrote them.
func (u *update) asWritten(rel string) bool {
	some := false
	for _, name := range u.byStore[rel] {
		if strings.HasPrefix(name, "../") {
			continue
		}
		f := u.before.Files[name]
		info, err := u.lstat(u.above(name))
		if removed := f.Digest == ""; err != nil || removed != (info == nil) || !removed && mark.StatOf(info) != f.Stat {
			return false
		}
		some = some || info != nil
	}
	return some
}

// remember notes what a store was made from.
func (u *update) remember(i int) {
	rep := u.rep.Stores[i]
	kept := slices.ContainsFunc(rep.Files, func(f FileChange) bool { return f.Change == Kept })
	rep.Files, rep.Change, rep.Status = nil, "", Placed
	if b, err := u.reportOf(&rep); err == nil {
		n := u.noted[rep.Path]
		kept = kept || n != nil && n.partial && u.before.Stores[rep.Path].Kept // of sets that were not read
		u.after.Stores[rep.Path] = mark.Store{Source: u.sources[i], Report: b, Kept: kept}
		if n != nil {
			u.after.SetChanges(rep.Path, n.state)
		}
	}
}

// save writes the mark. It is a cache, so that an error is only a remark.
func (u *update) save() {
	if u == nil || u.opts.DryRun {
		return
	}
	if u.before != nil {
		for rel, s := range u.before.Stores {
			if _, ok := u.after.Stores[rel]; !ok && len(u.filesFrom(rel)) > 0 {
				u.after.Stores[rel] = s
			}
		}
	}
	if err := u.after.Write(u.state); err != nil {
		u.notify.Say(fmt.Sprintf("the next update will read everything again: %v", err))
	}
}

// rememberText writes the mark of text that is new, so that an update knows whether others
// have edited it. It says nothing of the sources: the update reads them all.
func (j *job) rememberText(ctx context.Context, withSidecar bool) error {
	if j.update != nil || j.opts.State == "" || j.opts.State == NoState {
		return nil
	}
	u := &update{job: j, base: path.Join(j.dest.Tail...), state: j.opts.State, after: mark.New(j.dest.Path(), "")}
	for i := range j.rep.Stores {
		s := &j.rep.Stores[i]
		if to := j.reg.Lookup(s.To); s.Status != Placed || to == nil || !to.Text {
			continue
		}
		u.after.Stores[s.Path] = mark.Store{}
		for _, name := range u.filesOf(i) {
			if err := u.rememberFiles(ctx, s.Path, name); err != nil {
				return err
			}
		}
	}
	if len(u.after.Files) == 0 {
		return nil
	}
	if withSidecar && !j.sidecar.Named {
		if err := u.rememberFiles(ctx, "", path.Join(j.sidecar.To.Tail...)); err != nil {
			return err
		}
	}
	u.save()
	return nil
}

// rememberFiles notes a staged file, or those of a staged folder.
func (u *update) rememberFiles(ctx context.Context, store, name string) error {
	return filepath.WalkDir(u.stagedPath(name), func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return cmp.Or(err, ctx.Err())
		}
		rel, err := filepath.Rel(u.stage.Tree, at)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		digest, err := fsx.Digest(at)
		u.after.Files[u.below(filepath.ToSlash(rel))] = mark.File{Store: store, Digest: digest, Stat: mark.StatOf(info)}
		return err
	})
}

// isCommitted reports whether a file of the target is as it is in the current commit
// of the repository around it.
func (u *update) isCommitted(name string) bool {
	dir, rel := u.base, u.below(name)
	if info, err := os.Lstat(u.currentPath(u.base)); err != nil || !info.IsDir() || strings.HasPrefix(rel, "../") {
		dir, rel = path.Dir(u.base), path.Base(name)
	}
	if u.committed[dir] == nil {
		u.committed[dir] = worktree.List(context.Background(), u.currentPath(dir))
	}
	return u.committed[dir].Clean(rel)
}

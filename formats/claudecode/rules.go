package claudecode

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"rehome/formats"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// check asks a config folder, a project's folder or a file what the rules ask.
// Each session is read once, with its subagents behind it; sessions are read
// side by side.
func check(ctx context.Context, l *formats.Location, v formats.View, q *rule.Pass) error {
	a := &audit{ctx: ctx, view: v, q: q, dir: l.Path}
	if !l.IsDir() {
		a.dir = filepath.Dir(l.Path)
		file := filepath.Base(l.Path)
		one := &family{main: file, id: strings.TrimSuffix(file, ending), alone: true}
		one.old = strings.HasPrefix(one.id, "agent-")
		return a.run([]*family{one})
	}
	list, err := a.config(l.Has("projects"), l.Name())
	if err != nil {
		return failure(ctx, l.Path, err)
	}
	return a.run(list)
}

// audit is one store's.
type audit struct {
	ctx  context.Context
	view formats.View
	q    *rule.Pass
	dir  string // what the files' paths begin at
}

// family is a session's file, and what lies in the folder beside it.
type family struct {
	main   string // slash path; "" if there is a folder only
	id     string
	folder string // name of the project's folder, "" where that does not count
	old    bool   // a subagent's file that lies where sessions do
	alone  bool   // the file is the store
	kids   []string
	agents map[string]bool // of all sessions of the project
}

func (f *family) side() string { return strings.TrimSuffix(f.main, ending) }

// breach reports a finding, if its layer is asked for.
func (a *audit) breach(id, file string, line int, pointer, says string, args ...any) {
	if a.q.Enabled(rule.Lookup(id).Layer) {
		a.q.Report(rule.Finding{Rule: id, At: store.Addr{File: file, Line: line}, Pointer: pointer, Message: says, Args: args})
	}
}

func (a *audit) path(slash string) string { return filepath.Join(a.dir, filepath.FromSlash(slash)) }

// config lists the sessions of all projects, or of the one that the folder is.
func (a *audit) config(all bool, name string) (out []*family, err error) {
	if !all {
		return a.project(".", name)
	}
	list, err := os.ReadDir(filepath.Join(a.dir, "projects"))
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		if !e.IsDir() {
			continue
		}
		more, err := a.project(path.Join("projects", e.Name()), e.Name())
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// project lists the sessions of a project's folder.
func (a *audit) project(dir, name string) (out []*family, err error) {
	list, err := os.ReadDir(a.path(dir))
	if err != nil {
		return nil, err
	}
	agents := map[string]bool{}
	sessions := map[string]*family{}
	for _, e := range list {
		id, ok := strings.CutSuffix(e.Name(), ending)
		if !ok {
			continue
		}
		one := &family{main: path.Join(dir, e.Name()), id: id, folder: name, agents: agents}
		switch {
		case !e.Type().IsRegular():
			a.irregular(e, one.main)
			continue
		case strings.HasPrefix(id, "agent-"):
			agents[agentOf(id)], one.old = true, true
			a.breach("RH469", one.main, 0, "", "")
		case !isUUID(id):
			if !a.session(one.main) {
				continue
			}
			a.breach("RH440", one.main, 0, "", "")
		}
		sessions[id] = one
		out = append(out, one)
	}
	for _, e := range list {
		if !e.IsDir() || !isUUID(e.Name()) {
			continue
		}
		one := &family{id: e.Name(), main: path.Join(dir, e.Name()+ending)}
		a.kids(one)
		for _, kid := range one.kids {
			agents[agentOf(kid)] = true
		}
		switch known := sessions[e.Name()]; {
		case known != nil:
			known.kids = one.kids
		case len(one.kids) > 0:
			a.breach("RH470", path.Join(dir, e.Name()), 0, "", "")
			one.main = ""
			out = append(out, one)
		}
	}
	return out, nil
}

// session reports a file that begins as a session does, whatever its name.
func (a *audit) session(file string) bool {
	l, err := formats.Locate(a.path(file))
	if err != nil {
		return false
	}
	what, _ := begins(l)
	return what != ""
}

// irregular is something that has a session's name and is no file. A link is
// not followed: it leads out of the store.
func (a *audit) irregular(e fs.DirEntry, file string) {
	if e.Type()&fs.ModeSymlink == 0 && isUUID(strings.TrimSuffix(e.Name(), ending)) {
		a.breach("RH122", file, 0, "", "")
	}
}

// kids finds the files of a session's subagents.
func (a *audit) kids(f *family) {
	at := path.Join(f.side(), "subagents")
	filepath.WalkDir(a.path(at), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir // what cannot be listed is not there
		}
		if d.Type().IsRegular() && strings.HasPrefix(d.Name(), "agent-") && strings.HasSuffix(d.Name(), ending) {
			if rel, err := filepath.Rel(a.dir, p); err == nil {
				f.kids = append(f.kids, filepath.ToSlash(rel))
			}
		}
		return nil
	})
}

// run reads the families side by side.
func (a *audit) run(list []*family) error {
	jobs := a.view.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	next := make(chan *family)
	errs := make([]error, min(jobs, len(list)))
	var workers sync.WaitGroup
	for i := range errs {
		workers.Go(func() {
			w := &auditor{audit: a, schemas: a.q.Schemas()}
			for f := range next {
				if a.ctx.Err() == nil {
					errs[i] = errors.Join(errs[i], w.family(f))
				}
			}
		})
	}
	for _, f := range list {
		next <- f
	}
	close(next)
	workers.Wait()
	if err := a.ctx.Err(); err != nil {
		return err
	}
	return errors.Join(errs...)
}

// auditor is one goroutine's part of an audit.
type auditor struct {
	*audit
	schemas *rule.Schemas
}

// family reads a session, and then its subagents.
func (w *auditor) family(f *family) error {
	k := &kin{called: map[uint64]bool{}, calls: map[uint64]bool{}}
	if len(f.kids) > 0 {
		k.lines = map[uint64]struct{}{}
	}
	if f.main != "" {
		g := &ledger{auditor: w, file: f.main, id: f.id, thread: f.old, kin: k}
		if err := g.read(); err != nil {
			return err
		}
		g.listed(f)
		w.promises(f, k)
	}
	for _, kid := range f.kids {
		g := &ledger{auditor: w, file: kid, id: f.id, agent: agentOf(kid), thread: true, kin: k}
		if err := g.read(); err != nil {
			return err
		}
	}
	w.sought(k)
	if f.main != "" {
		w.subagents(f, k)
	}
	return nil
}

// agentOf is the id of the subagent that a file is named for.
func agentOf(file string) string {
	return strings.TrimSuffix(strings.TrimPrefix(path.Base(file), "agent-"), ending)
}

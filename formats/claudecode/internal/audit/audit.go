// Package audit applies the rules of `rehome check` to files of Claude Code.
package audit

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"rehome/formats"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/rule"
	"rehome/formats/store"
	"rehome/internal/rawjson"
)

// Check applies the rules to a config folder, a project's folder or a file. It
// reads each session once, followed by its subagents, and several sessions at a
// time.
func Check(ctx context.Context, l *formats.Location, v formats.View, q *rule.Pass) error {
	a := &audit{ctx: ctx, view: v, q: q, dir: l.Path}
	if !l.IsDir() {
		a.dir = filepath.Dir(l.Path)
		file := filepath.Base(l.Path)
		one := &family{main: file, id: strings.TrimSuffix(file, outline.Ending), alone: true}
		one.old = strings.HasPrefix(one.id, "agent-")
		return a.run([]*family{one})
	}
	root, err := os.OpenRoot(l.Path)
	if err != nil {
		return outline.Failure(ctx, l.Path, err)
	}
	defer root.Close()
	a.inside = root.FS()
	list, err := a.config(l.Has("projects"), l.Name())
	if err != nil {
		return outline.Failure(ctx, l.Path, err)
	}
	return a.run(list)
}

// audit is the check of one store.
type audit struct {
	ctx    context.Context
	view   formats.View
	q      *rule.Pass
	dir    string // that paths of files are relative to
	inside fs.FS  // dir, without links to the outside
}

// family is the file of a session with those of its subagents.
type family struct {
	main   string // relative path with slashes; "" if only the side folder exists
	id     string
	folder string // name of the project's folder, "" if it does not matter
	old    bool   // the file of a subagent in the folder of sessions, from an older client
	alone  bool   // the file is the store
	kids   []string
	agents map[string]bool // subagents of all sessions of the project
}

func (f *family) side() string { return strings.TrimSuffix(f.main, outline.Ending) }

// report reports a finding if its layer is enabled.
func (a *audit) report(id, file string, line int, pointer, says string, args ...any) {
	a.q.Add(id, store.Addr{File: file, Line: line}, pointer, says, args...)
}

func (a *audit) path(slash string) string { return filepath.Join(a.dir, filepath.FromSlash(slash)) }

// config lists the sessions of all projects, or of the one that the folder is.
func (a *audit) config(all bool, name string) (out []*family, err error) {
	dirs, _, err := outline.Projects(os.DirFS(a.dir), all)
	for _, dir := range dirs {
		if all {
			name = path.Base(dir)
		}
		more, err := a.project(dir, name)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, err
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
		id, ok := strings.CutSuffix(e.Name(), outline.Ending)
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
			a.report("RH469", one.main, 0, "", "")
		case !formats.IsUUID(id):
			if !a.session(one.main) {
				continue
			}
			a.report("RH440", one.main, 0, "", "")
		}
		sessions[id] = one
		out = append(out, one)
	}
	for _, e := range list {
		if !e.IsDir() || !formats.IsUUID(e.Name()) {
			continue
		}
		one := &family{id: e.Name(), main: path.Join(dir, e.Name()+outline.Ending)}
		one.kids = outline.Subagents(a.inside, one.side())
		for _, kid := range one.kids {
			agents[agentOf(kid)] = true
		}
		switch known := sessions[e.Name()]; {
		case known != nil:
			known.kids = one.kids
		case len(one.kids) > 0:
			a.report("RH470", path.Join(dir, e.Name()), 0, "", "")
			one.main = ""
			out = append(out, one)
		}
	}
	return out, nil
}

// session reports whether a file is recognized as a session, whatever its name.
func (a *audit) session(file string) bool {
	l, err := formats.Locate(a.path(file))
	return err == nil && outline.IsSession(l)
}

// irregular reports an entry with the name of a session that is not a regular file.
// Links are ignored, because they can point out of the store.
func (a *audit) irregular(e fs.DirEntry, file string) {
	if e.Type()&fs.ModeSymlink == 0 && formats.IsUUID(strings.TrimSuffix(e.Name(), outline.Ending)) {
		a.report("RH122", file, 0, "", "")
	}
}

// run checks the families in parallel.
func (a *audit) run(list []*family) error {
	next := make(chan *family)
	errs := make([]error, min(formats.Workers(a.view.Jobs), len(list)))
	var workers sync.WaitGroup
	for i := range errs {
		workers.Go(func() {
			w := &worker{audit: a, schemas: a.q.Schemas()}
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

// worker is one goroutine of an audit.
type worker struct {
	*audit
	schemas *rule.Schemas
}

// family checks a session, and then its subagents.
func (w *worker) family(f *family) error {
	a := *w.audit
	a.q = a.q.OwnedBy(f.id)
	w = &worker{audit: &a, schemas: w.schemas}
	k := &references{called: map[uint64]bool{}, calls: map[uint64]bool{}}
	if len(f.kids) > 0 {
		k.lines = map[uint64]struct{}{}
	}
	if f.main != "" {
		g := &fileAudit{worker: w, file: f.main, id: f.id, thread: f.old, references: k}
		if err := g.read(); err != nil {
			return err
		}
		g.listed(f)
		w.promises(f, k)
	}
	for _, kid := range f.kids {
		g := &fileAudit{worker: w, file: kid, id: f.id, agent: agentOf(kid), thread: true, references: k}
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

// agentOf returns the id of the subagent in the name of a file.
func agentOf(file string) string {
	return strings.TrimSuffix(strings.TrimPrefix(path.Base(file), "agent-"), outline.Ending)
}

// references are between the files of a session and its subagents.
type references struct {
	calls  map[uint64]bool     // ids of calls
	lines  map[uint64]struct{} // uuids of lines; nil if the session has no subagents
	sought []sought            // what a file refers to but does not contain
	called map[uint64]bool     // agents that results name
	sides  map[string]bool     // agents whose lines are in the session's own file
	agents []promise
	files  []promise
}

// sought is a reference to a line or call that another file of the family may
// contain. If none does, it is a finding.
type sought struct {
	what              uint64
	call              bool
	id, file, pointer string
	line              int32
}

func (k *references) seek(s sought) { k.sought = append(k.sought, s) }

// addLines adds the uuids of a file that was read.
func (k *references) addLines(g *fileAudit) {
	if k.lines != nil {
		for _, l := range g.links {
			k.lines[l.UUID] = struct{}{}
		}
	}
}

// sought reports references that no file of a family resolves.
func (w *worker) sought(k *references) {
	for _, s := range k.sought {
		_, there := k.lines[s.what]
		if s.call {
			there = k.calls[s.what]
		}
		if !there {
			w.report(s.id, s.file, int(s.line), s.pointer, "")
		}
	}
}

// promise is the name of a file in a line.
type promise struct {
	name string
	file string // that contains the line
	line int
}

func (k *references) beside(agent string) {
	if k.sides == nil {
		k.sides = map[string]bool{}
	}
	if len(k.sides) < outline.MaxCalls {
		k.sides[agent] = true
	}
}

// promises reports missing files that the lines of a session name.
func (w *worker) promises(f *family, k *references) {
	for _, p := range k.files {
		at := strings.ReplaceAll(p.name, `\`, "/")
		base, origin := path.Base(at), path.Base(path.Dir(path.Dir(at)))
		lost := func(side string) bool {
			_, err := os.Stat(w.path(path.Join(side, "tool-results", base)))
			return errors.Is(err, fs.ErrNotExist)
		}
		// Files that a fork refers to are those of the original session.
		if lost(f.side()) && (!formats.IsUUID(origin) || lost(path.Join(path.Dir(f.side()), origin))) {
			w.report("RH372", p.file, p.line, "/toolUseResult/persistedOutputPath", "%q", rule.Clip(base))
		}
	}
	k.files = nil
}

// subagents reports subagents without a file or a call.
func (w *worker) subagents(f *family, k *references) {
	w.promises(f, k)
	have := map[string]bool{}
	for _, kid := range f.kids {
		id := agentOf(kid)
		have[id] = true
		tool, ok := w.meta(strings.TrimSuffix(kid, outline.Ending) + ".meta.json")
		switch {
		case !ok:
		case tool != 0 && !k.calls[tool]:
			w.report("RH371", strings.TrimSuffix(kid, outline.Ending)+".meta.json", 0, "/toolUseId", "")
		case tool == 0 && !k.called[key(id)]:
			w.report("RH369", kid, 0, "", "")
		}
	}
	if f.alone {
		return // its folder is not part of the check
	}
	for _, p := range k.agents {
		if !have[p.name] && !f.agents[p.name] && !k.sides[p.name] {
			w.report("RH373", p.file, p.line, "/toolUseResult/agentId", "%q", rule.Clip(p.name))
		}
	}
}

// meta reads the .meta.json file of a subagent: the call that started it.
func (w *worker) meta(file string) (tool uint64, ok bool) {
	const most = 1 << 20
	info, err := os.Lstat(w.path(file))
	if err != nil {
		return 0, true // it is optional
	}
	if info.Mode().IsRegular() && info.Size() <= most {
		b, err := os.ReadFile(w.path(file))
		if err == nil {
			if doc, _, err := rawjson.Line(bytes.TrimPrefix(b, []byte("\ufeff"))); err == nil && doc[0] == '{' {
				return outline.Hash(rawjson.Last(doc, "toolUseId")), true
			}
		}
	}
	w.report("RH370", file, 0, "", "")
	return 0, false
}

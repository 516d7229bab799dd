// Package audit applies the rules of `rehome check` to files of Claude Code.
package audit

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

	"bytes"

	"rehome/formats"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/internal/rawjson"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// Check asks a config folder, a project's folder or a file what the rules ask.
// Each session is read once, with its subagents behind it; sessions are read
// side by side.
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

// audit is one store's.
type audit struct {
	ctx    context.Context
	view   formats.View
	q      *rule.Pass
	dir    string // what the files' paths begin at
	inside fs.FS  // dir, without links that lead out of it
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

func (f *family) side() string { return strings.TrimSuffix(f.main, outline.Ending) }

// breach reports a finding, if its layer is asked for.
func (a *audit) breach(id, file string, line int, pointer, says string, args ...any) {
	if a.q.Enabled(rule.Lookup(id).Layer) {
		a.q.Report(rule.Finding{Rule: id, At: store.Addr{File: file, Line: line}, Pointer: pointer, Message: says, Args: args})
	}
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
			a.breach("RH469", one.main, 0, "", "")
		case !outline.IsUUID(id):
			if !a.session(one.main) {
				continue
			}
			a.breach("RH440", one.main, 0, "", "")
		}
		sessions[id] = one
		out = append(out, one)
	}
	for _, e := range list {
		if !e.IsDir() || !outline.IsUUID(e.Name()) {
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
	what, _ := outline.Recognize(l)
	return what != ""
}

// irregular is something that has a session's name and is no file. A link is
// not followed: it leads out of the store.
func (a *audit) irregular(e fs.DirEntry, file string) {
	if e.Type()&fs.ModeSymlink == 0 && outline.IsUUID(strings.TrimSuffix(e.Name(), outline.Ending)) {
		a.breach("RH122", file, 0, "", "")
	}
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
	return strings.TrimSuffix(strings.TrimPrefix(path.Base(file), "agent-"), outline.Ending)
}

// kin is what a session and its subagents say of one another.
type kin struct {
	calls  map[uint64]bool     // ids of calls
	lines  map[uint64]struct{} // uuids of lines; nil of a session without subagents
	sought []sought            // what a file refers to and does not have itself
	called map[uint64]bool     // agents that a result names
	sides  map[string]bool     // agents whose lines are in the session's own file
	agents []promise
	files  []promise
}

// sought is a line or a call that another file of the family may have. If none
// has it, the finding stands.
type sought struct {
	what              uint64
	call              bool
	id, file, pointer string
	line              int32
}

func (k *kin) seek(s sought) { k.sought = append(k.sought, s) }

// meet notes the lines of a file that was read.
func (k *kin) meet(g *ledger) {
	if k.lines != nil {
		for id := range g.at {
			k.lines[id] = struct{}{}
		}
	}
}

// sought reports what no file of a family has.
func (w *auditor) sought(k *kin) {
	for _, s := range k.sought {
		_, there := k.lines[s.what]
		if s.call {
			there = k.calls[s.what]
		}
		if !there {
			w.breach(s.id, s.file, int(s.line), s.pointer, "")
		}
	}
}

// promise is a file that a line names.
type promise struct {
	name string
	file string // in which it is said
	line int
}

func (k *kin) beside(agent string) {
	if k.sides == nil {
		k.sides = map[string]bool{}
	}
	if len(k.sides) < outline.MaxCalls {
		k.sides[agent] = true
	}
}

// promises asks for the files that a session's lines name.
func (w *auditor) promises(f *family, k *kin) {
	for _, p := range k.files {
		at := strings.ReplaceAll(p.name, `\`, "/")
		base, origin := path.Base(at), path.Base(path.Dir(path.Dir(at)))
		lost := func(side string) bool {
			_, err := os.Stat(w.path(path.Join(side, "tool-results", base)))
			return errors.Is(err, fs.ErrNotExist)
		}
		// What a session has from one that it is a fork of lies beside that.
		if lost(f.side()) && (!outline.IsUUID(origin) || lost(path.Join(path.Dir(f.side()), origin))) {
			w.breach("RH372", p.file, p.line, "/toolUseResult/persistedOutputPath", "%q", rule.Clip(base))
		}
	}
	k.files = nil
}

// subagents asks for each subagent's file and call.
func (w *auditor) subagents(f *family, k *kin) {
	w.promises(f, k)
	have := map[string]bool{}
	for _, kid := range f.kids {
		id := agentOf(kid)
		have[id] = true
		tool, ok := w.meta(strings.TrimSuffix(kid, outline.Ending) + ".meta.json")
		switch {
		case !ok:
		case tool != 0 && !k.calls[tool]:
			w.breach("RH371", strings.TrimSuffix(kid, outline.Ending)+".meta.json", 0, "/toolUseId", "")
		case tool == 0 && !k.called[key(id)]:
			w.breach("RH369", kid, 0, "", "")
		}
	}
	if f.alone {
		return // its folder is no part of what is asked
	}
	for _, p := range k.agents {
		if !have[p.name] && !f.agents[p.name] && !k.sides[p.name] {
			w.breach("RH373", p.file, p.line, "/toolUseResult/agentId", "%q", rule.Clip(p.name))
		}
	}
}

// meta reads what lies beside a subagent's file: the call that started it.
func (w *auditor) meta(file string) (tool uint64, ok bool) {
	const most = 1 << 20
	info, err := os.Lstat(w.path(file))
	if err != nil {
		return 0, true // it need not be there
	}
	if info.Mode().IsRegular() && info.Size() <= most {
		b, err := os.ReadFile(w.path(file))
		if err == nil {
			if doc, _, err := rawjson.Line(bytes.TrimPrefix(b, []byte("\ufeff"))); err == nil && doc[0] == '{' {
				return outline.Hash(rawjson.Last(doc, "toolUseId")), true
			}
		}
	}
	w.breach("RH370", file, 0, "", "")
	return 0, false
}

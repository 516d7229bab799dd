package claudecode

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"rehome/formats/internal/rawjson"
	"rehome/formats/rule"
)

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
	if len(k.sides) < mostCalls {
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
		if lost(f.side()) && (!isUUID(origin) || lost(path.Join(path.Dir(f.side()), origin))) {
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
		tool, ok := w.meta(strings.TrimSuffix(kid, ending) + ".meta.json")
		switch {
		case !ok:
		case tool != 0 && !k.calls[tool]:
			w.breach("RH371", strings.TrimSuffix(kid, ending)+".meta.json", 0, "/toolUseId", "")
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
				return name64(rawjson.Last(doc, "toolUseId")), true
			}
		}
	}
	w.breach("RH370", file, 0, "", "")
	return 0, false
}

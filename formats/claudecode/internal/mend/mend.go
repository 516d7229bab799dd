// Package mend repairs files of Claude Code: it links lines again, and changes or
// removes what the client or the API rejects.
//
// A file is written again in one pass, line by line. What a line needs to know of
// others precedes it, or is collected in a pass of its own before (plan). Ids that the
// repair makes are derived from the file, so that the same file gives the same bytes.
package mend

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"

	"rehome/formats"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/internal/filename"
	"rehome/formats/internal/linerepair"
	"rehome/formats/rule"
	"rehome/internal/rawjson"
)

// Repair repairs a file of a session or a subagent.
func Repair(ctx context.Context, path string, r *formats.Repair) error {
	done, err := linerepair.Text(ctx, path, r)
	if err == nil && !done {
		err = newFile(path, r).repair(ctx)
	}
	if err != nil {
		return err
	}
	return rename(path, r)
}

// file is one file that is repaired.
type file struct {
	path   string
	name   string // seed of ids
	thread bool   // it holds only lines of a subagent
	r      *formats.Repair
	byLine map[int][]rule.Finding
	plan   plan

	unlinked bool              // no line refers to another: link all
	mark     *rule.Finding     // lines are not marked as those of the subagent
	prev     string            // uuid of the previous line of the conversation
	parents  map[string]string // replaced parents: uuid to uuid, "" for null
	ids      map[string]string // replaced ids of calls
	again    map[string]*twin  // ids of calls that were used again
	answers  map[string]int    // results seen so far, by the id of their call
	messages map[string]string // replaced ids of responses
	waiting  []reply           // results to add
	latest   int64             // the latest time so far, in milliseconds; 0 if there is none
}

// twin is a second call with the id of an earlier one.
type twin struct {
	id   string
	skip int // results that still belong to the first one
}

func newFile(at string, r *formats.Repair) *file {
	base := filepath.Base(at)
	return &file{path: at, name: base, thread: strings.HasPrefix(base, "agent-"), r: r, byLine: map[int][]rule.Finding{},
		parents: map[string]string{}, ids: map[string]string{}, again: map[string]*twin{}, answers: map[string]int{}, messages: map[string]string{}}
}

// repair writes the file again if a finding needs that.
func (m *file) repair(ctx context.Context) error {
	some := false
	for _, f := range m.r.Findings {
		switch f.Rule {
		case "RH440":
			continue
		case "RH354":
			m.unlinked = true
			m.r.Did(f, "linked all lines in the order of the file", "branches, if there were any")
		case "RH368":
			m.mark = &f
			m.r.Did(f, "marked all lines as those of the subagent in the file name", "")
		default:
			m.byLine[f.At.Line] = append(m.byLine[f.At.Line], f)
		}
		some = true
	}
	if !some {
		return nil
	}
	if err := m.collect(ctx); err != nil {
		return err
	}
	if err := linerepair.Rewrite(ctx, m.path, m.r, m.line); err != nil {
		return err
	}
	return m.metas()
}

// newID returns a UUID for something at a line of the file.
func (m *file) newID(line int, what string) string {
	return filename.NamedUUID("rehome repair", m.name, what, rule.Count(int64(line), "").String())
}

// rename gives the file of a session the name under which the client finds it.
func rename(at string, r *formats.Repair) error {
	for _, f := range r.Findings {
		if f.Rule != "RH440" {
			continue
		}
		id := ownID(at)
		to := filepath.Join(filepath.Dir(at), id+outline.Ending)
		if _, err := os.Lstat(to); id == "" || err == nil {
			id = filename.NamedUUID("rehome repair", filepath.Base(at))
			to = filepath.Join(filepath.Dir(at), id+outline.Ending)
		}
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		if err := os.Rename(at, to); err != nil {
			return err
		}
		r.Did(f, "renamed the file to "+path.Base(filepath.ToSlash(to)), "")
	}
	return nil
}

// ownID returns the id of the session in the first line of a file that has one, "" if it
// is not a UUID.
func ownID(at string) string {
	l, err := formats.Locate(at)
	if err != nil {
		return ""
	}
	for line := range l.Lines() {
		if id := rawjson.TextAt(line, "sessionId"); formats.IsUUID(id) {
			return id
		}
	}
	return ""
}

// maxMeta is the max size of a file that describes a subagent.
const maxMeta = 1 << 20

// metas replaces the ids of calls in the files that describe the session's subagents.
func (m *file) metas() error {
	if len(m.ids) == 0 {
		return nil
	}
	names, err := filepath.Glob(filepath.Join(strings.TrimSuffix(m.path, outline.Ending), "subagents", "agent-*.meta.json"))
	if err != nil {
		return nil // a path with brackets is not a pattern: the check says what is left
	}
	for _, name := range names {
		info, err := os.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxMeta || !m.r.Own(name) {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if to, ok := m.ids[rawjson.TextAt(b, "toolUseId")]; ok {
			if err := os.WriteFile(name, linerepair.SetText(b, "toolUseId", to), info.Mode().Perm()); err != nil {
				return err
			}
		}
	}
	return nil
}

package agentstate

import (
	"context"
	"net/url"
	"strings"

	"rehome/formats/internal/wire"
	"rehome/formats/session"
)

// Root is the root of a conversation, while it is built.
type Root struct {
	Prompts, Turns, Archives []ID
	Mode, Branch             string
	Folders                  []string // paths; the workspace first
	Repos                    []session.Repo
	Context                  *session.Context
	Started                  session.Stamp
	More                     []byte // further fields, see Fields

	todos     []ID
	plan      ID
	pending   wire.List
	timings   wire.List
	files     wire.List
	childRefs wire.List
	runs      wire.List
	timed     bool

	before  *conversation // the root that this one continues; nil if there is none
	untimed bool          // that has no times of turns
}

// Todo stores an item of the todo list.
func (b *Builder) Todo(ctx context.Context, r *Root, t *session.Todo) error {
	c := codecs().todo
	m := todoItem{ID: present(t.ID), Content: present(t.Content), Status: c.Message.Named("status").Number(t.Status), Created: millis(t.Created), Updated: millis(t.Updated)}
	for _, need := range t.DependsOn {
		m.Needs.Add([]byte(need))
	}
	id, err := b.Blob(ctx, c.Append(nil, &m))
	r.todos = append(r.todos, id)
	return err
}

// Plan stores the plan.
func (b *Builder) Plan(ctx context.Context, r *Root, text string) (err error) {
	r.plan, err = b.Blob(ctx, codecs().plan.Append(nil, &oneText{Text: []byte(text)}))
	return err
}

// Pending adds a message whose calls have no result yet.
func (r *Root) Pending(doc []byte) { r.pending.Add(doc) }

// Timing adds the times of the next turn. They are written only if some turn has an end.
func (r *Root) Timing(start, end session.Stamp) {
	t := stepTiming{End: millis(end)}
	if t.End > 0 && start.Known() && start.Millis() > 0 && uint64(start.Millis()) < t.End {
		t.Millis = t.End - uint64(start.Millis())
	}
	r.timed = r.timed || t.End > 0
	r.timings.Add(codecs().timing.Append(nil, &t))
}

// File adds the content of a file before and after the conversation; zero ids are unknown.
func (r *Root) File(path string, before, after ID) {
	r.files.AddEntry([]byte(path), codecs().file.Append(nil, &fileState{Before: before, After: after}))
}

// Subagent stores the state of a subagent, with its own root nested in it.
func (b *Builder) Subagent(ctx context.Context, r *Root, h *session.Head, kind, model string, state *Root) error {
	m := persistedChild{State: state.encode(), Created: millis(h.Created), LastUsed: millis(h.Updated), Type: appendSubagentKind(nil, kind), Model: present(model)}
	id, err := b.Blob(ctx, codecs().child.Append(nil, &m))
	r.childRefs.AddEntry([]byte(h.ID), id[:])
	return err
}

// Run adds what the call that started a subagent knows of it.
func (r *Root) Run(l *session.Link) {
	c := codecs().run
	m := childRun{Call: []byte(l.Call), Child: []byte(l.Session), Title: present(l.Title), Status: c.Message.Named("status").Number(l.Status)}
	r.runs.AddEntry(m.Call, c.Append(nil, &m))
}

// appendSubagentKind is the inverse of subagentKind.
func appendSubagentKind(dst []byte, kind string) []byte {
	if kind == "" {
		return dst
	}
	m := wire.Messages().Message("SubagentType")
	doc := []byte{'{'}
	if f := m.Named(kind); f != nil && f.Message != codecs().custom.Message {
		doc = append(session.AppendString(doc, kind), `:{}}`...)
	} else {
		doc = append(session.AppendString(append(doc, `"custom":{"name":`...), kind), `}}`...)
	}
	out, err := m.AppendJSON(dst, doc)
	if err != nil {
		panic(err) // the document above fits the table
	}
	return out
}

// Root stores the root and returns its id. More can be added to it, and another root
// stored.
func (b *Builder) Root(ctx context.Context, r *Root) (ID, error) { return b.Blob(ctx, r.encode()) }

func (r *Root) encode() []byte {
	c := codecs().root
	m := conversation{Prompts: r.Prompts, Turns: r.Turns, Todos: r.todos, Plan: r.plan, Archives: r.Archives, Pending: r.pending, FilesV2: r.files, ChildRefs: r.childRefs, Runs: r.runs,
		Mode: c.Message.Named("mode").Number(r.Mode), Branch: present(r.Branch), Started: millis(r.Started)}
	if r.timed {
		m.Timings = r.timings
	}
	if r.Context != nil {
		m.Tokens = codecs().tokens.Append([]byte{}, &tokenDetails{Used: uint64(max(0, r.Context.Used)), Max: uint64(max(0, r.Context.Max))})
	}
	for _, path := range r.Folders {
		m.URIs.Add([]byte(FileURI(path)))
	}
	for i := range r.Repos {
		m.Repos.Add(codecs().repo.Append(nil, &trackedRepo{Path: present(r.Repos[i].Path), Branch: present(r.Repos[i].Branch)}))
	}
	if r.before != nil {
		return c.Append(nil, r.over(&m))
	}
	return append(c.Append(nil, &m), r.More...)
}

// FileURI is the inverse of FilePath.
func FileURI(path string) string {
	if len(path) > 1 && path[1] == ':' {
		path = "/" + strings.ReplaceAll(path, `\`, "/")
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

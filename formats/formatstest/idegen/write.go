package idegen

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"rehome/formats/formatstest/graphgen"
)

const (
	itemSQL = "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
	diskSQL = "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
	headSQL = "CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, createdAt INTEGER, lastUpdatedAt INTEGER, isArchived INTEGER, isSubagent INTEGER, recency INTEGER, checkpointAt INTEGER, value TEXT)"
)

// tables are a database while it is written.
type tables struct {
	items, disk, heads [][]any
}

func (t *tables) list() []graphgen.Table {
	kv := []string{"key", "value"}
	return []graphgen.Table{
		{Name: "ItemTable", Columns: kv, SQL: itemSQL, Rows: t.items},
		{Name: "cursorDiskKV", Columns: kv, SQL: diskSQL, Rows: t.disk},
		{Name: "composerHeaders", SQL: headSQL, Rows: t.heads,
			Columns: []string{"composerId", "workspaceId", "createdAt", "lastUpdatedAt", "isArchived", "isSubagent", "recency", "checkpointAt", "value"}},
	}
}

// Write makes the user dir.
func (p *Plan) Write(ctx context.Context, dir string) error {
	var global tables
	spaces := map[string]*tables{}
	lists := map[string][]any{}
	tabs := map[string][]any{}
	var heads []any
	for _, s := range p.Sessions {
		switch s.gen {
		case Tab:
			tabs[s.space.id] = append(tabs[s.space.id], p.live(p.tab(s)))
			continue
		case Inline:
			lists[s.space.id] = append(lists[s.space.id], p.live(p.inline(s)))
			continue
		case Table:
			h := p.live(p.src.stranger(p.headOf(s)))
			global.heads = append(global.heads, []any{s.ID, s.space.id, s.Created.Millis(), s.Updated.Millis(), int64(0), int64(0), s.Updated.Millis(), nil, spelled(h)})
		case Global:
			heads = append(heads, p.live(p.src.stranger(p.headOf(s))))
		case Heads:
			lists[s.space.id] = append(lists[s.space.id], p.live(p.src.stranger(p.headOf(s).without("workspaceIdentifier"))))
		}
		p.body(s, &global)
	}
	for _, id := range p.dead {
		global.disk = append(global.disk, []any{"composerData:" + id, nil}, []any{"bubbleId:" + id + ":" + p.src.uuid(), spelled(object{}.with("type", 1).with("text", "deleted"))})
	}
	if len(heads) > 0 {
		global.items = append(global.items, []any{"composer.composerHeaders", spelled(object{}.with("allComposers", heads))})
	}
	global.items = append(global.items, []any{"workbench.colorTheme", "Dark"})
	for _, w := range p.spaces {
		t := &tables{}
		if tabs[w.id] != nil {
			t.items = append(t.items, []any{"workbench.panel.aichat.view.aichat.chatdata", spelled(object{}.with("tabs", tabs[w.id]))})
		}
		if lists[w.id] != nil {
			t.items = append(t.items, []any{"composer.composerData", spelled(object{}.with("allComposers", lists[w.id]).with("selectedComposerIds", []any{}))})
		}
		spaces[w.id] = t
		at := filepath.Join(dir, "workspaceStorage", w.id)
		if err := graphgen.WriteDB(ctx, filepath.Join(at, "state.vscdb"), 1, t.list()[:2]); err != nil {
			return err
		}
		doc := spelled(object{}.with("folder", "file://"+escaped(w.folder)))
		if err := os.WriteFile(filepath.Join(at, "workspace.json"), []byte(doc), 0o666); err != nil {
			return err
		}
	}
	p.src.Shuffle(len(global.disk), func(i, j int) { global.disk[i], global.disk[j] = global.disk[j], global.disk[i] })
	return graphgen.WriteDB(ctx, filepath.Join(dir, "globalStorage", "state.vscdb"), 1, global.list())
}

func escaped(path string) string {
	out := []byte{}
	for _, c := range []byte(path) {
		if c == ' ' {
			out = append(out, "%20"...)
		} else {
			out = append(out, c)
		}
	}
	return string(out)
}

// without leaves a member out.
func (o object) without(name string) (out object) {
	for _, m := range o {
		if m.name != name {
			out = append(out, m)
		}
	}
	return out
}

// live remembers what was written.
func (p *Plan) live(o object) object {
	p.Live = append(p.Live, spelled(o)...)
	return o
}

func (p *Plan) headOf(s *Session) object {
	return object{}.with("type", "head").with("composerId", s.ID).with("name", s.Title).with("createdAt", s.Created.Millis()).with("lastUpdatedAt", s.Updated.Millis()).
		with("workspaceIdentifier", object{}.with("id", s.space.id).with("uri", object{}.with("$mid", 1).with("fsPath", s.space.folder).with("path", s.space.folder).with("scheme", "file")))
}

func (p *Plan) tab(s *Session) object {
	var list []any
	for _, b := range s.bubbles {
		list = append(list, b.doc.with("id", b.id))
	}
	return p.src.stranger(object{}.with("tabId", s.ID).with("chatTitle", s.Title).with("lastSendTime", s.Updated.Millis()).with("bubbles", append([]any{}, list...)))
}

func (p *Plan) inline(s *Session) object {
	list := []any{}
	for _, b := range s.bubbles {
		list = append(list, b.doc)
	}
	return p.src.stranger(p.headOf(s).without("workspaceIdentifier").with("conversation", list))
}

// orphan writes a bubble that no list names: an answer, or a prompt with its
// answer, that was given up when a bubble of the session was new.
func (p *Plan) orphan(s *Session, b bubble, t *tables) {
	for kind := 2 - p.src.IntN(2); kind <= 2; kind++ {
		p.Orphans++
		doc := object{}.with("type", kind).with("text", fmt.Sprintf("orphan %d.", p.Orphans))
		for _, m := range b.doc {
			if m.name == "createdAt" {
				doc = doc.with(m.name, m.value)
			}
		}
		t.disk = append(t.disk, []any{"bubbleId:" + s.ID + ":" + p.src.uuid(), spelled(doc)})
	}
}

// body writes a session's record and its bubbles.
func (p *Plan) body(s *Session, t *tables) {
	headers, inside := []any{}, object{}
	for _, b := range s.bubbles {
		headers = append(headers, b.header)
		doc := spelled(p.live(b.doc))
		switch {
		case b.inMap:
			inside = inside.with(b.id, b.doc)
			continue
		case p.src.chance(10):
			t.disk = append(t.disk, []any{"bubbleId:" + s.ID + ":" + b.id, []byte(doc)})
		default:
			t.disk = append(t.disk, []any{"bubbleId:" + s.ID + ":" + b.id, doc})
		}
		if p.src.chance(17) {
			p.orphan(s, b, t)
		}
	}
	doc := object{}.with("_v", 17).with("composerId", s.ID).with("name", s.Title).with("createdAt", s.Created.Millis()).with("lastUpdatedAt", s.Updated.Millis()).
		with("fullConversationHeadersOnly", headers).with("conversationMap", inside).with("text", "")
	t.disk = append(t.disk, []any{"composerData:" + s.ID, spelled(p.live(append(doc, s.more...)))})
}

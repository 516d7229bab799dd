package audit

import (
	"strings"
	"time"

	"rehome/formats"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/claudecode/internal/shape"
	"rehome/formats/internal/digest"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/linecheck"
	"rehome/formats/rule"
	"rehome/internal/rawjson"
)

// link is a line of the conversation. What its place depends on is in the tree.
type link struct {
	*outline.Line        // known once the file is read
	sum           uint64 // hash of the line
	at            int64  // milliseconds, or never if it has no time
	line          int32
	kind          shape.Kind
	side, prompt  bool
	bare          bool // without a parentUuid, even null
	filler        bool // written by the client after a turn was stopped
	live          bool // on the branch that the client continues, and after the last compaction
	kept          bool // preserved by a compaction, so it is sent too
	beside        bool // the root of a branch that rehome wrote, or of the first line after these
}

const never = -1 << 62

// remark is a finding that is reported only if the client sends the line, which is
// known at the end of the file.
type remark struct {
	link              int32
	id, pointer, says string
	args              []any
}

// fileAudit is the check of one file. It holds 120 bytes for each line.
type fileAudit struct {
	*worker
	file       string
	id         string     // id of its session
	agent      string     // id of its subagent, from the name of the file
	thread     bool       // the file holds only the lines of a subagent
	begun      bool       // a line was read that is not on an abandoned branch written by rehome
	entry      shape.Line // the current line
	references *references

	links   []link
	first   int32             // first link of the thread; -1 if there is none
	lead    int32             // the last of the first lines that continue another session
	tree    *outline.Tree     // of the links
	others  map[uint64]int32  // the last link with each uuid, of types that are not known
	served  []outline.Mention // calls that the API runs itself
	replies map[uint64]bool   // ids of those with a result
	thinks  []thought
	remarks []remark
	kept    []outline.Mention // messages that a compaction preserved
	broken  []int32           // unreadable lines: what they contained is not reported as missing
	unnamed []int32           // lines without a uuid

	strays  counted // lines with the id of another session
	agents  counted // lines with the id of another subagent
	sides   int     // lines of a subagent
	opening string  // isSidechain of the first line
	started string  // how the client was started
	model   string
	models  int // the line with the model
	usage   int64
	used    int // the line with the usage
	cwds    map[string]bool
	size    int64
	heads   headline
	summary int32 // link of a boundary without a summary so far, or -1
}

// thought is a signed block of reasoning.
type thought struct {
	model uint64
	link  int32
}

// counted is a number of lines, and the first of them.
type counted struct{ n, line int }

func (t *counted) add(line int) {
	if t.n == 0 {
		t.line = line
	}
	t.n++
}

func (t *counted) amount() rule.Amount { return rule.Count(int64(t.n), "line") }

// lost adds a line whose place in the conversation is unknown.
func (g *fileAudit) lost(line int) {
	if len(g.broken) < outline.MaxCalls {
		g.broken = append(g.broken, int32(line))
	}
}

// key is outline.Hash for a string that is not JSON.
func key(s string) uint64 {
	if s == "" {
		return 0
	}
	return digest.Name(s) | 1
}

// remark adds a finding about the line of link i.
func (g *fileAudit) remark(i int32, id, pointer, says string, args ...any) {
	g.remarks = append(g.remarks, remark{i, id, pointer, says, args})
}

// say reports a finding in this file.
func (g *fileAudit) say(id string, line int, pointer, says string, args ...any) {
	g.report(id, g.file, line, pointer, says, args...)
}

// read reads the file once, and then applies the rules that need all of it.
func (g *fileAudit) read() error {
	g.tree, g.others, g.cwds, g.replies = outline.NewTree(g.thread), map[uint64]int32{}, map[string]bool{}, map[uint64]bool{}
	g.summary, g.first, g.lead = -1, -1, -1
	o := linecheck.Options{Format: outline.FormatName, Most: outline.MaxLine, Odd: func(n int) { g.lost(n) }}
	for l, err := range linecheck.Lines(g.ctx, g.path(g.file), g.file, g.view, g.q, o) {
		if err != nil {
			return outline.Failure(g.ctx, g.file, err)
		}
		g.size = l.Offset + int64(len(l.Bytes))
		if g.q.Layers != rule.Container {
			g.line(&l)
		}
	}
	for i := range g.links {
		g.links[i].Line = &g.tree.Lines[i]
	}
	if err := g.tree.Walk(g.ctx); err != nil {
		return err
	}
	g.chain()
	g.pairs()
	g.whole()
	g.references.addLines(g)
	return nil
}

// line checks one line.
func (g *fileAudit) line(l *linecheck.Line) {
	var known bool // another rule has reported what the schema would
	schema := "claude-code-entry-1"
	g.entry.Split(l.Members())
	kindName := g.entry.Text(shape.Type)
	switch kindName {
	case "user", "assistant", "system", "attachment":
		schema = "claude-code-" + kindName + "-1"
		known = g.linked(l)
	case "progress":
		g.linked(l)
	default:
		if outline.KnownType(kindName) {
			g.heads.entry(g, l, kindName)
			break
		}
		g.linked(l)
		if kindName != "" {
			g.say("RH204", l.Number, "/type", "line type %q", rule.Clip(kindName))
		}
	}
	if !known {
		for _, c := range l.Causes(g.schemas.Get(schema)) {
			g.say(g.unknown("RH203"), l.Number, c.Pointer, c.Message, c.Args...)
		}
	}
}

// unknown returns the rule for something unknown in the current line: id, or RH204
// if a newer client wrote the line.
func (g *fileAudit) unknown(id string) string {
	if outline.Newer(g.entry.Text(shape.Version)) {
		return "RH204"
	}
	return id
}

// linked checks the envelope of a line of the conversation. known: the findings are
// already reported, so the schema is not applied.
func (g *fileAudit) linked(l *linecheck.Line) (known bool) {
	e := &g.entry
	k := link{line: int32(l.Number), at: never, kind: e.Kind(), bare: e[shape.Parent] == nil, side: e.Flag(shape.Side)}
	if k.kind == shape.Assistant && e.Flag(shape.APIError) {
		k.kind = shape.System // displayed, but never sent
	}
	uuid := outline.Hash(e[shape.UUID])
	if uuid == 0 {
		if k.kind != shape.Other {
			g.lost(l.Number)
			g.unnamed = append(g.unnamed, int32(l.Number))
			return g.q.Enabled(rule.References)
		}
		return false
	}
	if k.bare { // the client takes it for a root
		e[shape.Parent] = []byte("null")
	}
	was, twice := g.find(uuid)
	i := int32(len(g.links))
	message := e[shape.Message]
	e[shape.Message] = nil // which is read once, below
	g.tree.Add(outline.Line{}, e)
	e[shape.Message] = message
	if k.Line = &g.tree.Lines[i]; k.kind == shape.Other {
		g.others[uuid] = i
	}
	k.sum = digest.Bytes(l.Bytes).Lo
	if g.main(&k) && k.kind != shape.Other && (k.Root || !g.begun) {
		branch := rawjson.Last(e[shape.Own], "branch") != nil
		k.beside = k.Root && (branch || !g.begun)
		g.begun = g.begun || !branch
	}
	known = k.bare && len(g.links) > 0 && g.q.Enabled(rule.References)
	g.envelope(l, &k)
	if k.kind != shape.Other && k.kind != shape.Progress {
		t, ok := dated(e[shape.Time])
		k.at = t
		known = known || !ok && g.q.Enabled(rule.Meaning)
	}
	if twice {
		id := "RH351"
		if g.links[was].sum == k.sum {
			id = "RH432"
		}
		g.say(id, l.Number, "/uuid", "also on line %d", g.links[was].line)
	}
	if k.kind.Said() {
		known = g.message(l, &k, i) || known
	}
	if k.kind == shape.System && e.Compacts() {
		g.boundary(i)
	}
	k.Line = nil // the tree grows
	g.links = append(g.links, k)
	return known
}

// find returns the last link with a uuid.
func (g *fileAudit) find(uuid uint64) (i int32, ok bool) {
	if i, ok = g.tree.At[uuid]; !ok {
		i, ok = g.others[uuid]
	}
	return i, ok
}

// dated parses a time. The client accepts every date that JavaScript accepts.
func dated(v []byte) (ms int64, ok bool) {
	if s := jsonl.Time(v); s.Known() {
		return s.Millis(), true
	}
	words := rawjson.Text(v)
	for _, layout := range []string{"2006-01-02", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.RFC1123, time.RFC1123Z} {
		if t, err := time.Parse(layout, words); err == nil {
			return t.UnixMilli(), true
		}
	}
	return never, false
}

// envelope collects what the lines contain about the session.
func (g *fileAudit) envelope(l *linecheck.Line, k *link) {
	if len(g.links) == 0 {
		g.opening = string(g.entry[shape.Side])
	}
	if k.side {
		g.sides++
	}
	if id := g.entry.Text(shape.Session); id != "" && id != g.id && formats.IsUUID(g.id) {
		g.strays.add(l.Number)
	}
	if g.agent != "" && (g.entry.Text(shape.Agent) != g.agent || !k.side) {
		g.agents.add(l.Number)
	}
	if cwd := g.entry[shape.Cwd]; cwd != nil && len(g.cwds) < 1000 && !g.cwds[string(cwd)] {
		g.cwds[string(cwd)] = true
	}
	if g.started == "" {
		g.started = g.entry.Text(shape.Entrypoint)
		if kind := rawjson.Text(l.Member("sessionKind")); strings.HasPrefix(kind, "daemon") {
			g.started = "sdk: " + kind
		}
	}
	if k.side && g.agent == "" && !g.thread {
		g.references.beside(g.entry.Text(shape.Agent))
	}
}

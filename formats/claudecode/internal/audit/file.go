package audit

import (
	"strings"
	"time"

	"rehome/formats"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/internal/digest"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/linecheck"
	"rehome/formats/rule"
	"rehome/internal/rawjson"
)

// link holds what the place of a line of the conversation depends on.
type link struct {
	uuid, parent, response uint64
	sum                    uint64 // hash of the line
	at                     int64  // milliseconds, or never if it has no time
	line                   int32
	kind                   outline.Kind
	side, root, boundary   bool
	prompt, result         bool
	bare                   bool // without a parentUuid, even null
	filler                 bool // written by the client after a turn was stopped
	live                   bool // on the branch that the client continues
	kept                   bool // preserved by a compaction, so it is sent too
	beside                 bool // the root of a branch that rehome wrote, or of the first line after these
}

const never = -1 << 62

// blockRef is a call, a result or another reference of a block.
type blockRef struct {
	id    uint64
	link  int32 // index of its line in links
	block int32
}

// remark is a finding that is reported only if the client sends the line, which is
// known at the end of the file.
type remark struct {
	link              int32
	id, pointer, says string
	args              []any
}

// fileAudit is the check of one file. It holds 72 bytes for each line.
type fileAudit struct {
	*worker
	file       string
	id         string // id of its session
	agent      string // id of its subagent, from the name of the file
	thread     bool   // the file holds only the lines of a subagent
	begun      bool   // a line was read that is not on an abandoned branch written by rehome
	client     []byte // version of the client in the current line, as JSON
	references *references

	links   []link
	first   int32            // first link of the thread; -1 if there is none
	lead    int32            // the last of the first lines that continue another session
	steps   int              // number of visited links, for tests
	at      map[uint64]int32 // the last link with each uuid
	calls   []blockRef
	results []blockRef
	served  []blockRef      // calls that the API runs itself
	replies map[uint64]bool // ids of those with a result
	thinks  []thought
	remarks []remark
	kept    []blockRef // messages that a compaction preserved
	broken  []int32    // unreadable lines: what they contained is not reported as missing
	unnamed []int32    // lines without a uuid

	strays  counted // lines with the id of another session
	agents  counted // lines with the id of another subagent
	sides   int     // lines of a subagent
	opening string  // isSidechain of the first line
	entry   string
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
	g.at, g.cwds, g.replies, g.summary, g.first, g.lead = map[uint64]int32{}, map[string]bool{}, map[uint64]bool{}, -1, -1, -1
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
	kindName := rawjson.Text(l.Member("type"))
	g.client = l.Member("version")
	switch kindName {
	case "user", "assistant", "system", "attachment":
		schema = "claude-code-" + kindName + "-1"
		known = g.linked(l, kindName)
	case "progress":
		g.linked(l, kindName)
	default:
		if outline.KnownType(kindName) {
			g.heads.entry(g, l, kindName)
			break
		}
		g.linked(l, "")
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
	if outline.Newer(rawjson.Text(g.client)) {
		return "RH204"
	}
	return id
}

// linked checks the envelope of a line of the conversation. known: the findings are
// already reported, so the schema is not applied.
func (g *fileAudit) linked(l *linecheck.Line, kindName string) (known bool) {
	k := link{uuid: outline.Hash(l.Member("uuid")), line: int32(l.Number), at: never, kind: kindOf(l, kindName)}
	if k.uuid == 0 {
		if k.kind != outline.Other {
			g.lost(l.Number)
			g.unnamed = append(g.unnamed, int32(l.Number))
			return g.q.Enabled(rule.References)
		}
		return false
	}
	parent := l.Member("parentUuid")
	k.parent, k.bare = outline.Hash(parent), parent == nil
	k.root = k.parent == 0
	k.sum = digest.Bytes(l.Bytes).Lo
	k.side = string(l.Member("isSidechain")) == "true"
	compaction := k.kind == outline.System && string(l.Member("subtype")) == `"compact_boundary"`
	k.boundary = compaction || k.kind == outline.User && k.root && string(l.Member("isCompactSummary")) == "true"
	if g.main(&k) && k.kind != outline.Other && (k.root || !g.begun) {
		branch := rawjson.Last(l.Member("rehome"), "branch") != nil
		k.beside = k.root && (branch || !g.begun)
		g.begun = g.begun || !branch
	}
	known = k.root && k.bare && len(g.links) > 0 && g.q.Enabled(rule.References)
	g.envelope(l, &k)
	if k.kind != outline.Other && k.kind != outline.Progress {
		t, ok := dated(l.Member("timestamp"))
		k.at = t
		known = known || !ok && g.q.Enabled(rule.Meaning)
	}
	if was, twice := g.at[k.uuid]; twice {
		id := "RH351"
		if g.links[was].sum == k.sum {
			id = "RH432"
		}
		g.say(id, l.Number, "/uuid", "also on line %d", g.links[was].line)
	}
	i := int32(len(g.links))
	g.at[k.uuid] = i
	if k.kind == outline.User || k.kind == outline.Assistant {
		known = g.message(l, &k, i) || known
	}
	if compaction {
		g.boundary(l, i)
	}
	g.links = append(g.links, k)
	return known
}

// kindOf returns the kind of a line of the conversation.
func kindOf(l *linecheck.Line, name string) outline.Kind {
	switch name {
	case "user":
		return outline.User
	case "assistant":
		if string(l.Member("isApiErrorMessage")) != "true" {
			return outline.Assistant
		}
		return outline.System // displayed, but never sent
	case "system":
		return outline.System
	case "attachment":
		return outline.Attachment
	case "progress":
		return outline.Progress
	}
	return outline.Other
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
		g.opening = string(l.Member("isSidechain"))
	}
	if k.side {
		g.sides++
	}
	if id := rawjson.Text(l.Member("sessionId")); id != "" && id != g.id && formats.IsUUID(g.id) {
		g.strays.add(l.Number)
	}
	if g.agent != "" && (rawjson.Text(l.Member("agentId")) != g.agent || !k.side) {
		g.agents.add(l.Number)
	}
	if cwd := l.Member("cwd"); cwd != nil && len(g.cwds) < 1000 && !g.cwds[string(cwd)] {
		g.cwds[string(cwd)] = true
	}
	if g.entry == "" {
		g.entry = rawjson.Text(l.Member("entrypoint"))
		if kind := rawjson.Text(l.Member("sessionKind")); strings.HasPrefix(kind, "daemon") {
			g.entry = "sdk: " + kind
		}
	}
	if k.side && g.agent == "" && !g.thread {
		g.references.beside(rawjson.Text(l.Member("agentId")))
	}
}

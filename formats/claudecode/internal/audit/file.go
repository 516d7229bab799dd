package audit

import (
	"strconv"
	"strings"
	"time"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/internal/digest"
	"rehome/formats/internal/linecheck"
	"rehome/formats/internal/rawjson"
	"rehome/formats/rule"
)

// link is a line of the conversation, as far as its place depends on it.
type link struct {
	uuid, parent, response uint64
	sum                    uint64 // hash of the line
	at                     int64  // milliseconds, never where it has no time
	line                   int32
	kind                   outline.Kind
	side, root, boundary   bool
	prompt, result         bool
	bare                   bool // it has no parentUuid, not even null
	filler                 bool // the client's own, behind a run that was stopped
	live                   bool // the client would go on with it
	kept                   bool // a compaction preserved it: it is sent, too
	beside                 bool // a root that cuts off nothing: a way of its own begins or ended there
}

const never = -1 << 62

// deed is a call, or what came of one.
type deed struct {
	id    uint64
	link  int32 // its line's place among the links
	block int32
}

// remark is a finding about what a line says. It counts only if the client
// sends that line, which is known at the end of the file.
type remark struct {
	link              int32
	id, pointer, says string
	args              []any
}

// ledger is what is known of one file while it is read, 72 bytes a line.
type ledger struct {
	*auditor
	file   string
	id     string // of its session
	agent  string // of its subagent, by the file's name
	thread bool   // all of it is one subagent's
	begun  bool   // a line has been seen that is of no branch that rehome wrote
	client []byte // version that wrote the line at hand, as JSON
	kin    *kin

	links   []link
	first   int32            // of the links, in the thread; -1 if there is none
	lead    int32            // the last of the lines at the start that go on from another session
	steps   int              // links that were visited, for tests
	at      map[uint64]int32 // link by uuid, the last one
	calls   []deed
	results []deed
	served  []deed          // calls that the API answers itself
	replies map[uint64]bool // and those it answered
	thinks  []thought
	remarks []remark
	kept    []deed  // messages that a compaction preserved
	broken  []int32 // lines that could not be read: what they said is not missed twice
	unnamed []int32 // lines without a uuid

	strays  tallied // lines of another session
	agents  tallied // lines of another subagent
	sides   int     // lines of a subagent
	opening string  // isSidechain of the first line
	entry   string
	model   string
	models  int // the line that names it
	usage   int64
	used    int // the line that tells of it
	cwds    map[string]bool
	size    int64
	heads   headline
	summary int32 // link of a boundary that waits for its summary, -1
}

// thought is a block of reasoning that was signed.
type thought struct {
	model uint64
	link  int32
}

// tallied counts lines and remembers the first.
type tallied struct{ n, line int }

func (t *tallied) add(line int) {
	if t.n == 0 {
		t.line = line
	}
	t.n++
}

func (t *tallied) amount() rule.Amount { return rule.Count(int64(t.n), "line") }

// lost notes a line whose place in the conversation is not known.
func (g *ledger) lost(line int) {
	if len(g.broken) < outline.MaxCalls {
		g.broken = append(g.broken, int32(line))
	}
}

// key is name64 of what is no JSON.
func key(s string) uint64 {
	if s == "" {
		return 0
	}
	return digest.Name(s) | 1
}

// remark notes a finding about what the line says that link i stands for.
func (g *ledger) remark(i int32, id, pointer, says string, args ...any) {
	g.remarks = append(g.remarks, remark{i, id, pointer, says, args})
}

// say reports a finding of this file.
func (g *ledger) say(id string, line int, pointer, says string, args ...any) {
	g.breach(id, g.file, line, pointer, says, args...)
}

// read walks over the file once, and judges the whole at its end.
func (g *ledger) read() error {
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
	g.kin.meet(g)
	return nil
}

// line asks one line.
func (g *ledger) line(l *linecheck.Line) {
	var known bool // a rule of our own has told what the schema would
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
		if knownEntry(kindName) {
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

// unknown is the rule that something unknown in the line at hand breaks: id, or
// none but RH204 if a newer client wrote the line, which may know more.
func (g *ledger) unknown(id string) string {
	if Newer(rawjson.Text(g.client)) {
		return "RH204"
	}
	return id
}

// Newer reports a version later than any whose lines were looked at.
func Newer(version string) bool {
	for _, known := range [...]int{2, 1, 328} {
		part, rest, _ := strings.Cut(version, ".")
		n, err := strconv.Atoi(part)
		if err != nil || n != known {
			return err == nil && n > known
		}
		version = rest
	}
	return false
}

// knownEntry reports a type of line that is no part of the conversation.
func knownEntry(kind string) bool {
	switch kind {
	case "custom-title", "ai-title", "summary", "agent-name", "agent-color", "agent-setting", "tag", "last-prompt", "queue-operation", "mode",
		"permission-mode", "memory-mode", "repl-mode", "file-history-snapshot", "file-history-delta", "attribution-snapshot", "cost-state",
		"api-request", "api-request-shape", "api-request-blob", "api-request-resumed", "tools-used", "atis-latch", "isolation-latch",
		"content-replacement", "relocated", "history-suppression", "derived-from", "continued-in", "resume-head-vouch", "ended-by-model",
		"fork-context-ref", "frame-link", "observer-ref", "pr-link", "worktree-state", "bridge-session", "session-owner", "dev-mods",
		"artifact-comment-monitor", "artifact-autoreact-ledger", "rehome":
		return true
	}
	return strings.HasPrefix(kind, "data-flow-")
}

// linked asks a line of the conversation for its envelope. known: what is wrong
// with it has been said, and its schema need not be asked.
func (g *ledger) linked(l *linecheck.Line, kindName string) (known bool) {
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
	k.boundary = k.kind == outline.System && string(l.Member("subtype")) == `"compact_boundary"`
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
	if k.boundary {
		g.boundary(l, i)
	}
	g.links = append(g.links, k)
	return known
}

// kindOf is the kind of a line of the conversation.
func kindOf(l *linecheck.Line, name string) outline.Kind {
	switch name {
	case "user":
		return outline.User
	case "assistant":
		if string(l.Member("isApiErrorMessage")) != "true" {
			return outline.Assistant
		}
		return outline.System // the client shows it and never sends it
	case "system":
		return outline.System
	case "attachment":
		return outline.Attachment
	case "progress":
		return outline.Progress
	}
	return outline.Other
}

// dated reads a time. The client takes whatever JavaScript takes for a date.
func dated(v []byte) (ms int64, ok bool) {
	if s := outline.ParseTime(v); s.Known() {
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

// envelope notes what all lines say of the session.
func (g *ledger) envelope(l *linecheck.Line, k *link) {
	if len(g.links) == 0 {
		g.opening = string(l.Member("isSidechain"))
	}
	if k.side {
		g.sides++
	}
	if id := rawjson.Text(l.Member("sessionId")); id != "" && id != g.id && outline.IsUUID(g.id) {
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
		g.kin.beside(rawjson.Text(l.Member("agentId")))
	}
}

// Package outline knows how Claude Code stores sessions: which files and folders
// belong to one, what a line of a file is, how the lines form a tree, and which
// branch of it the client continues. Reading, writing and checking build on it.
package outline

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"rehome/formats/internal/digest"
	"rehome/formats/internal/envelope"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lines"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// MaxLine is the maximum length of a line; longer ones are unreadable.
const MaxLine = 128 << 20

// Kind is the kind of a line.
type Kind uint8

// The kinds of lines.
const (
	Broken     Kind = iota
	blanks          // whitespace only
	User            // a prompt, a tool result, or text of the client in the role of the user
	Assistant       // an answer
	System          // a notice of the client
	Attachment      // context that the client added
	Progress        // written by older clients
	Title           // a title of the session
	Other           // not part of the conversation
)

// Values of Line.Branch; others are the numbers of abandoned branches.
const (
	nowhere = -1 - iota // not yet decided
	Live                // the branch that the client continues
	Dropped             // a later line has the same uuid
	Outside             // not part of the conversation
)

// Line holds what the place of a line depends on, in 72 bytes.
type Line struct {
	uuid, Parent, logical, response                            uint64
	Offset                                                     int64
	Size                                                       int32
	thread                                                     int32 // 0 is the session's own, others are those of subagents
	Branch                                                     int32 // Live, Dropped, Outside, or the number of a branch
	Head, Next                                                 int32 // the first and the next line of its response, see join
	Kind                                                       Kind
	result, Boundary, root, Archived, Prompt, command, printed bool
	Exact                                                      bool // valid JSON as it is, without repairs
	Typed                                                      bool // the words of a prompt, whatever they begin with
}

// mention is a line with a call or its result.
type mention struct {
	call uint64
	line int32
}

// Tree is the tree of the lines of a file, with the metadata of the session.
type Tree struct {
	Lines         []Line
	rows          []int32           // lines by thread and branch, see sort
	At            map[uint64]int32  // the last line with each uuid
	Threads       []string          // names of subagents, in the order of their first lines; the first is empty, for the session itself
	thread        map[uint64]int32  // by name
	Calls         map[string]string // subagents by the calls that started them
	uses, replies []mention
	kept          map[uint64]bool // messages that a compaction preserved
	linked        bool            // a line has a parentUuid
	Healed        int             // number of missing parents
	Unlinked      int             // number of lines without a parentUuid that follow the previous line
	Torn          bool            // the last line is incomplete

	ID, Cwd, Branch, Version, Model string
	Alone                           bool // the file holds only the lines of a subagent
	Main                            bool // a line is part of the main thread
	title, generated, legacy        string
	prompt                          string
	First, Last                     session.Stamp
	Turns                           int64
	cost                            map[uint64]session.Usage // by response
	Spent                           map[int32]session.Usage  // by the line of a prompt
	Saved                           []Saved
	state                           map[string]int // the last of Saved, by path
	Unsaved                         int            // number of states beyond maxSaved
}

// MaxCalls bounds each list of calls, messages or files that a file mentions.
const MaxCalls = 10000

// NewTree returns an empty tree. alone: the file holds only the lines of a subagent.
func NewTree(alone bool) *Tree {
	return &Tree{At: map[uint64]int32{}, Threads: []string{""}, thread: map[uint64]int32{}, Calls: map[string]string{}, kept: map[uint64]bool{}, Alone: alone}
}

// ReadTree reads the lines of a file and arranges them.
func ReadTree(ctx context.Context, text iter.Seq2[lines.Line, error], alone bool) (*Tree, error) {
	s := NewTree(alone)
	for l, err := range text {
		if err != nil {
			return nil, err
		}
		s.add(&l)
	}
	return s, s.Arrange(ctx)
}

// Hash returns the hash of a JSON string, 0 if it is empty or not a string.
func Hash(raw []byte) uint64 {
	if len(raw) < 3 || raw[0] != '"' {
		return 0
	}
	return digest.Name(rawjson.Text(raw)) | 1
}

// add adds a line.
func (s *Tree) add(l *lines.Line) {
	i := int32(len(s.Lines))
	o := Line{Offset: l.Offset, Size: int32(len(l.Bytes)), Branch: nowhere, Head: i, Next: -1}
	defer func() { s.Lines = append(s.Lines, o) }()
	if l.Blank() {
		o.Kind = blanks
		return
	}
	given := bytes.TrimSuffix(l.Bytes, []byte("\r"))
	line, _, err := rawjson.Line(given)
	if l.Long || err != nil || line[0] != '{' {
		s.Torn = !l.Ended
		return
	}
	o.Exact = &line[0] == &given[0]
	e := s.look(&o, line)
	s.classify(&o, &e)
	if o.Kind >= Title {
		o.Branch = Outside
		return
	}
	if isTrue(e.side) && !s.Alone {
		o.thread = s.threadOf(&o, e.agent, line)
	}
	s.Main = s.Main || o.thread == 0
	s.linked = s.linked || o.Parent != 0
	if o.uuid == 0 {
		return
	}
	if was, twice := s.At[o.uuid]; twice {
		s.Lines[was].Branch = Dropped
	}
	s.At[o.uuid] = i
}

// entry holds the members of a line that its place depends on.
type entry struct{ line, kind, subtype, side, agent, message, meta, source, summary, result, compact []byte }

func isTrue(v []byte) bool { return string(v) == "true" }

// look reads the members that the place of a line depends on.
func (s *Tree) look(o *Line, line []byte) entry {
	e := entry{line: line}
	for n, v := range rawjson.Members(line) {
		switch string(n) {
		case "type":
			e.kind = v
		case "subtype":
			e.subtype = v
		case "uuid":
			o.uuid = Hash(v)
		case "parentUuid":
			o.Parent = Hash(v)
			o.root = o.Parent == 0
		case "logicalParentUuid":
			o.logical = Hash(v)
		case "isSidechain":
			e.side = v
		case "message":
			e.message = v
		case "agentId":
			e.agent = v
		case "isMeta":
			e.meta = v
		case "promptSource":
			e.source = v
		case "isCompactSummary":
			e.summary = v
		case "toolUseResult":
			e.result = v
		case "compactMetadata":
			e.compact = v
		case "timestamp":
			s.moment(v)
		case "sessionId":
			first(&s.ID, v)
		case "cwd":
			first(&s.Cwd, v)
		case "gitBranch":
			if b := rawjson.Text(v); b != "" {
				s.Branch = b
			}
		case "version":
			first(&s.Version, v)
		}
	}
	return e
}

// classify sets the kind of a line, and reads what depends on it.
func (s *Tree) classify(o *Line, e *entry) {
	switch kind := rawjson.Text(e.kind); kind {
	case "user":
		o.Kind = User
		s.asked(o, e)
	case "assistant":
		o.Kind = Assistant
		s.answered(o, e.message)
	case "system":
		o.Kind = System
		if o.Boundary = string(e.subtype) == `"compact_boundary"`; o.Boundary {
			for id := range Preserved(e.compact) {
				if len(s.kept) < MaxCalls {
					s.kept[id] = true
				}
			}
		}
	case "attachment":
		o.Kind = Attachment
	case "progress":
		o.Kind = Progress
	case "custom-title", "ai-title", "summary":
		o.Kind = Title
		s.named(kind, e.line)
	default:
		o.Kind = Other
		s.save(kind, e.line)
	}
}

// threadOf returns the thread of a subagent's line in the main file: by the
// agentId, or else that of its parent.
func (s *Tree) threadOf(o *Line, agent, line []byte) int32 {
	key, name := Hash(agent), rawjson.Text(agent)
	if key == 0 {
		if up, ok := s.At[o.Parent]; ok && o.Parent != 0 && s.Lines[up].thread > 0 {
			return s.Lines[up].thread
		}
		key, name = o.uuid, LineID(len(s.Lines), line)
	}
	t, known := s.thread[key]
	if !known {
		t = int32(len(s.Threads))
		s.thread[key], s.Threads = t, append(s.Threads, name)
	}
	return t
}

// LineID returns the uuid of a line, or an id made of its index i.
func LineID(i int, line []byte) string {
	if id := rawjson.TextAt(line, "uuid"); id != "" {
		return id
	}
	return fmt.Sprintf("line-%d", i+1)
}

func first(dst *string, v []byte) {
	if *dst == "" {
		*dst = rawjson.Text(v)
	}
}

func (s *Tree) moment(v []byte) {
	t := jsonl.Time(v)
	if !t.Known() {
		return
	}
	if !s.First.Known() || t.Millis() < s.First.Millis() {
		s.First = t
	}
	if !s.Last.Known() || t.Millis() > s.Last.Millis() {
		s.Last = t
	}
}

// block holds the members of a block that the place of its line depends on.
type block struct{ kind, id, call, text []byte }

func readBlock(b []byte) (out block) {
	for n, v := range rawjson.Members(b) {
		switch string(n) {
		case "type":
			out.kind = v
		case "id":
			out.id = v
		case "tool_use_id":
			out.call = v
		case "text":
			out.text = v
		}
	}
	return out
}

// asked reads a line of the user.
func (s *Tree) asked(o *Line, e *entry) {
	content := rawjson.Last(e.message, "content")
	words := rawjson.Text(content)
	call := ""
	for raw := range rawjson.Elements(content) {
		switch b := readBlock(raw); rawjson.Text(b.kind) {
		case "tool_result":
			o.result = true
			call = rawjson.Text(b.call)
			s.replies = append(s.replies, mention{Hash(b.call), int32(len(s.Lines))})
		case "text":
			if words == "" {
				words = rawjson.Text(b.text)
			}
		}
	}
	if o.result {
		if agent := rawjson.TextAt(e.result, "agentId"); agent != "" && call != "" && len(s.Calls) < MaxCalls {
			s.Calls[call] = "agent-" + agent
		}
		return
	}
	o.Boundary = o.root && isTrue(e.summary) && len(s.Lines) > 0
	switch rawjson.Text(e.source) {
	case TypedSource, "sdk": // the client writes it in no line of its own
		o.Typed = true
	}
	if o.printed = !o.Typed && IsOutput(words); o.printed || isTrue(e.meta) || isTrue(e.summary) {
		return
	}
	o.command = !o.Typed && IsCommand(words)
	o.Prompt = !o.command
	if !isTrue(e.side) && s.prompt == "" && len(words) > 0 && words[0] != '<' {
		s.prompt = envelope.FirstLine(words)
	}
}

// Preserved yields the hashes of the uuids that the metadata of a compaction lists.
// The client sends these messages although they precede the boundary.
func Preserved(metadata []byte) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		lists := rawjson.Last(metadata, "preservedMessages")
		for _, list := range []string{"uuids", "allUuids"} {
			for id := range rawjson.Elements(rawjson.Last(lists, list)) {
				if !yield(Hash(id)) {
					return
				}
			}
		}
	}
}

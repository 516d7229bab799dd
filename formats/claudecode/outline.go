package claudecode

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"rehome/formats/internal/digest"
	"rehome/formats/internal/lines"
	"rehome/formats/internal/rawjson"
	"rehome/formats/session"
)

// maxLine bounds what is held of a file.
const maxLine = 128 << 20

// The kinds of line.
type kind uint8

const (
	broken   kind = iota
	blanks        // nothing stands in it
	user          // a prompt, a result, or what the client says in the user's name
	answers       // of the model
	notice        // system
	attached      // context
	progress      // of older clients
	titles        // what the session is called
	other         // no part of the conversation
)

// Where a line belongs.
const (
	nowhere = -1 - iota // not decided
	live                // the branch that the client would go on with
	dropped             // a later line has its uuid
	aside               // not a part of any chain
)

// outline is what has to be known of a line to find its place. 72 bytes each.
type outline struct {
	uuid, parent, logical, response                            uint64
	offset                                                     int64
	size                                                       int32
	thread                                                     int32 // 0 is the session's own; others are subagents'
	branch                                                     int32 // live …, or the number of a branch
	head, next                                                 int32 // the first line of its response, and the one after it, see join
	kind                                                       kind
	result, boundary, root, archived, prompt, command, printed bool
}

// mention is a call, or a result, of that id.
type mention struct {
	call uint64
	line int32
}

// survey is a file's outline and what its head says.
type survey struct {
	lines         []outline
	rows          []int32          // lines by thread and branch, see sort
	at            map[uint64]int32 // line by uuid, the last one
	threads       []string         // names of subagents, as they begin; the first is the session's own
	thread        map[uint64]int32 // by name
	calls         map[string]string
	uses, replies []mention
	kept          map[uint64]bool // messages that a compaction preserved
	linked        bool            // some line names its parent
	healed        int             // parents that are not there
	unlinked      int             // lines that name none, and follow the line before them
	torn          bool            // the last line is

	id, cwd, branch, version, model string
	alone                           bool // all of it is a subagent's
	main                            bool // there is a line of the main thread
	title, generated, legacy        string
	prompt                          string
	first, last                     session.Stamp
	turns                           int64
	cost                            map[uint64]session.Usage // by response
	spent                           map[int32]session.Usage  // by the line of a prompt
	saved                           []saved
	state                           map[string]int // the last of these, by path
	unsaved                         int            // more than are kept
}

// mostCalls bounds what is kept of which call started which subagent.
const mostCalls = 10000

func emptySurvey(alone bool) *survey {
	return &survey{at: map[uint64]int32{}, threads: []string{""}, thread: map[uint64]int32{}, calls: map[string]string{}, kept: map[uint64]bool{}, alone: alone}
}

func newSurvey(ctx context.Context, r io.Reader, alone bool) (*survey, error) {
	s := emptySurvey(alone)
	for l, err := range lines.Each(ctx, r, maxLine) {
		if err != nil {
			return nil, err
		}
		s.add(&l)
	}
	return s, s.arrange(ctx)
}

func name64(raw []byte) uint64 {
	if len(raw) < 3 || raw[0] != '"' {
		return 0
	}
	return digest.Name(rawjson.Text(raw)) | 1
}

// add outlines a line.
func (s *survey) add(l *lines.Line) {
	i := int32(len(s.lines))
	o := outline{offset: l.Offset, size: int32(len(l.Bytes)), branch: nowhere, head: i, next: -1}
	defer func() { s.lines = append(s.lines, o) }()
	if l.Blank() {
		o.kind = blanks
		return
	}
	line, _, err := rawjson.Line(bytes.TrimSuffix(l.Bytes, []byte("\r")))
	if l.Long || err != nil || line[0] != '{' {
		s.torn = !l.Ended
		return
	}
	agent, side := s.look(&o, line)
	if o.kind >= titles {
		o.branch = aside
		return
	}
	if string(side) == "true" && !s.alone {
		o.thread = s.threadOf(&o, agent, line)
	}
	s.main = s.main || o.thread == 0
	s.linked = s.linked || o.parent != 0
	if o.uuid == 0 {
		return
	}
	if was, twice := s.at[o.uuid]; twice {
		s.lines[was].branch = dropped
	}
	s.at[o.uuid] = i
}

// look takes from a line what its place depends on.
func (s *survey) look(o *outline, line []byte) (agent, side []byte) {
	var kindText, subtype, message []byte
	for n, v := range rawjson.Members(line) {
		switch string(n) {
		case "type":
			kindText = v
		case "subtype":
			subtype = v
		case "uuid":
			o.uuid = name64(v)
		case "parentUuid":
			o.parent = name64(v)
			o.root = o.parent == 0
		case "logicalParentUuid":
			o.logical = name64(v)
		case "isSidechain":
			side = v
		case "message":
			message = v
		case "agentId":
			agent = v
		case "timestamp":
			s.moment(v)
		case "sessionId":
			first(&s.id, v)
		case "cwd":
			first(&s.cwd, v)
		case "gitBranch":
			if b := rawjson.Text(v); b != "" {
				s.branch = b
			}
		case "version":
			first(&s.version, v)
		}
	}
	s.classify(o, rawjson.Text(kindText), string(subtype), line, message)
	return agent, side
}

// classify finds the kind of a line.
func (s *survey) classify(o *outline, kind, subtype string, line, message []byte) {
	switch kind {
	case "user":
		o.kind = user
		s.asked(o, line, message)
	case "assistant":
		o.kind = answers
		s.answered(o, message)
	case "system":
		o.kind = notice
		if o.boundary = subtype == `"compact_boundary"`; o.boundary {
			s.preserved(line)
		}
	case "attachment":
		o.kind = attached
	case "progress":
		o.kind = progress
	case "custom-title", "ai-title", "summary":
		o.kind = titles
		s.named(kind, line)
	default:
		o.kind = other
		s.save(kind, line)
	}
}

// threadOf finds the thread of a subagent's line in the main file: by its name,
// or by that of the line it hangs on.
func (s *survey) threadOf(o *outline, agent, line []byte) int32 {
	key, name := name64(agent), rawjson.Text(agent)
	if key == 0 {
		if up, ok := s.at[o.parent]; ok && o.parent != 0 && s.lines[up].thread > 0 {
			return s.lines[up].thread
		}
		key, name = o.uuid, lineID(len(s.lines), line)
	}
	t, known := s.thread[key]
	if !known {
		t = int32(len(s.threads))
		s.thread[key], s.threads = t, append(s.threads, name)
	}
	return t
}

// lineID names a line that names itself, or not.
func lineID(i int, line []byte) string {
	if id := text(line, "uuid"); id != "" {
		return id
	}
	return fmt.Sprintf("line-%d", i+1)
}

func first(dst *string, v []byte) {
	if *dst == "" {
		*dst = rawjson.Text(v)
	}
}

func (s *survey) moment(v []byte) {
	t := stamp(v)
	if !t.Known() {
		return
	}
	if !s.first.Known() || t.Millis() < s.first.Millis() {
		s.first = t
	}
	if !s.last.Known() || t.Millis() > s.last.Millis() {
		s.last = t
	}
}

func stamp(v []byte) session.Stamp {
	if t, err := time.Parse(time.RFC3339Nano, rawjson.Text(v)); err == nil && t.Year() >= 0 && t.Year() <= 9999 {
		return session.Stored(t.UnixMilli())
	}
	return session.Stamp{}
}

// asked looks into a user's line.
func (s *survey) asked(o *outline, line, message []byte) {
	content := rawjson.Last(message, "content")
	words := rawjson.Text(content)
	call := ""
	for b := range rawjson.Elements(content) {
		switch text(b, "type") {
		case "tool_result":
			o.result = true
			id := rawjson.Last(b, "tool_use_id")
			call = rawjson.Text(id)
			s.replies = append(s.replies, mention{name64(id), int32(len(s.lines))})
		case "text":
			if words == "" {
				words = text(b, "text")
			}
		}
	}
	if o.result {
		if agent := text(rawjson.Last(line, "toolUseResult"), "agentId"); agent != "" && call != "" && len(s.calls) < mostCalls {
			s.calls[call] = "agent-" + agent
		}
		return
	}
	if o.printed = output(words); o.printed || string(rawjson.Last(line, "isMeta")) == "true" || string(rawjson.Last(line, "isCompactSummary")) == "true" {
		return
	}
	o.command = command(words)
	o.prompt = !o.command
	if string(rawjson.Last(line, "isSidechain")) == "true" {
		return
	}
	if s.prompt == "" && len(words) > 0 && words[0] != '<' {
		s.prompt = brief(words)
	}
}

// preserved are the messages in front of a boundary that are sent all the same.
func (s *survey) preserved(line []byte) {
	meta := rawjson.Last(rawjson.Last(line, "compactMetadata"), "preservedMessages")
	for _, list := range []string{"uuids", "allUuids"} {
		for id := range rawjson.Elements(rawjson.Last(meta, list)) {
			if len(s.kept) < mostCalls {
				s.kept[name64(id)] = true
			}
		}
	}
}

// Package outline knows how Claude Code stores sessions: which files and folders
// belong to one, what a line of a file is, how the lines form a tree, and which
// branch of it the client continues. Reading, writing and checking build on it.
package outline

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"rehome/formats/claudecode/internal/shape"
	"rehome/formats/internal/digest"
	"rehome/formats/internal/envelope"
	"rehome/formats/internal/jsonl"
	"rehome/formats/internal/lines"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// MaxLine is the maximum length of a line; longer ones are unreadable.
const MaxLine = 128 << 20

// Values of Line.Branch; others are the numbers of abandoned branches.
const (
	nowhere = -1 - iota // not yet decided
	Live                // the branch that the client continues
	Dropped             // a later line has the same uuid
	Outside             // not part of the conversation
)

// Line holds what the place of a line depends on, in 72 bytes.
type Line struct {
	UUID, Parent, Response, logical                            uint64
	Offset                                                     int64
	Size                                                       int32
	thread                                                     int32 // 0 is the session's own, others are those of subagents
	Branch                                                     int32 // Live, Dropped, Outside, or the number of a branch
	Head, Next                                                 int32 // the first and the next line of its response, see join
	Kind                                                       shape.Kind
	Result, Boundary, Root, Archived, Prompt, command, printed bool
	Exact                                                      bool // valid JSON as it is, without repairs
	Typed                                                      bool // the words of a prompt, whatever they begin with
}

// Mention is a call or its result, in a block of a line.
type Mention struct {
	Call        uint64
	Line, Block int32
}

// Tree is the tree of the lines of a file, with the metadata of the session.
type Tree struct {
	Lines         []Line
	rows          []int32           // lines by thread and branch, see sort
	At            map[uint64]int32  // the last line with each uuid
	Threads       []string          // names of subagents, in the order of their first lines; the first is empty, for the session itself
	thread        map[uint64]int32  // by name
	Calls         map[string]string // subagents by the calls that started them
	Uses, Replies []Mention
	kept          map[uint64]bool // messages that a compaction preserved
	linked        bool            // a line has a parentUuid
	Healed        int             // number of missing parents
	Unlinked      int             // number of lines without a parentUuid that follow the previous line
	Torn          bool            // the last line is incomplete
	steps         int             // number of visited lines, for tests

	ID, Cwd, Branch, Version, Model string
	Alone                           bool              // the file holds only the lines of a subagent
	Main                            bool              // a line is part of the main thread
	titles                          map[string]string // by type
	prompt                          string
	First, Last                     session.Stamp
	Turns                           int64
	cost                            map[uint64]session.Usage // by response
	Spent                           map[int32]session.Usage  // by the line of a prompt
	split                           shape.Line               // the current line
	Saved                           []Saved
	state                           map[string]int // the last of Saved, by path
	Unsaved                         int            // number of states beyond maxSaved
}

// MaxCalls bounds each list of calls, messages or files that a file mentions.
const MaxCalls = 10000

// NewTree returns an empty tree. alone: the file holds only the lines of a subagent.
func NewTree(alone bool) *Tree {
	return &Tree{At: map[uint64]int32{}, Threads: []string{""}, thread: map[uint64]int32{},
		Calls: map[string]string{}, kept: map[uint64]bool{},
		titles: map[string]string{}, Alone: alone}
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
	o := Line{Offset: l.Offset, Size: int32(len(l.Bytes))}
	if l.Blank() {
		o.Kind = shape.Blanks
		s.Add(o, nil)
		return
	}
	given := bytes.TrimSuffix(l.Bytes, []byte("\r"))
	line, _, err := rawjson.Line(given)
	if l.Long || err != nil || line[0] != '{' {
		s.Torn = !l.Ended
		s.Add(o, nil)
		return
	}
	o.Exact = &line[0] == &given[0]
	s.split.Split(rawjson.Members(line))
	s.save(s.split.Text(shape.Type), line)
	s.describe(&s.split)
	s.Add(o, &s.split)
}

// Add adds a line, given what it is besides its members; these are nil if it has none.
func (s *Tree) Add(o Line, e *shape.Line) {
	o.Branch, o.Head, o.Next = nowhere, int32(len(s.Lines)), -1
	if e != nil {
		s.place(&o, e)
	}
	s.Lines = append(s.Lines, o)
}

func (s *Tree) place(o *Line, e *shape.Line) {
	o.UUID, o.Parent, o.logical = Hash(e[shape.UUID]), Hash(e[shape.Parent]), Hash(e[shape.Logical])
	o.Root = e[shape.Parent] != nil && o.Parent == 0
	s.classify(o, e)
	if o.Kind >= shape.Title {
		o.Branch = Outside
		return
	}
	if e.Flag(shape.Side) && !s.Alone {
		o.thread = s.threadOf(o, e)
	}
	s.Main = s.Main || o.thread == 0
	s.linked = s.linked || o.Parent != 0
	if o.UUID == 0 {
		return
	}
	if was, twice := s.At[o.UUID]; twice {
		s.Lines[was].Branch = Dropped
	}
	s.At[o.UUID] = int32(len(s.Lines))
}

// describe reads what a line says of the session.
func (s *Tree) describe(e *shape.Line) {
	s.moment(e[shape.Time])
	first(&s.ID, e[shape.Session])
	first(&s.Cwd, e[shape.Cwd])
	first(&s.Version, e[shape.Version])
	if b := e.Text(shape.Branch); b != "" {
		s.Branch = b
	}
}

// classify sets the kind of a line, and reads what depends on it.
func (s *Tree) classify(o *Line, e *shape.Line) {
	switch o.Kind = e.Kind(); o.Kind {
	case shape.User:
		s.asked(o, e)
	case shape.Assistant:
		s.answered(o, e[shape.Message])
	case shape.System:
		if o.Boundary = e.Compacts(); o.Boundary {
			for id := range Preserved(e[shape.Compaction]) {
				if len(s.kept) < MaxCalls {
					s.kept[id] = true
				}
			}
		}
	}
}

// threadOf returns the thread of a subagent's line in the main file: by the
// agentId, or else that of its parent.
func (s *Tree) threadOf(o *Line, e *shape.Line) int32 {
	key, name := Hash(e[shape.Agent]), e.Text(shape.Agent)
	if key == 0 {
		if up, ok := s.At[o.Parent]; ok && o.Parent != 0 && s.Lines[up].thread > 0 {
			return s.Lines[up].thread
		}
		key, name = o.UUID, LineID(len(s.Lines), e.Text(shape.UUID))
	}
	t, known := s.thread[key]
	if !known {
		t = int32(len(s.Threads))
		s.thread[key], s.Threads = t, append(s.Threads, name)
	}
	return t
}

// LineID returns the uuid of a line, or an id made of its index i.
func LineID(i int, uuid string) string {
	if uuid != "" {
		return uuid
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

// asked reads a line of the user.
func (s *Tree) asked(o *Line, e *shape.Line) {
	content := rawjson.Last(e[shape.Message], "content")
	words := rawjson.Text(content)
	call := ""
	for raw := range rawjson.Elements(content) {
		switch t, first := shape.TypeOf(raw); {
		case t == nil:
		case t.Fate == shape.Answer:
			o.Result = true
			call = rawjson.Text(first)
			s.Replies = append(s.Replies, Mention{Call: Hash(first), Line: int32(len(s.Lines))})
		case t.Fate == shape.Text && words == "":
			words = rawjson.Text(first)
		}
	}
	if o.Result {
		if agent := rawjson.TextAt(e[shape.Result], "agentId"); agent != "" && call != "" && len(s.Calls) < MaxCalls {
			s.Calls[call] = "agent-" + agent
		}
		return
	}
	o.Boundary = o.Root && e.Flag(shape.Summary) && len(s.Lines) > 0
	switch e.Text(shape.Typed) {
	case TypedSource, "sdk": // the client writes it in no line of its own
		o.Typed = true
	}
	if o.printed = !o.Typed && IsOutput(words); o.printed || e.Flag(shape.Meta) || e.Flag(shape.Summary) {
		return
	}
	o.command = !o.Typed && IsCommand(words)
	o.Prompt = !o.command
	if !e.Flag(shape.Side) && s.prompt == "" && len(words) > 0 && words[0] != '<' {
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

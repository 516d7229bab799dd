package session

import (
	"context"
	"iter"
	"slices"
)

// Head is what is known of a session without reading its messages.
type Head struct {
	ID        string // the client's id; unique within Agent
	Agent     string // the client: one of the Agent constants
	Title     string // "" if the client has none
	Workspace string // the project folder, as an absolute path on its machine; "" if not known
	Created   Stamp
	Updated   Stamp
	Parent    *Link  // set for a subagent
	Turns     int64  // -1 if not known without reading; see Session.Turns
	Bytes     int64  // size of its records; -1 if not known without reading
	Mark      string // remote, draft, archived, prompts, … for a list; "" for most
}

// The clients whose sessions are known.
const (
	CursorCLI  = "cursor-cli"
	CursorSDK  = "cursor-sdk"
	CursorIDE  = "cursor-ide"
	ClaudeCode = "claude-code"
	Codex      = "codex"
)

// PromptHistory is the Status of a session that is not a conversation but the
// client's list of prompts, without answers.
const PromptHistory = "prompts"

// Link connects a subagent with the call that started it. In a Head it refers to
// the parent, among the Children of a session to a child.
type Link struct {
	Session string
	Call    string // the tool call's id; "" if not known
	Title   string
	Kind    string // the kind of subagent: explore, shell, the name of a custom one
	Status  string
}

// Session is one conversation.
type Session struct {
	Head
	Mode     string // agent, ask, plan, …
	Model    string // the last one used; turns and messages can have their own
	Status   string // idle, running, error, archived
	Branch   string // the git branch
	Repos    []Repo
	Folders  []string // workspace folders beyond Workspace
	Todos    []Todo
	Plan     string
	Context  *Context
	Children []Link
	Branches []Branch // abandoned turns, if Selection.History
	Missing  []string // sources that this session lacks, such as "store.db", in words
	Extras   []Extra

	// Messages yields the messages in order, live branch first. A message is
	// valid until the next one; the stream can be read once. The first error ends
	// it.
	Messages iter.Seq2[*Message, error]
	// Files yields the snapshots of files that the client kept; nil if none.
	// It is read after Messages, once.
	Files iter.Seq2[*File, error]

	// Graph, if set, is the state of a Cursor agent that the session was decoded from. It
	// is not part of the canonical form, whose sidecars hold it. Whoever changes what the session says clears it.
	Graph *Graph
}

// Turns returns how many turns the session has, if that is known. It also keeps a codec from
// counting turns in Head.Turns, which begins at -1: Turn.Number is another number.
func (s *Session) Turns() (n int64, known bool) { return s.Head.Turns, s.Head.Turns >= 0 }

// Graph is the state of a Cursor agent, as the blobs that hold it.
type Graph struct {
	// Copy stores the blobs of the state, each before the one that refers to it, and
	// returns the id of the root: zero for a subagent, whose blobs are among those of its
	// parent. If some are missing or damaged, it stores none and returns false. Without put,
	// it stores none, either. It can be called as long as Messages and Files can be read.
	Copy func(ctx context.Context, put func(ctx context.Context, id [32]byte, data []byte) error) (root [32]byte, whole bool, err error)
	// Partial reports that some messages are not in the state, but only in events. It is
	// set once Copy has returned true.
	Partial bool
	// Extras is how many of the session's Extras are in the state, see Partial.
	Extras int
}

// Repo is a git repository of the session.
type Repo struct{ Path, Branch string }

// Todo is one item of the agent's todo list.
type Todo struct {
	ID, Content string
	Status      string // pending, in_progress, completed, cancelled
	Created     Stamp
	Updated     Stamp
	DependsOn   []string // ids of items to do first
	Extras      []Extra
}

// Context is how full the model's context window was at the end.
type Context struct{ Used, Max int64 }

// Branch is a sequence of abandoned messages. They carry its name, and follow the
// messages of the live branch.
type Branch struct {
	Name string
	From string // the message of the live branch that it follows; "" for the start
}

// File is the content of a file before and after the session changed it.
type File struct {
	Path          string
	Before, After *Body // nil: not known
	Origin        []string
	Extras        []Extra
}

// Body is the content of a file. An empty file has a Body without bytes.
type Body struct{ Bytes []byte }

// Extra is something that a codec did not convert, carried raw.
type Extra struct {
	Name string // the name of the member, column or field, with its path if that helps
	Raw  Raw
}

// Raw is one JSON value, verbatim.
type Raw []byte

// Selection says which sessions of a store to decode, and how much of them.
type Selection struct {
	IDs     []string       // empty: all
	Sorted  bool           // IDs are sorted, so that Includes is fast
	Inner   bool           // include subagents that no list names, only the records of these sessions
	History bool           // include abandoned turns, as Branches
	Account *SharedAccount // receives the counts; may be nil
}

// Includes reports whether a session is selected.
func (s Selection) Includes(id string) bool {
	if s.Sorted {
		_, wanted := slices.BinarySearch(s.IDs, id)
		return wanted || len(s.IDs) == 0
	}
	return len(s.IDs) == 0 || slices.Contains(s.IDs, id)
}

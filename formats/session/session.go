package session

import (
	"iter"
	"slices"
)

// Head is what can be known of a session without reading its messages.
type Head struct {
	ID        string // as its client names it; unique within Agent
	Agent     string // the client: one of the Agent constants
	Title     string // "" if the client has none
	Workspace string // the folder it works in, as an absolute path of its machine; "" if not known
	Created   Stamp
	Updated   Stamp
	Parent    *Link  // set for a subagent
	Turns     int64  // -1: not known without reading
	Bytes     int64  // of the records that hold it; -1: not known without reading
	Mark      string // what a list says of it besides: remote, draft, archived, prompts, …; "" for most
}

// The clients whose sessions are known.
const (
	CursorCLI  = "cursor-cli"
	CursorSDK  = "cursor-sdk"
	CursorIDE  = "cursor-ide"
	ClaudeCode = "claude-code"
)

// PromptHistory is the Status of what is no conversation but a client's own list
// of prompts, which nobody answered.
const PromptHistory = "prompts"

// Link ties a subagent and the call that started it together. In a Head it
// names the parent, among the Children of a session a child.
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
	Model    string // last used; a turn and a message can name their own
	Status   string // idle, running, error, archived
	Branch   string // the git branch
	Repos    []Repo
	Folders  []string // workspace folders beyond Workspace
	Todos    []Todo
	Plan     string
	Context  *Context // how full the model's window was
	Children []Link
	Branches []Branch // abandoned turns, where they were asked for
	Missing  []string // sources of this session that were not there, such as "store.db", in words
	Extras   []Extra

	// Messages yields the messages in order, live branch first. A message is
	// valid until the next step; the stream can be walked once. The first
	// error ends it.
	Messages iter.Seq2[*Message, error]
	// Files yields the snapshots of files that the client kept; nil if none.
	// It is walked after Messages, once.
	Files iter.Seq2[*File, error]
}

// Repo is a git repository that the session saw.
type Repo struct{ Path, Branch string }

// Todo is one entry of the agent's list.
type Todo struct {
	ID, Content string
	Status      string // pending, in_progress, completed, cancelled
	Created     Stamp
	Updated     Stamp
	DependsOn   []string // ids of entries to be done before
	Extras      []Extra
}

// Context is how full the model's window was at the end.
type Context struct{ Used, Max int64 }

// Branch is a run of messages that the client went back on. They carry its
// name, and follow the messages of the live branch.
type Branch struct {
	Name string
	From string // the message of the live branch it grew from; "" for the start
}

// File is what a file held before and after the session touched it.
type File struct {
	Path          string
	Before, After *Body // nil: not known
	Origin        []string
	Extras        []Extra
}

// Body is the content of a file. An empty file has a Body without bytes.
type Body struct{ Bytes []byte }

// Extra is something a codec saw and did not claim, as it stood.
type Extra struct {
	Name string // the member's, column's or field's name, with the path to it where that helps
	Raw  Raw
}

// Raw is one JSON value, verbatim.
type Raw []byte

// Selection is which of a store's sessions are wanted, and how much of them.
type Selection struct {
	IDs     []string       // "" or none: all
	Sorted  bool           // IDs are in order, so that Includes finds one of many at once
	Inner   bool           // with those, the subagents that lie inside of their records, which no list names
	History bool           // abandoned turns too, as Branches
	Account *SharedAccount // entered while decoding; may be nil
}

// Includes reports whether a session is among those asked for.
func (s Selection) Includes(id string) bool {
	if s.Sorted {
		_, wanted := slices.BinarySearch(s.IDs, id)
		return wanted || len(s.IDs) == 0
	}
	return len(s.IDs) == 0 || slices.Contains(s.IDs, id)
}

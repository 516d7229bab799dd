package formats

import (
	"context"

	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// Writer is the ability to write sessions of any client.
//
// Whoever writes with it keeps these promises. Only the named target changes, and
// only when everything is there and verified: a session is written to a draft, in a
// private folder on the target's disk, and the target's format reads the draft again
// and judges it. Drafts that are withheld or failed are removed. The others appear at
// the target by renames that overwrite nothing, or only after what they replace has
// been kept: all of a conversion at once; in a migration each session with its
// subagents, itself last. If a rename fails, the earlier ones are undone.
type Writer struct {
	// New returns a sink for the sessions of one store.
	New func() Sink

	// Path returns where the file of a session belongs, as a slash path relative
	// to a folder of sessions. Two sessions can have the same path.
	Path func(h *session.Head) string

	// ID returns the id that a session gets in the client. It is set if sessions can be
	// migrated to it.
	ID func(h *session.Head) string

	// Many reports that a file can hold several sessions, one after the other.
	Many bool

	// Folders reports that a draft is a folder, and so is what Path names.
	Folders bool

	// Join is for formats whose stores hold many sessions. It opens drafts, in the order
	// given, as the records of one store, which is then created from them as in an exact
	// conversion, see View.Kind. nil: each draft is a store by itself.
	Join func(ctx context.Context, drafts []string, v View) (store.Reader, error)

	// Appends reports that a session is continued by appending to a copy of its file, see
	// Continuation. Otherwise Into.Extend puts a draft in its place.
	Appends bool

	// Into changes stores that their client uses. nil: files are only created.
	Into *Into

	// Losses are what a sink reports of sessions from anywhere: no other. The document
	// about fidelity is made from them.
	Losses []loss.Code

	// Unmodified reports whether a file or folder is still as a sink wrote it: nobody
	// continued the session. nil: unknown.
	Unmodified func(ctx context.Context, path string) (bool, error)

	// Taken reports whether the client has taken more of a file than its first bytes into a
	// database of its own, so that the rest has to stay. nil: it has none.
	Taken func(ctx context.Context, path string, size int64) (bool, error)

	// State returns what tells a conversation in a folder from all others, "" if it was
	// modified since a sink wrote it. It is set if Folders is: clients change the files of
	// a folder when they only open it.
	State func(ctx context.Context, path string) (string, error)
}

// Sink writes sessions one after the other, each parent before its subagents.
type Sink interface {
	// Put writes a session to new files. It reads the streams of s once.
	Put(ctx context.Context, s *session.Session, b SessionBuild) (*Draft, error)
}

// FamilySink is a Sink that writes subagents into the draft of their outermost session.
// They follow it, before the next session without a parent. A session of which the parent
// is not written has none. If Put fails, the draft must not have anything of the session:
// what is below it is not written, nor anything more of the draft if it is the outermost.
type FamilySink interface {
	Sink
	// Finish completes the draft of the last session without a parent: all of its
	// subagents were written. Only then the draft can be verified. It can still report
	// losses of all of them. If ctx is canceled, it only releases what an unfinished
	// draft holds.
	Finish(ctx context.Context) error
}

// Draft is a session that was written to files that no client looks at.
type Draft struct {
	// Verify reads the files again and reports what is wrong with them. It can run
	// while the sink writes further sessions.
	Verify func(context.Context) error

	// Within reports that a subagent is in the draft of its outermost session, and has
	// no files of its own: Verify of that draft verifies it, too.
	Within bool

	// Companion is the extension of a second file, at SessionBuild.Path with this
	// extension added. The client keeps it next to that of the session, where it
	// replaces the extension. "" means that there is none.
	Companion string

	// Tokens is about how many tokens the client sends to the model when it continues
	// the session, besides its own prompt and tools. 0: not known.
	Tokens int64
}

// Continuation is a session of a client that gets more turns.
// The messages that a sink gets are those to add. The first ones can belong to its last turn.
type Continuation struct {
	ID    string         // its id in the client
	Turns int            // at least as many as it has
	Graph *session.Graph // its state, if it is that of a Cursor agent: the draft gets all of it
}

// SessionBuild says how to write one session.
type SessionBuild struct {
	Path string        // the file to create: nothing exists there yet, but its parent folder does; if Writer.Appends, a copy of the file of what is continued
	Cwd  string        // if set, replaces the project folder of the session
	Root *session.Head // the outermost session above a subagent

	DropThinking bool // omit reasoning that the target's client cannot use, instead of keeping it as text
	FullHistory  bool // show the model what was compacted, too

	// Continues, if set, is the session of the client to which the messages are added.
	Continues *Continuation

	// Line, if set, returns the line of canonical text of what the session yielded
	// last, at first of its head. It has been validated, so canonical text writes
	// these bytes and no others. It is valid until the session yields again.
	Line func() []byte

	OnLoss loss.Sink // receives everything that is not carried as it was
}

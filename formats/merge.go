package formats

import (
	"context"
	"iter"

	"rehome/formats/store"
)

// Merge is the ability to unite stores in which several people, or machines, continued
// sessions: see the package convert/merge. A store is united as the text of its files,
// session by session, or it is one session, and a database.
type Merge struct {
	// Via is the format whose text stands for a store while stores are united. The
	// conversion to it and back is exact. "": the store is such text.
	Via string

	// Owner returns the id of the session that a file belongs to, by the file's slash path
	// inside of the store; "" if it belongs to none. The id is in the path.
	Owner func(path string) string

	// Sessions lists the sessions of a store whose files name them inside, and can have
	// several; nil if paths name them. Path is the path of a fork, for that of the session.
	Sessions func(ctx context.Context, l *Location) iter.Seq2[MergeSession, error]
	Path     func(path, id, fork string) string

	// Files says what the files of sessions hold, those of the conversation first. A
	// file that matches none is an attachment, which never changes.
	Files []MergeFile

	// Fork returns the id of a fork: that of the part of a session that begins with a
	// record, given by its digest.
	Fork func(id, digest string) string

	// Rewrite appends a line of a fork: each string in it that is an old id becomes the
	// new one, unless somebody said it, and if it has a title, that says so; "" as its title
	// is the given one. titled reports whether it has.
	Rewrite func(dst, line []byte, path string, ids map[string]string, title string) (out []byte, titled bool)

	// Open opens a store that is one session with an id as that of a fork, and Added reports
	// whether the records of a set are the conversation: they are only added. Set if a store
	// is one session; then there are no files.
	Open  func(ctx context.Context, l *Location, v View, id, fork string) (store.Reader, error)
	Added func(set *store.Set) bool

	// Title returns the line that gives a session a title; nil if sessions have theirs
	// elsewhere.
	Title func(id, title string) []byte
}

// MergeSession is a session in a file, or a file that belongs to none.
type MergeSession struct {
	Group, ID string // sessions with an id in different groups have nothing in common
	Parent    string // a session without which this one is worth nothing: they are one family
	Own       bool   // it has a Parent, but is no part of it: a client lists both
	Title     string // "" if only Sessions.Heads says it
	Path      string // of its file in the result; "" if the file is left out
	File      string // slash path below the store; "" if the store is a file
	From, To  int64  // its bytes in the file; To 0 = all of it
}

// MergeFile says what files with a name hold.
type MergeFile struct {
	Name string // a pattern of path.Match, of the last element
	// Key returns what tells a line of the file from the others, and the id that the line
	// defines, if any: that of a fork is another one. nil: lines are only appended.
	Key func(line []byte) (key, id string)
	// Records returns what a line adds to the conversation, perhaps nothing; nil: itself.
	// The rest of a line can change: the file is that of one copy, which has most or, of
	// the same conversation, was updated last. Without Key.
	Records func(line []byte) []string
	// Text reports that lines are text, of which the last needs no line break. Those of
	// JSON can be torn.
	Text bool
	// Fixed reports that lines with a key never change.
	Fixed bool
	// History reports that the keys of a conversation are a sequence to which each
	// continuation adds: two that were added by two people are two conversations.
	History bool
	// State reports that the file is replaced as a whole, and is worth nothing for
	// another state of the session.
	State bool
	// Session reports that the id of the first line is that of the session.
	Session bool
	// Updated returns when a line was changed last, in milliseconds of Unix time; nil if
	// lines do not say.
	Updated func(line []byte) int64
}

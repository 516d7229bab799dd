package formats

import (
	"context"
	"io"
	"iter"

	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/formats/session"
	"rehome/formats/store"
)

// Format is a codec as a value. What it cannot do is a nil function.
type Format struct {
	Name  string // kebab-case, what --from and --to take
	Title string // one line for people

	// Families are the kinds of records the format can carry whole. Two
	// formats that share one are relatives: conversion between them is exact.
	Families []string

	// Text formats are bound for git: what is written to one leaves secrets at
	// home unless told otherwise.
	Text bool

	// Partial says that Open can read a part of a store, see View.Sessions.
	Partial bool

	// Schemas are the published schemas of this format's own text.
	Schemas []string

	// Probe says whether a location is a whole store of this format, and why.
	// It reads the beginning of files, by Location's methods, never the store.
	Probe func(ctx context.Context, l *Location) (Match, error)

	Open   func(ctx context.Context, l *Location, v View) (store.Reader, error)
	Create func(ctx context.Context, b Build) (store.Writer, error)

	// Shard names the shard a record belongs to, from that record alone, so
	// that text stores split where their owner's data splits. "" is the set's
	// single file. Any string will do; the text store makes it a safe name.
	Shard func(set *store.Set, r store.Record) string

	// Regenerated says what a new store gets afresh where no sidecar lies beside the
	// text that it is made of; "" if nothing.
	Regenerated string

	// Decode reads the sessions of a store, parents before their children, in
	// one order whatever the number of workers. An error with a session says
	// why that one could not be read and lets the others follow; an error
	// without one ends the stream. A session is to be walked before the next
	// one is asked for. nil: the format's meaning is not known.
	Decode func(ctx context.Context, l *Location, v View, sel session.Selection) iter.Seq2[*session.Session, error]

	// Stream is Decode for a source that is read once while it is written: a
	// pipe. What a file's end would add to a record at its beginning follows it
	// instead. nil: the format needs a file.
	Stream func(ctx context.Context, r io.Reader, v View, sel session.Selection) iter.Seq2[*session.Session, error]

	// Heads lists what Decode would yield, as far as keys and heads alone tell:
	// the store's content is not read. nil: only Decode knows.
	Heads func(ctx context.Context, l *Location, v View) iter.Seq2[*session.Head, error]
	// DefaultPaths is where this format's stores lie on a machine, as paths that need
	// not exist; a store is at one of them or below.
	DefaultPaths func(m Machine) []string

	// IsCopy reports whether a file's name is that of a copy which the client
	// makes of a store for itself. One is read where it is named, not where
	// somebody looks below a folder. nil: it makes none.
	IsCopy func(name string) bool

	// Encode appends one session to what stands at Build.Path: a file of the
	// format's own, fresh or made by an earlier Encode.
	Encode func(ctx context.Context, s *session.Session, b Build) error
	// SessionPath is where Encode's file belongs, below a folder of sessions: a path
	// with slashes. Two sessions can ask for one name.
	SessionPath func(h *session.Head) string
	// Companion is a small file that belongs beside Encode's: it has that one's
	// name with another ending. None if what it holds is nil. nil: there are
	// none.
	Companion func(h *session.Head) (ending string, content []byte)
	// Verify reads again what Encode wrote, and says what is wrong with it. nil:
	// Decode gives back the very session that was written.
	Verify func(ctx context.Context, path string) error
	// Unmodified reports whether a file is still as Encode left it: nobody has
	// added to it since. nil: that cannot be told.
	Unmodified func(ctx context.Context, path string) (bool, error)
	// OneSessionPerFile says that a file can hold one session only.
	OneSessionPerFile bool

	// Check asks what the rules ask of a store of this format, see package rule,
	// in one walk, and reports every finding. An error says why the store could
	// not be examined to its end; one that is only broken is a finding. nil: no
	// rule is asked of this format.
	Check func(ctx context.Context, l *Location, v View, q *rule.Pass) error

	// ProjectPath is where a client that works in the folder cwd looks for its
	// store, below its user's home folder. nil: the client does not care.
	ProjectPath func(home, cwd string) string

	// ExternalDir is for a client that keeps one folder of its stores outside of
	// ProjectPath: its name inside a store, and where it is for a client that works
	// in cwd. nil: everything is in the store.
	ExternalDir func(home, cwd string) (name, path string)

	// StoreInside is the store that l stands for where that is not l itself: the one
	// store of a client's folder around it, beside which lies what belongs to
	// the folder, too; the folder of a store that is named by its main file. ""
	// if l is no such place. nil: there are none.
	StoreInside func(l *Location) string
}

// Family names.
const (
	Tables       = "tables"        // SQLite databases and the plain files beside them
	PlainFiles   = "plain-files"   // files alone, byte for byte
	SDKDocuments = "sdk-documents" // agents, runs, events and checkpoints of the Cursor SDK, one line each
)

// SecretMode says what a reader does about secrets in what it yields.
type SecretMode uint8

const (
	// KeepSecrets yields every byte.
	KeepSecrets SecretMode = iota
	// WithholdSecrets puts a fixed marker in the place of each secret.
	WithholdSecrets
	// OmitWithheld leaves out what an earlier reader withheld: targets that
	// a client will open must never hold a marker.
	OmitWithheld
)

// View is how a store is to be read.
type View struct {
	Family  string // which of the format's families is wanted; "" is its first
	Secrets SecretMode
	Sidecar []store.SidecarItem     // put back while reading: the items of this store's sidecar
	OnOmit  func(store.SidecarItem) // OmitWithheld: told of each thing left out, as an item of the target's sidecar
	// OnLeftover is told of what this store holds and no record of the family
	// can say, secrets that stay home by their place alone. It is for the sidecar of
	// the target, and Build.Leftover on the way back.
	OnLeftover func(store.SidecarItem)
	// RequireRestorable refuses what could be read and written as text, but could not
	// be put back: said while the store still exists.
	RequireRestorable bool
	// Cwd, where set, is the folder that the sessions are said to belong to,
	// whatever the store says.
	Cwd string
	// Sessions, where set, are the only ones of a store that are wanted: a
	// reader of records yields what belongs to them, and what that refers to.
	// Formats without Partial do not look at it.
	Sessions []string
	OnLoss   loss.Sink    // told of everything that is not carried whole
	OnNotice func(string) // told in one line how the source was opened, where that is not plain
	Verbose  bool         // also report what asks nothing of anybody, such as that a store in use is read from a copy
	Live     bool         // read a store in use in place, where its owner's lock files already exist
	Fresh    bool         // written by this process a moment ago: text need not be vetted, only compared by digest
	Jobs     int          // workers; 0 means one a processor
}

// Build is what a writer needs to know.
type Build struct {
	Path     string // where the store must appear; nothing is there yet, its folder is
	Schema   *store.Schema
	Shard    func(set *store.Set, r store.Record) string // of the format named by Schema.Origin; may be nil
	Compress string                                      // "", "gzip" or "zstd"; text stores only
	Jobs     int                                         // workers; 0 means one a processor

	// OnSidecar is told of each record that the new store cannot hold as it is.
	// It is View.Sidecar when the new store is read in this family.
	OnSidecar func(store.SidecarItem)
	// Leftover is what an earlier conversion kept beside the source: what its
	// View.OnLeftover was told.
	Leftover []store.SidecarItem
	// Moved says that the sessions belong to another folder than they did, see
	// View.Cwd: Path is the store itself, whatever folder around it Leftover
	// speaks of.
	Moved bool
	// WithSecrets allows secrets in Residue, which becomes text.
	WithSecrets bool

	// Of Encode: Cwd, where set, is the folder that the session is to belong to,
	// whatever it says. Root is the outermost session above a subagent.
	// DropThinking leaves out reasoning that the target's client could not
	// use, instead of keeping it as text; FullHistory shows the model what was
	// compacted, too.
	Cwd          string
	Root         *session.Head
	DropThinking bool
	FullHistory  bool

	OnLoss loss.Sink // told of everything that is not carried whole
}

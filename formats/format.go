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

// Format is a codec as a value. A nil function means that the format lacks that
// ability.
type Format struct {
	Name  string // kebab-case; the value of --from and --to
	Title string // a one-line description for people

	// Families are the kinds of records that the format can carry completely.
	// Conversion between two formats that share a family is exact.
	Families []string

	// Text marks formats that are meant for git: what is written to them omits
	// secrets by default.
	Text bool

	// Partial reports whether Open can read part of a store, see View.Sessions.
	Partial bool

	// Schemas are the published schemas of this format's own text.
	Schemas []string

	// Probe reports whether a location is a complete store of this format, and
	// why. It reads the start of files through Location's methods, never the store.
	Probe func(ctx context.Context, l *Location) (Match, error)

	Open   func(ctx context.Context, l *Location, v View) (store.Reader, error)
	Create func(ctx context.Context, b Build) (store.Writer, error)

	// Shard returns the name of the shard that a record belongs to, from that
	// record alone, so that an archive splits along the client's own units. ""
	// means the single file of the set. Any string will do: the archive turns it
	// into a safe file name.
	Shard func(set *store.Set, r store.Record) string

	// Regenerated lists, in words, what a store restored without a sidecar gets
	// new instead of as it was; "" if nothing.
	Regenerated string

	// Decode yields the sessions of a store, parents before their children, in
	// the same order for any number of workers. An error with a session says why
	// that session could not be read, and the others follow; an error without one
	// ends the stream. The messages of a session must be read before the next
	// session is requested. nil: the format has records only.
	Decode func(ctx context.Context, l *Location, v View, sel session.Selection) iter.Seq2[*session.Session, error]

	// Stream is Decode for a source that is read once, while it is written: stdin.
	// What Decode learns from the end of a file and puts on an earlier message
	// comes after that message instead. nil: the format needs a file.
	Stream func(ctx context.Context, r io.Reader, v View, sel session.Selection) iter.Seq2[*session.Session, error]

	// Heads lists what Decode would yield, as far as keys and metadata tell,
	// without reading the content of the store. nil: only Decode can list.
	Heads func(ctx context.Context, l *Location, v View) iter.Seq2[*session.Head, error]
	// DefaultPaths returns where the client keeps its stores on a machine. The
	// paths need not exist; stores are at them or below.
	DefaultPaths func(m Machine) []string

	// IsCopy reports whether a file name is one that the client gives to its own
	// backup of a store. Such a file is read if it is named, and skipped when a
	// folder is searched. nil: the client makes no backups.
	IsCopy func(name string) bool

	// Encode appends one session to the file at Build.Path, which is new or was
	// made by an earlier Encode.
	Encode func(ctx context.Context, s *session.Session, b Build) error
	// SessionPath returns where the file of a session belongs, as a slash path
	// relative to a folder of sessions. Two sessions can have the same path.
	SessionPath func(h *session.Head) string
	// Companion returns the content of a small file that the client keeps next to
	// the file of a session, and its extension, which replaces that of the session
	// file. Content is nil if this session has none. nil: no session has one.
	Companion func(h *session.Head) (ending string, content []byte)
	// Verify reads what Encode wrote and reports what is wrong with it. nil:
	// Decode returns exactly the session that was written.
	Verify func(ctx context.Context, path string) error
	// Unmodified reports whether a file is still as Encode wrote it. nil: unknown.
	Unmodified func(ctx context.Context, path string) (bool, error)
	// OneSessionPerFile reports that a file holds only one session.
	OneSessionPerFile bool

	// Check applies the rules for this format (see package rule) in one walk over
	// the store and reports every finding. It returns an error if the store could
	// not be read to the end; damage is a finding, not an error. nil: no rules.
	Check func(ctx context.Context, l *Location, v View, q *rule.Pass) error

	// ProjectPath returns where a client that runs in the folder cwd looks for its
	// store, below the home folder of the user. nil: the path does not depend on
	// cwd.
	ProjectPath func(home, cwd string) string

	// ExternalDir is for a client that keeps one folder of its stores outside of
	// ProjectPath. It returns the name of that folder inside a store, and its path
	// for a client that runs in cwd. nil: everything is in the store.
	ExternalDir func(home, cwd string) (name, path string)

	// StoreInside returns the path of the store that l stands for, where l is not
	// that store itself: the only store in a client's project folder, or the folder
	// of a store that is named by its main file. "" if l is neither. nil: not
	// needed.
	StoreInside func(l *Location) string
}

// Names of families.
const (
	Tables       = "tables"        // SQLite databases and the plain files next to them
	PlainFiles   = "plain-files"   // files alone, byte for byte
	SDKDocuments = "sdk-documents" // agents, runs, events and checkpoints of the Cursor SDK, one line each
)

// SecretMode says what a reader does with secrets.
type SecretMode uint8

const (
	// KeepSecrets yields every byte.
	KeepSecrets SecretMode = iota
	// WithholdSecrets replaces each secret with a fixed marker.
	WithholdSecrets
	// OmitWithheld leaves out what an earlier reader withheld: a store that a
	// client opens must not contain a marker.
	OmitWithheld
)

// View says how to read a store.
type View struct {
	Family  string // the family to read; "" is the format's first
	Secrets SecretMode
	Sidecar []store.SidecarItem     // the items of the source's sidecar, restored while reading
	OnOmit  func(store.SidecarItem) // with OmitWithheld: receives each omitted secret, for the sidecar of the target
	// OnLeftover receives what the store holds but records of the family cannot
	// hold, except secrets that are recognized by their place alone. It goes into
	// the sidecar of the target, and is Build.Leftover on the way back.
	OnLeftover func(store.SidecarItem)
	// RequireRestorable makes reading fail on what can be written as text but not
	// restored from it, while the store still exists.
	RequireRestorable bool
	// Cwd, if set, replaces the project folder of the sessions.
	Cwd string
	// Sessions, if set, are the only sessions to read: a reader of records yields
	// what belongs to them and what that refers to. Formats without Partial ignore
	// it.
	Sessions []string
	OnLoss   loss.Sink    // receives everything that is not carried as it was
	OnNotice func(string) // receives a line about how the source was opened, if that is unusual
	Verbose  bool         // also report what needs no action, such as reading a store in use from a copy
	Live     bool         // read a store in use in place if its client's lock files exist
	Fresh    bool         // text that this process has just written: skip validation, compare digests only
	Jobs     int          // workers; 0 means one per CPU
}

// Build says what a writer is to create.
type Build struct {
	Path     string // the store to create: nothing exists there yet, but its parent folder does
	Schema   *store.Schema
	Shard    func(set *store.Set, r store.Record) string // Format.Shard of Schema.Origin; may be nil
	Compress string                                      // "", "gzip" or "zstd"; archives only
	Jobs     int                                         // workers; 0 means one per CPU

	// OnSidecar receives each record that the new store cannot hold as it is, to
	// be View.Sidecar when the new store is read in this family.
	OnSidecar func(store.SidecarItem)
	// Leftover is what View.OnLeftover received in an earlier conversion, from the
	// sidecar of the source.
	Leftover []store.SidecarItem
	// Moved reports that the sessions get another project folder (see View.Cwd):
	// Path is the store itself, and paths in Leftover that lead out of it do not
	// apply.
	Moved bool
	// WithSecrets allows secrets in what OnSidecar receives, which becomes text.
	WithSecrets bool

	// For Encode: Cwd, if set, replaces the project folder of the session. Root is
	// the outermost session above a subagent. DropThinking leaves out reasoning
	// that the target's client cannot use, instead of keeping it as text.
	// FullHistory shows the model what was compacted, too.
	Cwd          string
	Root         *session.Head
	DropThinking bool
	FullHistory  bool

	OnLoss loss.Sink // receives everything that is not carried as it was
}

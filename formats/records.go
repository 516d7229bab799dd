package formats

import (
	"context"
	"errors"
	"slices"

	"rehome/formats/store"
)

// Records is the ability to read stores record by record and to create them from
// such records: exactly, whatever they mean.
type Records struct {
	// Kinds are the kinds of records that the format can carry completely, the
	// usual one first. Conversion between formats with a kind in common is exact.
	Kinds []Kind

	// Partial reports whether Open can read part of a store, see View.Sessions.
	Partial bool

	// Regenerated lists, in words, what a store restored without a sidecar gets
	// new instead of as it was; "" if nothing.
	Regenerated string

	Open   func(ctx context.Context, l *Location, v View) (store.Reader, error)
	Create func(ctx context.Context, b Build) (store.Writer, error)

	// Parts lists the folders inside of a store that can have sidecars of their own,
	// named PartSidecar; "" is the store itself. nil: none can.
	Parts func(l *Location) []string

	// Keeps reports whether a file of a text, by its slash path, may stay beside a
	// newer text of the store that lacks it: what it holds is no longer in the store,
	// and the newer text is valid with it. Both texts are folders. nil: none may.
	Keeps func(text, newer, path string) bool

	// ShardFiles reports of files of a text, by their slash paths below the text,
	// whether they are of some shards of a set. If lists is true, these have all
	// rows with lists. nil if a text does not have its shards in files.
	ShardFiles func(set *store.Set, shards []Shard, lists bool) func(path string) bool

	// Changes opens what changed in a store since a mark was taken; nil if the format
	// cannot. The mark is one that Changes.Mark returned, or nil: then everything
	// changed. The error is ErrNoChanges if the store has to be opened as a whole.
	Changes func(ctx context.Context, l *Location, v View, mark []byte) (*Changes, error)

	// Keyed lists tables whose row ids no client depends on: it finds rows by key,
	// and replaces them under new row ids. Text holds these tables without row ids,
	// so that two people's copies of a row are the same text.
	Keyed []string

	// Shard returns the shard that a record belongs to, from that record alone, so
	// that an archive splits along the client's own units.
	Shard func(set *store.Set, r store.Record) Shard

	// Lists are the values that list sessions. An archive splits them into their
	// entries, so that two people can add sessions without a conflict.
	Lists []List
}

// Changes is what changed in a store. Its Reader reads all records of the shards in
// which a record was added, changed or deleted, and no others; Close reports a store
// that changed meanwhile, and then nothing of it counts.
type Changes struct {
	store.Reader
	Same bool // nothing was written to the store at all
	// Shards are those that changed, of each set of the schema. The one without a name
	// is among them if the set has no records, or had none.
	Shards [][]Shard
	Lists  []bool                 // of each set: all rows with lists are in these shards
	Mark   func() ([]byte, error) // of the present state
	Read   func() int64           // bytes of the store that were read so far
}

// ErrNoChanges is why a store has to be opened as a whole.
var ErrNoChanges = errors.New("cannot tell what changed")

// Shard is the part of a set that a record is archived in.
type Shard struct {
	// Name names the shard; "" is the single file of the set. Any string will do:
	// the archive turns it into a safe file name.
	Name string
	// Common marks shards of records that many sessions share. Their keys are
	// hashes of their values: such records are added, but never change.
	Common bool
}

// List is a list in a JSON value whose entries belong to different sessions.
type List struct {
	Set, Key string // the table, and the first cell of the row; the value is the second
	Member   string // of the value: an array, or an object with a member for each session; "" if the value is the list
	ID       string // of an entry of the array: the member that has its id; "" if entries are ids or have none
}

// Kind is a kind of records: what they are, and whose.
type Kind struct {
	Name string // Tables, PlainFiles or SDKDocuments
	// Schema names the layout that the records follow: that of one client's stores,
	// or AnySchema. Tables of two clients are not interchangeable, though both are
	// tables.
	Schema string
}

// AnySchema is the Schema of formats that hold anybody's records.
const AnySchema = "*"

// Names of kinds.
const (
	Tables       = "tables"        // SQLite databases and the plain files next to them
	PlainFiles   = "plain-files"   // files alone, byte for byte
	SDKDocuments = "sdk-documents" // agents, runs, events and checkpoints of the Cursor SDK, one line each
)

// Fits reports whether records of one kind can become records of the other.
func (k Kind) Fits(o Kind) bool {
	return k.Name == o.Name && (k.Schema == o.Schema || k.Schema == AnySchema || o.Schema == AnySchema)
}

// IsKeyed reports whether a table is one of Keyed. It is the View.HideRowIDs of text.
func (r *Records) IsKeyed(set *store.Set) bool { return slices.Contains(r.Keyed, set.Name) }

// Has reports whether one of the kinds has this name.
func (r *Records) Has(kind string) bool {
	if r != nil {
		for _, k := range r.Kinds {
			if k.Name == kind {
				return true
			}
		}
	}
	return false
}

// Parted is what a writer is if it creates a store of parts: folders that are stores by
// themselves, each with a sidecar of its own. What it gives to Build.OnSidecar has its
// Part already.
type Parted interface {
	// Part returns any other item as it is said of the part that it belongs to, once
	// the store is finished.
	Part(it store.SidecarItem) store.SidecarItem
}

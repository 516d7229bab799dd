package lists

import (
	"context"
	"strings"

	"rehome/formats/session"
	"rehome/formats/store"
)

// Prefixes of the keys of cursorDiskKV.
const (
	ComposerRow   = "composerData:"
	BubbleRow     = "bubbleId:"
	CheckpointRow = "checkpointId:"
	RequestRow    = "messageRequestContext:"
	DiffRow       = "codeBlockDiff:"
	FateRow       = "codeBlockPartialInlineDiffFates:"
	OriginalRow   = "ofsContent:"
	heightRow     = "composerVirtualRowHeights:"
	RootRow       = "agentKv:checkpoint:"
	BubbleRootRow = "agentKv:bubbleCheckpoint:"
	BlobRow       = "agentKv:blob:"
	ContentRow    = "composer.content."
)

// EmptyContent is the hash of no content: the file was empty or did not exist.
const EmptyContent = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// Family describes the rows of cursorDiskKV whose keys have one prefix.
type Family struct {
	Prefix string
	Owned  bool   // the id of the session that has the row follows
	Aside  bool   // a session has many such rows besides its bubbles
	Shard  string // the hash of the value follows: the shards of such rows in an archive begin so
	Schema string // of the values
}

// families is the table of all rows that belong to sessions.
var families = [...]Family{
	{Prefix: ComposerRow, Owned: true, Schema: "cursor-ide-composer-1"},
	{Prefix: BubbleRow, Owned: true, Schema: "cursor-ide-bubble-1"},
	{Prefix: CheckpointRow, Owned: true, Aside: true, Schema: "cursor-ide-checkpoint-1"},
	{Prefix: RequestRow, Owned: true, Aside: true, Schema: "cursor-ide-request-1"},
	{Prefix: DiffRow, Owned: true, Aside: true, Schema: "cursor-ide-diff-1"},
	{Prefix: FateRow, Owned: true, Aside: true, Schema: "cursor-ide-fates-1"},
	{Prefix: OriginalRow, Owned: true, Aside: true},
	{Prefix: heightRow, Owned: true},
	{Prefix: RootRow, Owned: true},
	{Prefix: BubbleRootRow, Owned: true, Aside: true},
	{Prefix: BlobRow, Shard: "blob-"},
	{Prefix: ContentRow, Shard: "content-"},
}

// Families returns a copy of the table of families.
func Families() [len(families)]Family { return families }

// OwnerOf returns the id of the session that has a row, "" if the row has no session of
// its own.
func OwnerOf(at *store.Addr) string {
	key := at.Key.Bytes()
	switch at.Set {
	case HeadTable:
		return string(key)
	case DiskTable:
		if f := FamilyOf(key); f.Owned {
			id, _, _ := strings.Cut(string(key[len(f.Prefix):]), ":")
			return id
		}
	}
	return ""
}

// FamilyOf returns the family of a key; the zero Family if it has none.
func FamilyOf(key []byte) Family {
	for i := range families {
		if p := families[i].Prefix; len(key) >= len(p) && string(key[:len(p)]) == p {
			return families[i]
		}
	}
	return Family{}
}

// adopt adds the sessions that have bubbles, and neither a row of their own nor a place in a
// list.
func (x *Index) adopt(ctx context.Context) error {
	if x.Only != nil {
		return nil
	}
	return x.eachOwner(ctx, BubbleRow, func(id string, more bool) error {
		if !more || x.ByID[id] != nil {
			return nil
		}
		found, err := x.HasBubbles(ctx, id)
		if found {
			e := x.Entry(id)
			e.Unlisted = true
			e.settle(x.Store)
		}
		return err
	})
}

// HasBubbles reports whether a session has a bubble that was not deleted.
func (x *Index) HasBubbles(ctx context.Context, id string) (bool, error) {
	prefix := BubbleRow + id + ":"
	for from := prefix; ; {
		key, ok, err := x.Global.Disk.First(ctx, from, PrefixEnd(prefix))
		if err != nil || !ok {
			return false, err
		}
		f, _, err := x.Global.Disk.Get(ctx, key, smallRecord)
		if err != nil {
			return false, err
		}
		if _, fate := QuietLine(f); fate != Deleted {
			return true, nil
		}
		from = key + "\x00"
	}
}

// eachOwner calls f for each session that has rows of a family. more says whether more than
// its id follows in their keys. It looks for one key of each session, however many rows are in
// between.
func (x *Index) eachOwner(ctx context.Context, family string, f func(id string, more bool) error) error {
	if x.Global == nil || x.Global.Disk == nil {
		return nil
	}
	for from := family; ; {
		key, ok, err := x.Global.Disk.First(ctx, from, PrefixEnd(family))
		if err != nil || !ok {
			return err
		}
		id, _, more := strings.Cut(key[len(family):], ":")
		if from = PrefixEnd(family + id + ":"); !more {
			from = key + "\x00"
		}
		if err := f(id, more); err != nil {
			return err
		}
	}
}

// Strays counts the rows of sessions that nothing names.
func (x *Index) Strays(ctx context.Context) (t session.Account, err error) {
	for _, f := range families {
		family := f.Prefix
		if !f.Aside && family != BubbleRow && family != RootRow {
			continue
		}
		err := x.eachOwner(ctx, family, func(id string, more bool) (err error) {
			if e := x.ByID[id]; e != nil && more == (family != RootRow) {
				return nil
			}
			n := int64(1)
			if more {
				n, err = x.Global.Number(ctx, family+id+":")
			}
			t.Read += n
			t.Superseded += n
			return err
		})
		if err != nil {
			return t, err
		}
	}
	return t, nil
}

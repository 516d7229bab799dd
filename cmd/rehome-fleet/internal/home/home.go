// Package home names the places on servers that hold one store each, and how rehome reaches
// them: it reads from and writes to a private copy in files, which the usual formats read and
// write. So every command works on them, and no server is asked for more than its documents.
package home

import (
	"context"

	"rehome/formats/loss"
)

// Home is a store on a server.
type Home interface {
	// Name is the address without credentials, for people.
	Name() string
	// Format is the name of the format of the files, such as cursor-ndjson.
	Format() string
	// Many reports whether it holds a folder of stores. Others hold one store.
	Many() bool
	// Fetch writes the store to path, which does not exist, as it is at one moment, and the
	// sidecar that belongs to it, if any, to path.sidecar.ndjson.
	Fetch(ctx context.Context, path string) error
	// Place makes the files at path the store: all or nothing, read again before it is
	// committed. A home that holds a store already is refused unless o.Replace.
	Place(ctx context.Context, path string, o PlaceOptions) (Placed, error)
}

// Loser is a Home that can leave something out of what it fetches.
type Loser interface {
	// OnLoss sets what Fetch calls for each thing that it left out.
	OnLoss(loss.Sink)
}

// PlaceOptions are the options of Place.
type PlaceOptions struct {
	Replace  bool                 // keep the old store under another name, see Placed.Backup
	Progress func(done, of int64) // in bytes of the files; may be nil

	// Lost is called once, before anything is written, with what the store cannot hold. Its error
	// ends Place. A store that holds everything need not call it.
	Lost func([]loss.Group) error
}

// Placed is what Place did.
type Placed struct {
	Backup    string // the name of the old store; "" = there was none
	Documents int64
	Hidden    int64  // lines that are no documents, such as duplicates: only Fetch returns them
	Warning   string // about the server; "" = none
}

package formats

import (
	"context"

	"rehome/formats/rule"
)

// Format is a codec as a value: what it is called, how a store of it is recognized,
// and what it can do. A nil ability means that it cannot.
type Format struct {
	Name  string // kebab-case; the value of --from and --to
	Title string // a one-line description for people

	// Clients are the programs whose sessions its stores hold, as session.Head.Agent
	// names them; none for text, which holds those of any client.
	Clients []string

	// Text marks formats that are meant for git: what is written to them omits
	// secrets by default.
	Text bool

	// Schemas are the published schemas of this format's own text.
	Schemas []string

	// Family is the name by which rules and repairs know formats of one kind, such as
	// "lines"; "" for a format that they know by its own name.
	Family string

	// ReadOnly says why no sessions are written for the client. "": nothing is known against it.
	ReadOnly string

	// Known is what versions of the client are known to write, as known.txt of package
	// doctor has it; "" if that file has it.
	Known string

	// Probe reports whether a location is a complete store of this format, and
	// why. It reads the start of files through Location's methods, never the store.
	Probe func(ctx context.Context, l *Location) (Match, error)

	// IsStoreName reports whether only stores of this format have this path, which is
	// absolute: a file there that Probe does not recognize is corrupt. nil: never.
	IsStoreName func(path string) bool

	// Strays returns the entries of a store's folder that are not of the store, as slash
	// paths, but for those in which the client never keeps sessions. A walk looks for
	// other stores in them. nil: a folder is a store as a whole.
	Strays func(l *Location) []string

	Records  *Records  // its stores are read and written record by record
	Plain    *Records  // its stores, or single files of them, are read and written as plain files
	Sessions *Sessions // its sessions are read
	Writer   *Writer   // sessions of any client are written to it
	Home     *Home     // a client keeps its stores in known places
	Mover    *Mover    // its sessions follow a project folder that was moved
	Merge    *Merge    // its stores unite

	// Check applies the rules for this format (see package rule) in one walk over
	// the store and reports every finding. It returns an error if the store could
	// not be read to the end; damage is a finding, not an error. nil: no rules.
	Check func(ctx context.Context, l *Location, v View, p *rule.Pass) error

	// Repair repairs the findings of Check in one file of a private copy of a store, as
	// far as it can. nil: none.
	Repair func(ctx context.Context, path string, r *Repair) error
}

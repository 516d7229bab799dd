package formatstest

import (
	"slices"
	"testing"

	"rehome/formats"
	"rehome/formats/formatstest/leaves"
)

// Case is one codec and the sources it is tested with.
type Case struct {
	Format   *formats.Format
	Registry *formats.Registry // all formats of the build: the relatives, and who else might claim a fixture
	Fixtures []Fixture

	// MoreStores are other stores for the laws of leaves and of sessions, which are quick.
	MoreStores []Fixture
	// Leaves is how the format's stores are walked and what becomes of what is in them. See
	// package leaves.
	Leaves *leaves.Law

	kind string // which of the format's readers the law at hand is tried on; "" is its first
}

// Fixture builds one source of the case's format.
type Fixture struct {
	Name string

	// Make builds the source inside dir and returns its path. It is called
	// many times and must always build the same records. Everything in dir is
	// watched, so that a side file left beside the source is found.
	Make func(t *testing.T, dir string) string

	// Secrets are byte strings planted in the source that must not occur in a
	// text written without secrets.
	Secrets []string

	// Foreign is the number of records that belong to no session: the account of
	// decoding leaves them out.
	Foreign int64

	// Real marks what a client or a generator wrote: its secrets and its foreign records
	// are not known.
	Real bool

	// Uncounted marks a store whose text is not part of the share that is in extra data alone.
	Uncounted bool
}

// Run tests that the codec keeps what every format promises.
func Run(t *testing.T, c Case) {
	if len(c.Fixtures) == 0 {
		t.Fatal("a codec without fixtures is not tested")
	}
	t.Run("description", c.description)
	t.Run("strangers", c.strangers)
	t.Run("looks", c.looks)
	for _, f := range c.Fixtures {
		t.Run(f.Name, func(t *testing.T) {
			c.run(t, f, probeLaws)
			if c.Format.Records != nil {
				c.run(t, f, slices.Concat(readingLaws, recordLaws))
				for _, kind := range c.Format.Records.Kinds[1:] {
					c := c
					c.kind = kind.Name
					c.run(t, f, readingLaws)
				}
			}
			if c.Format.Sessions != nil {
				c.run(t, f, sessionLaws)
			}
			if c.Format.Check != nil {
				c.run(t, f, checkLaws)
			}
		})
	}
	for _, f := range c.MoreStores {
		t.Run(f.Name, func(t *testing.T) { c.run(t, f, []law{{"leaves", leavesUnchanged}, {"sessions", sessions}}) })
	}
	if c.Leaves != nil {
		t.Run("declarations", c.declarations)
	}
}

// run tests laws on a fixture.
func (c Case) run(t *testing.T, f Fixture, list []law) {
	for _, law := range list {
		name := law.name
		if c.kind != "" {
			name += " as " + c.kind
		}
		t.Run(name, func(t *testing.T) {
			steady(t)
			law.holds(t, c, makeSource(t, f))
		})
	}
}

// law is one promise, tested on a fresh source.
type law struct {
	name  string
	holds func(t *testing.T, c Case, s source)
}

// probeLaws are the promises of every format.
var probeLaws = []law{{"probe", probe}, {"outside", outside}}

// readingLaws are the promises of a reader of records of any kind.
var readingLaws = []law{
	{"records", records},
	{"order", order},
	{"close", closing},
	{"cancel", cancelled},
	{"stopped", stopped},
	{"truncated", truncated},
}

// recordLaws are the promises of formats that have records.
var recordLaws = []law{
	{"trip", trip},
	{"text", text},
	{"there and back", thereAndBack},
	{"secrets", secrets},
	{"cwd", cwd},
	{"abandoned", abandoned},
}

package formatstest

import (
	"testing"

	"rehome/formats"
)

// Case is one codec and the sources it is tested with.
type Case struct {
	Format   *formats.Format
	Registry *formats.Registry // all formats of the build: the relatives, and who else might claim a fixture
	Fixtures []Fixture

	// More means that stores of the format hold more than sessions: the account of
	// decoding counts only the records of sessions.
	More bool

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
			for _, law := range probeLaws {
				t.Run(law.name, func(t *testing.T) {
					steady(t)
					law.holds(t, c, makeSource(t, f))
				})
			}
			for _, law := range laws {
				if c.Format.Records == nil {
					break
				}
				for i, kind := range c.Format.Records.Kinds {
					if i > 0 && !law.reading {
						continue
					}
					name, c := law.name, c
					if c.kind = kind.Name; i > 0 {
						name += " as " + kind.Name
					}
					t.Run(name, func(t *testing.T) {
						steady(t)
						law.holds(t, c, makeSource(t, f))
					})
				}
			}
			for _, law := range sessionLaws {
				if c.Format.Sessions != nil {
					t.Run(law.name, func(t *testing.T) {
						steady(t)
						law.holds(t, c, makeSource(t, f))
					})
				}
			}
		})
	}
}

// law is one promise, tested on a fresh source.
type law struct {
	name    string
	reading bool // of one reader: tried on each that the format has
	holds   func(t *testing.T, c Case, s source)
}

// probeLaws are the promises of every format.
var probeLaws = []law{
	{"probe", false, probe},
	{"outside", false, outside},
}

var laws = []law{
	{"records", true, records},
	{"order", true, order},
	{"close", true, closing},
	{"trip", false, trip},
	{"text", false, text},
	{"there and back", false, thereAndBack},
	{"secrets", false, secrets},
	{"cancel", true, cancelled},
	{"abandoned", false, abandoned},
	{"truncated", true, truncated},
}

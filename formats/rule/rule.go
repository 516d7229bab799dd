package rule

import (
	"fmt"
	"slices"
	"strings"
)

// Severity says how bad a breach is, mildest first.
type Severity uint8

const (
	// Note: worth knowing, nothing is wrong.
	Note Severity = iota
	// Warning: something is lost or will surprise, the client goes on.
	Warning
	// Error: the store is not whole, or its client would refuse it.
	Error
)

var severities = [...]string{"note", "warning", "error"}

func (s Severity) String() string { return severities[s] }

// MarshalText spells a severity as users write it.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what users write.
func (s *Severity) UnmarshalText(b []byte) error {
	for i, name := range severities {
		if name == string(b) {
			*s = Severity(i)
			return nil
		}
	}
	return fmt.Errorf("no severity is named %q: they are %s", b, strings.Join(severities[:], ", "))
}

// Layer is a kind of question, asked together or not at all.
type Layer uint8

const (
	Container  Layer = 1 << iota // the file as a file: pages, lines, encodings
	Schema                       // the shape of tables and records
	References                   // what names what, and whether it is there
	Meaning                      // what the real client would do with it
	Secrets                      // credentials in the content
)

// Layers is a set of them.
type Layers = Layer

var layerNames = [...]string{"container", "schema", "references", "meaning", "secrets"}

// LayerNames lists the layers in the order of the first digit of their ids.
func LayerNames() []string { return slices.Clone(layerNames[:]) }

// ParseLayer reads the name of one layer.
func ParseLayer(name string) (Layer, error) {
	if i := slices.Index(layerNames[:], name); i >= 0 {
		return 1 << i, nil
	}
	return 0, fmt.Errorf("no layer is named %q: they are %s", name, strings.Join(layerNames[:], ", "))
}

// String is the layer's name, or the names of a set.
func (l Layer) String() string {
	var out []string
	for i, name := range layerNames {
		if l&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return strings.Join(out, ",")
}

// Has reports whether a set holds a layer.
func (l Layer) Has(one Layer) bool { return l&one != 0 }

// Rule is one question, with all that is to be said of it.
type Rule struct {
	ID       string
	Severity Severity
	Layer    Layer
	Formats  []string // names of formats it is asked of; "*" alone: all
	Title    string   // what is wrong where it is broken, in one line
	Why      string   // why that matters
	Mend     string   // what to do about it
}

// For reports whether a rule is asked of a format.
func (r *Rule) For(format string) bool {
	return slices.Contains(r.Formats, "*") || slices.Contains(r.Formats, format)
}

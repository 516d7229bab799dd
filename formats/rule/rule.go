package rule

import (
	"fmt"
	"slices"
	"strings"
)

// Severity is how bad a finding is; Note is the lowest.
type Severity uint8

const (
	// Note is worth knowing, but needs no action.
	Note Severity = iota
	// Warning means that something is lost or behaves unexpectedly, but the client continues.
	Warning
	// Error means that the store is damaged, or that its client rejects it or loses part of it.
	Error
)

var severities = [...]string{"note", "warning", "error"}

func (s Severity) String() string { return severities[s] }

// MarshalText returns the name of a severity.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses the name of a severity.
func (s *Severity) UnmarshalText(b []byte) error {
	for i, name := range severities {
		if name == string(b) {
			*s = Severity(i)
			return nil
		}
	}
	return fmt.Errorf("unknown severity %q; use one of %s", b, strings.Join(severities[:], ", "))
}

// Layer is a group of rules that is checked together or not at all.
type Layer uint8

const (
	Container  Layer = 1 << iota // the file as a file: pages, lines, encodings
	Schema                       // the shape of tables and records
	References                   // whether references point to something
	Meaning                      // what the client would do with it
	Secrets                      // credentials in the content
)

// Layers is a set of layers.
type Layers = Layer

var layerNames = [...]string{"container", "schema", "references", "meaning", "secrets"}

// LayerNames returns the layers in the order of the first digit of their ids.
func LayerNames() []string { return slices.Clone(layerNames[:]) }

// ParseLayer parses the name of one layer.
func ParseLayer(name string) (Layer, error) {
	if i := slices.Index(layerNames[:], name); i >= 0 {
		return 1 << i, nil
	}
	return 0, fmt.Errorf("unknown layer %q; use one of %s", name, strings.Join(layerNames[:], ", "))
}

// String returns the layer's name, or the names of a set.
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

// Rule is one thing that can be wrong with a store.
type Rule struct {
	ID       string
	Severity Severity
	Layer    Layer
	Formats  []string // the formats that it applies to; "*" alone means all
	Title    string   // what is wrong, in one line
	Why      string   // what the client does about it
	Fix      string   // the next step
}

// AppliesTo reports whether a rule applies to a format, by one of its names.
func (r *Rule) AppliesTo(format ...string) bool {
	return slices.Contains(r.Formats, "*") || slices.ContainsFunc(format, func(name string) bool { return name != "" && slices.Contains(r.Formats, name) })
}

package formats

import (
	"errors"
	"slices"

	"rehome/internal/closest"
)

// Registry is an ordered, immutable list of formats. Detection probes them in
// this order, so the more specific ones come first.
type Registry struct{ list []*Format }

// NewRegistry returns a registry of formats in the order given. It panics if two
// of them have the same name.
func NewRegistry(list ...*Format) *Registry {
	for i, f := range list {
		for _, g := range list[:i] {
			if f.Name == g.Name {
				panic("formats: two formats named " + f.Name)
			}
		}
	}
	return &Registry{slices.Clone(list)}
}

// All returns the formats in order.
func (r *Registry) All() []*Format { return slices.Clone(r.list) }

// Lookup returns the format with that name, or nil.
func (r *Registry) Lookup(name string) *Format {
	for _, f := range r.list {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Find is Lookup with an error that names the format if there is none.
func (r *Registry) Find(name string) (*Format, error) {
	if f := r.Lookup(name); f != nil {
		return f, nil
	}
	var names []string
	for _, f := range r.list {
		names = append(names, f.Name)
	}
	return nil, &Error{At: name, Err: errors.New("unknown format"), Hint: closest.Hint(name, names, "run `rehome formats` to list the supported formats")}
}

// Relatives returns the formats, except f, that f converts to exactly.
func (r *Registry) Relatives(f *Format) []*Format {
	var out []*Format
	for _, g := range r.list {
		if g != f && g.Records != nil && Related(f, g) {
			out = append(out, g)
		}
	}
	return out
}

// Clients returns the clients of all formats, each once, in their order.
func (r *Registry) Clients() (out []string) {
	for _, f := range r.list {
		for _, c := range f.Clients {
			if !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return out
}

// Related reports whether an exact conversion from f to g exists.
func Related(f, g *Format) bool { return SharedKind(f, g) != "" }

// SharedKind returns the name of the first kind of records of f that g has, too, or
// "". An exact conversion from f to g reads f as records of this kind.
func SharedKind(f, g *Format) string {
	if f.Records == nil || g.Records == nil {
		return ""
	}
	for _, k := range f.Records.Kinds {
		if slices.ContainsFunc(g.Records.Kinds, k.Fits) {
			return k.Name
		}
	}
	return ""
}

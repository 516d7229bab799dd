package formats

import "slices"

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

// Relatives returns the formats, except f, that f converts to exactly.
func (r *Registry) Relatives(f *Format) []*Format {
	var out []*Format
	for _, g := range r.list {
		if g != f && g.Create != nil && Related(f, g) {
			out = append(out, g)
		}
	}
	return out
}

// Related reports whether two formats share a family.
func Related(f, g *Format) bool { return SharedFamily(f, g) != "" }

// SharedFamily returns the first family of f that g has, too, or "". An exact
// conversion from f to g reads f in this family.
func SharedFamily(f, g *Format) string {
	for _, s := range f.Families {
		if slices.Contains(g.Families, s) {
			return s
		}
	}
	return ""
}

package formats

import "slices"

// Registry is an ordered, immutable list of formats. Detection asks them in
// this order, so the more particular ones stand first.
type Registry struct{ list []*Format }

// NewRegistry keeps the formats in the order given. Two of one name are a
// mistake in the program.
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

// Lookup returns the format of that name, or nil.
func (r *Registry) Lookup(name string) *Format {
	for _, f := range r.list {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Relatives are the formats that can be created exactly from what f reads,
// f itself left out.
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

// SharedFamily is the first family of f that g has, too, "" if there is none. It is
// the one in which f is read to become g.
func SharedFamily(f, g *Format) string {
	for _, s := range f.Families {
		if slices.Contains(g.Families, s) {
			return s
		}
	}
	return ""
}

package walk

import (
	"slices"

	"rehome/formats"
)

// Place is where a client keeps its stores.
type Place struct {
	Path string
	Real string // its resolved path
}

// Places returns where the clients of a machine keep their stores, each once, and the
// paths of those that do not exist.
func Places(reg *formats.Registry, m formats.Machine) (found []Place, absent []string) {
	if reg == nil || m.Getenv == nil {
		return nil, nil
	}
	for _, f := range reg.All() {
		if f.Home == nil {
			continue
		}
		for _, p := range f.Home.Roots(m) {
			real, err := RealPath(p)
			switch {
			case err != nil && !slices.Contains(absent, p):
				absent = append(absent, p)
			case err == nil && !slices.ContainsFunc(found, func(o Place) bool { return o.Real == real }):
				found = append(found, Place{p, real})
			}
		}
	}
	return found, absent
}

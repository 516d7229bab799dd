package sessions

import (
	"cmp"
	"slices"
	"strconv"

	"rehome/formats"
	"rehome/formats/session"
)

// MaxCopies is how many copies of a session get ids of their own in a client.
const MaxCopies = 9999

// CopyID returns what stands for the id of a session when the id of its nth copy is made.
func CopyID(id string, n int) string {
	if n <= 1 {
		return id
	}
	return id + "#" + strconv.Itoa(n)
}

// Copy is a session that rehome made from another one.
type Copy struct{ Format, ID string }

// findOrigins sets the origin of each session that rehome made in another client by
// migrating another of the list: that which was recorded when it was made, or else the one
// that its id is derived from.
func findOrigins(reg *formats.Registry, list []Listed, recorded map[Copy]string) {
	deriveOrigins(reg, list)
	in := map[string][]string{} // the formats of each id
	for i := range list {
		in[list[i].ID] = append(in[list[i].ID], list[i].Sources[0].Format)
	}
	for i := range list {
		s := &list[i]
		of := ""
		for _, f := range reg.All() {
			if s.madeAs(reg, f) {
				of = cmp.Or(of, recorded[Copy{f.Name, s.ID}])
			}
		}
		if slices.ContainsFunc(in[of], func(format string) bool { return format != s.Sources[0].Format }) {
			s.Origin = of
		}
	}
}

// deriveOrigins is findOrigins for copies that were not recorded. It finds those whose
// earlier copies are all listed, but for the first.
func deriveOrigins(reg *formats.Registry, list []Listed) {
	for _, f := range reg.All() {
		if f.Writer == nil || f.Writer.ID == nil {
			continue
		}
		written := map[string][]int{} // by id
		for i := range list {
			if list[i].madeAs(reg, f) {
				written[list[i].ID] = append(written[list[i].ID], i)
			}
		}
		for i := range list {
			if s := &list[i]; len(written) > 0 && s.Sources[0].Format != f.Name {
				for n := 1; n <= MaxCopies; n++ {
					copies := written[f.Writer.ID(&session.Head{ID: CopyID(s.ID, n), Agent: s.Agent})]
					if len(copies) == 0 && n > 1 { // users can have deleted the first one
						break
					}
					for _, c := range copies {
						if c != i {
							list[c].Origin = s.ID
						}
					}
				}
			}
		}
	}
}

// madeAs reports whether rehome can have made a session by writing a format: its own, or one
// that its client imports.
func (s *Listed) madeAs(reg *formats.Registry, f *formats.Format) bool {
	of := reg.Lookup(s.Sources[0].Format)
	return of == f || of != nil && f.Home != nil && f.Home.Import != nil && slices.Contains(of.Clients, f.Clients[0])
}

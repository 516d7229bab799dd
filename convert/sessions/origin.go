package sessions

import (
	"strconv"

	"rehome/formats"
	"rehome/formats/session"
)

// maxCopies is how many copies of a session, as migrate --again makes them, are
// recognized by their ids.
const maxCopies = 9

// findOrigins sets the origin of each session that rehome made in another client
// by migrating another of the list: its id is derived from that of its origin.
func findOrigins(reg *formats.Registry, list []Listed) {
	for _, f := range reg.All() {
		if f.Writer == nil || f.Writer.ID == nil {
			continue
		}
		written := map[string][]int{} // by id
		for i := range list {
			if list[i].Sources[0].Format == f.Name {
				written[list[i].ID] = append(written[list[i].ID], i)
			}
		}
		for i := range list {
			if s := &list[i]; len(written) > 0 && s.Sources[0].Format != f.Name {
				for n := 1; n <= maxCopies; n++ {
					copies := written[writtenID(f, s, n)]
					if len(copies) == 0 && n > 1 { // users can have deleted the first one
						break
					}
					for _, c := range copies {
						list[c].Origin = s.ID
					}
				}
			}
		}
	}
}

// writtenID returns the id of the nth copy of a session in a format.
func writtenID(f *formats.Format, s *Listed, n int) string {
	head := session.Head{ID: s.ID, Agent: s.Agent}
	if n > 1 {
		head.ID += "#" + strconv.Itoa(n)
	}
	return f.Writer.ID(&head)
}

package formatstest

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/session"
)

// selection: of any subset of ids, exactly these sessions are decoded, as they are
// when all are. Unknown ids yield nothing. A file that is named after another session
// is not read.
func selection(t *testing.T, c Case, s source) {
	whole := mustDecode(t, c, s.path, formats.View{}, session.Selection{})
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 8 {
		var ids []string
		for i, h := range whole.heads {
			if n%2 == 0 && h.Parent != nil {
				continue // it may be inside of any file
			}
			if n < 4 && i%4 == n || n >= 4 && r.IntN(2) == 0 {
				ids = append(ids, h.ID)
			}
		}
		path := s.path
		if n%2 == 0 && len(ids) > 0 {
			path = spoilOthers(t, c, s, whole, ids)
		} else {
			ids = append(ids, "unknown")
		}
		r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		sel := session.Selection{IDs: ids}
		if sel.Sorted = n%3 == 0; sel.Sorted {
			slices.Sort(ids)
		}
		before := bytesRead()
		got := mustDecode(t, c, path, formats.View{Jobs: n % 3}, sel)
		if n := bytesRead() - before; n > maxLook {
			t.Errorf("of %q: %d bytes were read, of unrelated sessions, too", ids, n)
		}
		if d := rowDifference(whole.of(ids), got.of(ids)); d != "" {
			t.Errorf("of %q: %s", ids, d)
		}
		if stray := slices.IndexFunc(got.heads, func(h session.Head) bool { return !slices.Contains(ids, h.ID) }); stray >= 0 {
			t.Errorf("of %q: %q", ids, got.heads[stray].ID)
		}
		if !got.account.Balanced() || got.account.Read > whole.account.Read {
			t.Errorf("of %q: account %+v, of all %+v", ids, got.account, whole.account)
		}
	}
}

// of returns the lines of some sessions, sorted by their ids; of all for nil.
func (t *talk) of(ids []string) (out []string) {
	if ids == nil {
		for _, h := range t.heads {
			ids = append(ids, h.ID)
		}
	}
	ids = slices.Sorted(slices.Values(ids))
	for _, id := range ids {
		for i, h := range t.heads {
			if h.ID == id {
				out = append(out, t.sessions[i]...)
			}
		}
	}
	return out
}

// spoilOthers returns a copy of a source in which the files of unrelated sessions
// are long and not valid, so that reading one is noticed. Text for any client is not stored by session.
func spoilOthers(t *testing.T, c Case, s source, whole *talk, ids []string) string {
	t.Helper()
	path := copied(t, s)
	if info, err := os.Stat(path); err != nil || !info.IsDir() || len(c.Format.Clients) == 0 {
		return path
	}
	wanted := strings.Join(whole.of(ids), "\n")
	for name := range tree(t, path) {
		for i, h := range whole.heads {
			theirs := strings.Join(whole.sessions[i], "\n")
			related := strings.Contains(wanted, h.ID) || slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(theirs, id) })
			if related || !isNamedAfter(name, h.ID) {
				continue
			}
			hole(t, filepath.Join(path, filepath.FromSlash(name)), "{", 2*maxLook)
		}
	}
	return path
}

// isNamedAfter reports whether a file, or a folder that it is in, is named after a
// session.
func isNamedAfter(name, id string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(s string) bool {
		s = strings.TrimSuffix(s, filepath.Ext(s))
		return s == id || strings.HasSuffix(s, "-"+id)
	})
}

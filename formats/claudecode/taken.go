package claudecode

import "rehome/formats/internal/rawjson"

// taken is an object taken apart in one pass. Of two members of one name the
// last counts.
type taken struct{ names, values [][]byte }

func (t *taken) split(b []byte) {
	t.names, t.values = t.names[:0], t.values[:0]
	for n, v := range rawjson.Members(b) {
		t.names, t.values = append(t.names, n), append(t.values, v)
	}
}

// raw is a member's value, nil if it is not there.
func (t *taken) raw(name string) []byte {
	for i := len(t.names) - 1; i >= 0; i-- {
		if string(t.names[i]) == name {
			return t.values[i]
		}
	}
	return nil
}

func (t *taken) text(name string) string { return rawjson.Text(t.raw(name)) }

// only reports that it has no other members than these, each at most once.
func (t *taken) only(names ...string) bool {
	seen := 0
next:
	for _, name := range t.names {
		for i, n := range names {
			if string(name) == n {
				if seen&(1<<i) != 0 {
					return false
				}
				seen |= 1 << i
				continue next
			}
		}
		return false
	}
	return true
}

// says reports a text that is not blank. Most show it in their first letter.
func says(raw []byte) bool {
	if len(raw) < 2 || raw[0] != '"' {
		return false
	}
	if c := raw[1]; c > ' ' && c < 0x7f && c != '"' && c != '\\' {
		return true
	}
	return !blank(rawjson.Text(raw))
}

package cursoride

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"rehome/formats/internal/members"
	"rehome/formats/internal/rawjson"
	"rehome/formats/internal/secret"
	"rehome/formats/session"
)

// What a table of names says of a member beside the place it has in fields.
const (
	unclaimed = -1 // not known, or of no use here: an Extra
	idle      = -2 // known to be empty most often, and to mean nothing then
)

// mostFields is how many members a table can claim.
const mostFields = 72

// fields are an object taken apart by a table of names. A member that nobody
// claims is an Extra, and so is one of two with the same name that is outdone,
// or one of another type than was asked for: nothing is forgotten. Objects here
// have up to a hundred members, most of them empty.
type fields struct {
	table  *table
	path   string
	found  [mostFields][]byte
	extras []session.Extra
	seen   int64
}

// table gives the names that are claimed their places.
type table struct {
	own   bool // in such a record nobody says anything: what is named like a credential is one
	at    map[string]int
	names [mostFields]string
}

// newTable gives each name its index; "" is none.
func newTable(claimed []string, idlers ...string) *table {
	t := &table{at: make(map[string]int, len(claimed)+len(idlers))}
	for _, n := range idlers {
		t.at[n] = idle
	}
	for i, n := range claimed {
		t.names[i] = n
		if n != "" {
			t.at[n] = i
		}
	}
	return t
}

func (t *table) index(name []byte) int {
	if i, ok := t.at[string(name)]; ok {
		return i
	}
	return unclaimed
}

// split takes an object apart; false if it is none. What is found is a view.
func (f *fields) split(b []byte, path string, t *table) bool {
	f.table, f.path, f.extras, f.seen = t, path, nil, 0
	clear(f.found[:])
	if b = bytes.TrimLeft(b, " \t\r\n"); len(b) == 0 || b[0] != '{' {
		return false
	}
	for name, value := range rawjson.Members(b) {
		f.seen++
		i := t.index(name)
		switch {
		case i == idle && hollow(value):
		case i < 0:
			f.keepAs(string(name), value)
		default:
			if f.found[i] != nil {
				f.keepAs(t.names[i], f.found[i])
			}
			f.found[i] = value
		}
	}
	return true
}

// hollow reports a value that says nothing.
func hollow(v []byte) bool {
	switch string(v) {
	case "[]", "{}", `""`, "null", "false", "0":
		return true
	}
	return false
}

// raw is a member's value, nil if it is absent or null.
func (f *fields) raw(i int) []byte {
	if string(f.found[i]) == "null" {
		return nil
	}
	return f.found[i]
}

// full is a member's value, nil if it says nothing.
func (f *fields) full(i int) []byte {
	if v := f.found[i]; v != nil && !hollow(v) {
		return v
	}
	return nil
}

// text is a member that is a string.
func (f *fields) text(i int) string {
	raw := f.raw(i)
	if len(raw) == 0 || raw[0] == '"' {
		return rawjson.Text(raw)
	}
	f.keep(i)
	return ""
}

// whole is a member that is a whole number.
func (f *fields) whole(i int) (int64, bool) {
	raw := f.raw(i)
	if raw == nil {
		return 0, false
	}
	if n, ok := whole(raw); ok {
		return n, true
	}
	f.keep(i)
	return 0, false
}

func whole(raw []byte) (int64, bool) {
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, true
	}
	if x, err := strconv.ParseFloat(string(raw), 64); err == nil && x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return int64(x), true
	}
	return 0, false
}

// flag is a member that is true or false.
func (f *fields) flag(i int) bool {
	switch string(f.raw(i)) {
	case "", "false":
	case "true":
		return true
	default:
		f.keep(i)
	}
	return false
}

// stamp is a moment: milliseconds, or ISO 8601 text.
func (f *fields) stamp(i int) session.Stamp {
	s, exact := moment(f.raw(i))
	if !exact {
		f.keep(i)
	}
	return s
}

// moment reads a moment, and reports whether that is all the value says.
func moment(raw []byte) (s session.Stamp, exact bool) {
	switch {
	case len(raw) == 0 || hollow(raw):
		return s, true
	case raw[0] == '"':
		text := rawjson.Text(raw)
		if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
			return session.Stored(t.UnixMilli()), t.Nanosecond()%1e6 == 0
		}
		if ms, err := strconv.ParseInt(text, 10, 64); err == nil && epoch(float64(ms)) {
			return session.Stored(ms), true
		}
		return s, false
	}
	x, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || !epoch(x) {
		return s, false
	}
	return session.Stored(int64(math.Floor(x))), x == math.Floor(x)
}

// epoch tells milliseconds since 1970 from those of a clock that began with
// the window: both occur in one member.
func epoch(ms float64) bool { return ms >= 1e11 && ms < 1e14 }

// keep makes an Extra of a member that was claimed.
func (f *fields) keep(i int) {
	if f.raw(i) != nil {
		f.keepAs(f.table.names[i], f.found[i])
		f.found[i] = nil
	}
}

// keepFull makes an Extra of a member unless it says nothing.
func (f *fields) keepFull(list ...int) {
	for _, i := range list {
		if f.full(i) != nil {
			f.keep(i)
		}
	}
}

func (f *fields) keepAs(name string, value []byte) {
	if f.table.own && secret.Credential(name, value) {
		return
	}
	if raw := members.Bare(name, value); raw != nil {
		f.extras = append(f.extras, session.Extra{Name: f.path + name, Raw: raw})
	}
}

// settle enters the members into an account and gives the extras away.
func (f *fields) settle(t *session.Account) []session.Extra {
	f.seen = max(f.seen, int64(len(f.extras))) // a member's pieces can be kept apart
	t.Members += f.seen
	t.MembersRaw += int64(len(f.extras))
	t.MembersConverted += f.seen - int64(len(f.extras))
	f.seen = 0
	return f.extras
}

// kept reports whether an unclaimed member was there and is kept.
func (f *fields) kept(name string) bool {
	for _, e := range f.extras {
		if e.Name == f.path+name {
			return true
		}
	}
	return false
}

package sqlitefile

import (
	"bytes"
	"errors"
	"fmt"

	"rehome/formats"
	"rehome/formats/internal/sqlitepages"
)

// Damage is why a file is no database that can be read at all.
type Damage struct {
	Kind DamageKind
	Err  error // a *formats.Error that names the file
}

func (d *Damage) Error() string { return d.Err.Error() }
func (d *Damage) Unwrap() error { return d.Err }

// DamageKind is what is wrong with it.
type DamageKind uint8

// The kinds.
const (
	NoDatabase DamageKind = iota // other bytes, or encrypted ones
	NoBytes                      // a file of zero bytes
	CutShort                     // shorter than its header says
	NoHeader                     // a header that SQLite refuses
	BadSchema                    // sqlite_schema cannot be read
)

// damaged reports whether an error is the file's: pages or a schema that
// SQLite calls malformed.
func damaged(err error) bool {
	if d := (*Damage)(nil); errors.As(err, &d) {
		return true
	}
	if errors.Is(err, errOrder) {
		return true
	}
	n := code(err)
	return n == codeCorrupt || n == codeNotDB
}

// judge says what is wrong with a file that SQLite would only call "not a
// database" or "malformed".
func judge(path string, head []byte, st state) *Damage {
	fail := func(kind DamageKind, hint, format string, args ...any) *Damage {
		return &Damage{kind, &formats.Error{At: path, Err: fmt.Errorf(format, args...), Hint: hint}}
	}
	size := st.db.size
	switch {
	case size == 0 && st.wal.size > 0:
		return nil // all there is still lies in the log
	case size == 0:
		return fail(NoBytes, "restore it from a backup, or delete it if it never held anything", "the file has zero bytes")
	case IsDatabase(head):
	case looksEncrypted(head, size):
		return fail(NoDatabase, "export it with the program that has its key", "no SQLite header and random-looking bytes: probably an encrypted database")
	case len(head) < len(magic) && bytes.HasPrefix([]byte(magic), head):
		return fail(CutShort, "copy it again from an intact original", "truncated: the file has only %d bytes", size)
	default:
		return fail(NoDatabase, "check that the path names the database itself", "not a SQLite database (no SQLite header)")
	}
	if len(head) < sqlitepages.HeaderBytes {
		return fail(CutShort, "copy it again from an intact original", "truncated: the file has only %d bytes", size)
	}
	h := sqlitepages.Header(head)
	if st.hot() || !h.Sane() {
		return nil // the log may hold what the file lacks; and no file is short by a measure that is none
	}
	page := int64(h.Page())
	if n, ok := h.Pages(); ok && int64(n)*page > size {
		return fail(CutShort, "copy it again from an intact original", "truncated: the header declares %d pages of %d bytes, but the file has %d bytes", n, page, size)
	}
	return nil
}

// looksEncrypted tells cipher text from other things: whole sectors, and bytes
// as evenly spread as chance would have them (a chi-square test).
func looksEncrypted(head []byte, size int64) bool {
	if size%512 != 0 || len(head) < 512 {
		return false
	}
	for _, m := range []string{"\x1f\x8b", "\x28\xb5\x2f\xfd", "PK\x03\x04", "\x89PNG", "\xff\xd8\xff"} {
		if bytes.HasPrefix(head, []byte(m)) {
			return false
		}
	}
	var count [256]float64
	for _, c := range head {
		count[c]++
	}
	expect, chi := float64(len(head))/256, 0.0
	for _, n := range count {
		chi += (n - expect) * (n - expect) / expect
	}
	return chi < 400 // 255 ± 23 for random bytes
}

package sessions

import (
	"testing"
	"unicode/utf8"

	"rehome/formats/session"
)

// TestShortIDCharacters: an id of the user's own is cut between characters, and Find
// accepts what is left.
func TestShortIDCharacters(t *testing.T) {
	ids := []string{"größenänderung-im-dokument", "größenänderung-am-dokument", "日本語のセッション識別子", "5d0b2b7e-1111-4000-8000-000000000000", "ööööü"}
	l := &Listing{}
	for _, id := range ids {
		l.Sessions = append(l.Sessions, Listed{Head: session.Head{ID: id}})
	}
	l.countPrefixes()
	for _, id := range ids {
		short := l.ShortID(id)
		if found := l.Find(short); !utf8.ValidString(short) || len(found) != 1 || found[0].ID != id {
			t.Errorf("%s: %q finds %v", id, short, found)
		}
	}
	if got := l.ShortID(ids[2]); got != "日本語" {
		t.Errorf("%q", got)
	}
}

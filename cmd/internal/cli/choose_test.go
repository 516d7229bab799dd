package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"rehome/cmd/internal/console"
	"rehome/convert/sessions"
	"rehome/formats/session"
)

// TestChooseCopies: copies that rehome made are below their originals, where the newest
// of them would be, and look like it.
func TestChooseCopies(t *testing.T) {
	t.Chdir(t.TempDir())
	one := func(id, origin, folder string) sessions.Listed {
		return sessions.Listed{Head: session.Head{ID: id, Title: "Title of " + id, Workspace: folder}, Origin: origin}
	}
	ch := &chooser{App: &console.App{Now: time.Now, Out: console.NewOutput(io.Discard, io.Discard, func(string) string { return "" },
		console.OutputFlags{})}}
	ch.arrange([]sessions.Listed{one("copy", "old", "/b"), one("new", "", "/a"), one("copy2", "copy", "/b"), one("old", "", "/b"),
		one("lost", "gone", "/a")})
	var got []string
	for i, s := range ch.rows {
		line := string(ch.line(i, 40, false))
		got = append(got, fmt.Sprint(s.ID, strings.HasPrefix(line, "  → Title")))
	}
	if want := []string{"oldfalse", "copytrue", "copy2true", "newfalse", "lostfalse"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

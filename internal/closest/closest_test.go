package closest

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	names := []string{"archive", "canonical", "claude-code", "cursor-chat", "cursor-ndjson", "ls", "show", "RH303", "RH304", "--client", "--json"}
	for word, want := range map[string]string{
		"archive": "archive", "ARCHIVE": "archive", "archve": "archive", "achrive": "archive", "arch": "archive", "archives": "archive",
		"claude": "claude-code", "chat": "cursor-chat", "ndjson": "cursor-ndjson", "shwo": "show", "sl": "ls", "l": "ls",
		"rh303": "RH303", "RH30": "RH303", "--clint": "--client", "--jsno": "--json",
		"cusror": "cursor-chat", "cladue": "claude-code", "": "", "markdown": "", "x": "", "q": "", strings.Repeat("archive", 100000): "",
	} {
		if got := Of(word, names); got != want {
			t.Errorf("%.20q: %q, want %q", word, got, want)
		}
	}
	if got := Hint("archve", names, "see the list"); got != "did you mean archive?" {
		t.Error(got)
	}
	if got := Hint("markdown", names, "see the list"); got != "see the list" {
		t.Error(got)
	}
}

package claude

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestKeyPath(t *testing.T) {
	cases := []struct {
		key  key
		path string // "" = refused
	}{
		{key{"-home-ann-app", "20000000-0000-4000-8000-000000000001", ""}, "-home-ann-app/20000000-0000-4000-8000-000000000001"},
		{key{"p", "s", "subagents/agent-a1"}, "p/s/subagents/agent-a1"},
		{key{"tenant/42", "s", ""}, "tenant%2F42/s"},
		{key{"..", "../../etc", "../x/./"}, "%2E%2E/%2E.%2F..%2Fetc/%2E%2E/x/%2E/%"},
		{key{"", "a\x00\n\x1b[31m", ""}, "%/a%00%0A%1B%5B31m"},
		{key{"100%", "%41", "é\\:*"}, "100%25/%2541/%C3%A9%5C%3A%2A"},
		{key{strings.Repeat("x", maxName+1), "s", ""}, ""},
		{key{"p", "s", strings.Repeat("a/", maxDepth)}, ""},
	}
	for _, c := range cases {
		got, err := c.key.path()
		if got != c.path || (err == nil) == (c.path == "") {
			t.Errorf("%v: path %q, %v; want %q", c.key, got, err, c.path)
		}
		if err == nil && (!filepath.IsLocal(got) || keyOf(got) != c.key) {
			t.Errorf("%v: %q is read as %v", c.key, got, keyOf(got))
		}
	}
	if got := keyOf("p/100%/50%zz"); got != (key{"p", "100%", "50%zz"}) {
		t.Errorf("names that are not escaped: %v", got)
	}
}

// TestPasswords: what a server or a driver says is shown as one line without passwords.
func TestPasswords(t *testing.T) {
	s, err := New("claude+postgres://ann:p%40ss@h/db?sslpassword=k3y")
	if err != nil {
		t.Fatal(err)
	}
	err = s.fail(errors.New("login p@ss failed\nlogin p%40ss failed\nkey k3y\x1b[2J"))
	if got, want := err.Error(), s.Name()+": login xxxxx failed login xxxxx failed key xxxxx [2J"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

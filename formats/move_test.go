package formats

import "testing"

func TestMovedPath(t *testing.T) {
	for _, c := range []struct{ old, new, path, want string }{
		{"/a/b", "/c", "/a/b", "/c"},
		{"/a/b", "/c", "/a/b/", "/c"},
		{"/a/b", "/c", "/a/b/d e/é", "/c/d e/é"},
		{"/a/b", "/c", "/a/b-2", ""},
		{"/a/b", "/c", "/a", ""},
		{"/a/b", "/c", "/a/b/../d", ""},
		{"/a/b", "/c", "/a/b/..", ""},
		{"/a/b", "/c", "/a/b/..d", "/c/..d"},
		{"/a/b", "/c", "b", ""},
		{"/a", "/a/b", "/a/d", "/a/b/d"},
		{"/a", "/a/b", "/a/b/d", ""}, // it is there already
		{"/a/b", "/a", "/a/b/d", "/a/d"},
		{"/App", "/app", "/App/x", "/app/x"},
		{`C:\a`, `D:\b`, `C:\a\x`, `D:\b\x`},
	} {
		mv := Moved{Old: []string{c.old}, New: c.new}
		got, ok := mv.Path(c.path)
		if !ok {
			got = ""
		}
		if got != c.want {
			t.Errorf("%s to %s: %s is %q, want %q", c.old, c.new, c.path, got, c.want)
		}
	}
}

// TestNamed: what is in NEW already is not found by the name of a folder inside either.
func TestNamed(t *testing.T) {
	mv := Moved{Old: []string{"/a"}, New: "/a/b", Inside: []string{"b", "c"}}
	for _, c := range []struct{ old, want string }{{"/a", "/a/b"}, {"/a/", "/a/b"}, {"/a/c", "/a/b/c"}, {"/a/b", ""}, {"/a/d", ""}} {
		if got := mv.Named(func(old string) bool { return old == c.old }); got != c.want {
			t.Errorf("%s is %q, want %q", c.old, got, c.want)
		}
	}
}

package formats

import "testing"

func TestMovedPath(t *testing.T) {
	for _, c := range []struct{ old, new, path, want string }{
		{"/a/b", "/c", "/a/b", "/c"},
		{"/a/b", "/c", "/a/b/", "/c"},
		{"/a/b", "/c", "/a/b/d e/é", "/c/d e/é"},
		{"/a/b", "/c", "/a/b-2", ""},
		{"/a/b", "/c", "/a", ""},
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

package cursoride

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rehome/formats"
	"rehome/formats/cursoride/internal/lists"
	"rehome/formats/session"
)

func TestHome(t *testing.T) {
	env := map[string]string{}
	getenv := func(name string) string { return env[name] }
	for _, c := range []struct {
		os, set, to string
		want        []string
	}{
		{"darwin", "XDG_CONFIG_HOME", "/x", []string{"/u/Library/Application Support"}},
		{"windows", "APPDATA", "/a", []string{"/a"}},
		{"windows", "", "", []string{"/u/AppData/Roaming"}},
		{"linux", "", "", []string{"/u/.config"}},
		{"linux", "XDG_CONFIG_HOME", "/u/.config/", []string{"/u/.config"}},
		{"freebsd", "XDG_CONFIG_HOME", "/x", []string{"/u/.config", "/x"}},
	} {
		clear(env)
		env[c.set] = c.to
		var want []string
		for _, base := range c.want {
			want = append(want, filepath.Join(filepath.FromSlash(base), "Cursor", "User"))
		}
		if got := home(formats.Machine{OS: c.os, Home: "/u", Getenv: getenv}); !slices.Equal(got, want) {
			t.Errorf("%s with %s=%s: %q, want %q", c.os, c.set, c.to, got, want)
		}
	}
}

// TestCopies: copies that the client makes of its databases are read where they
// are named, and nowhere else.
func TestCopies(t *testing.T) {
	dir := build(t, chatSQL(`'{"type":1,"text":"hello"}'`))
	b, err := os.ReadFile(filepath.Join(dir, lists.GlobalDB))
	if err != nil {
		t.Fatal(err)
	}
	apart := filepath.Join(t.TempDir(), "apart")
	for _, name := range []string{"state.vscdb.backup", "state.vscdb.corrupted.1750000000000", "state.vscdb.corrupted"} {
		for _, at := range []string{filepath.Join(dir, "globalStorage", name), filepath.Join(apart, name)} {
			if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if !copied(name) {
			t.Errorf("%s is no copy", name)
		}
		if out := decodeAt(t, filepath.Join(apart, name), session.Selection{}); len(out.heads) != 1 || !out.has("hello") {
			t.Errorf("%s: %s", name, out.ledger())
		}
	}
	if out := decodeAt(t, dir, session.Selection{}); len(out.heads) != 1 {
		t.Errorf("%s", out.ledger())
	}
	for _, name := range []string{"state.vscdb", "state.vscdb.options.json", "state.vscdb-wal", "my.backup"} {
		if copied(name) {
			t.Errorf("%s is a copy", name)
		}
	}
}

package cursoride

import (
	"path/filepath"
	"slices"
	"testing"

	"rehome/formats"
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

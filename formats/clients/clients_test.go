package clients

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
)

// TestTable: every section of the table says where its stores are on every system,
// what a session is, and which patterns are valid.
func TestTable(t *testing.T) {
	env := map[string]string{"PI_CODING_AGENT_SESSION_DIR": "/var/pi"}
	for _, c := range All() {
		for _, system := range []string{"linux", "darwin", "windows", "freebsd"} {
			m := formats.Machine{OS: system, Home: "/home/ann", Getenv: func(name string) string { return env[name] }}
			roots := c.Roots(m, []string{"/home/ann/app"})
			if len(roots) == 0 && c.Name != "warp" {
				t.Errorf("%s: no home on %s", c.Name, system)
			}
			for _, r := range roots {
				if strings.ContainsAny(r, "${}~,") || !filepath.IsAbs(r) {
					t.Errorf("%s: %s", c.Name, r)
				}
			}
		}
		if c.Name == "" || c.Title == "" || len(c.Keep)+len(c.Databases) == 0 || len(c.session) == 0 && c.Rows == "" || c.Rows != "" && len(c.Databases) == 0 {
			t.Errorf("%+v", c)
		}
		if c.Rows == "" && (len(c.SecretTables) > 0 || len(c.SecretColumns) > 0) {
			t.Errorf("%s: secrets of no database", c.Name)
		}
		for _, p := range slices.Concat(c.Keep, c.Beside, c.skip, c.session, c.Databases, c.SecretFiles) {
			if _, err := filepath.Match(p, "x"); err != nil || strings.HasPrefix(p, "/") || strings.Contains(p, "..") {
				t.Errorf("%s: pattern %s: %v", c.Name, p, err)
			}
		}
		for _, p := range c.SecretFiles {
			if matches(p, c.Databases...) {
				t.Errorf("%s: %s is secret and kept", c.Name, p)
			}
		}
	}
	m := formats.Machine{OS: "linux", Home: "/home/ann", Getenv: func(name string) string {
		return map[string]string{"COPILOT_HOME": "/copilot", "XDG_DATA_HOME": "relative"}[name]
	}}
	if got := Lookup("copilot").Roots(m, nil); !slices.Equal(got, []string{"/copilot"}) {
		t.Errorf("COPILOT_HOME: %q", got)
	}
	if got := Lookup("opencode").Roots(m, nil); len(got) != 0 {
		t.Errorf("a relative XDG_DATA_HOME: %q", got)
	}
	if got := Lookup("cline").Roots(m, nil); !slices.Contains(got, "/home/ann/.config/Code - Insiders/User/globalStorage/saoudrizwan.claude-dev") {
		t.Errorf("%q", got)
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		path, pattern  string
		match, leadsTo bool
	}{
		{"a/b.jsonl", "a/*.jsonl", true, false},
		{"a/b/c.jsonl", "a/*.jsonl", false, false},
		{"a", "a/*.jsonl", false, true},
		{"a/b", "a/**/*.jsonl", false, true},
		{"a/b.jsonl", "a/**/*.jsonl", true, true},
		{"a/b/c/d.jsonl", "a/**/*.jsonl", true, true},
		{"b", "a/**/*.jsonl", false, false},
		{"a/x/b/y", "a/**/b/**/y", true, true},
		{"a/x/y", "a/**/b/**/y", false, true},
		{"..", "*", true, false},
	} {
		if matches(c.path, c.pattern) != c.match || leadsTo(c.path, c.pattern) != c.leadsTo {
			t.Errorf("%+v: %v %v", c, matches(c.path, c.pattern), leadsTo(c.path, c.pattern))
		}
	}
	if leadsTo("a", "a") {
		t.Error("a file is entered")
	}
	deep := strings.Repeat("a/", 2000) + "b"
	if matches(deep, "**/x/**/*.jsonl") {
		t.Error("a deep path matches")
	}
}

// TestStore: links, pipes and secrets are named, not followed and not kept; a log
// belongs to its database.
func TestStore(t *testing.T) {
	root := t.TempDir()
	write := func(rel, text string) {
		at := filepath.Join(root, filepath.FromSlash(rel))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("session-state/a/events.jsonl", "{}")
	write("session-state/a/inuse.1.lock", "")
	write("session-state/a/session.db", "x")
	write("session-state/a/session.db-wal", "x")
	write("session-state/b/session.db", "")
	write("config.json", "secret")
	write("logs/x.log", "x")
	c := Lookup("copilot")
	got, err := c.Store(t.Context(), root)
	if err != nil || !slices.Equal(got.Files, []string{"session-state/a/events.jsonl"}) ||
		!slices.Equal(got.Databases, []string{"session-state/a/session.db"}) || !slices.Equal(got.LeftOut, []string{"config.json"}) {
		t.Errorf("%+v, %v", got, err)
	}
	if n := c.count(t.Context(), root); n != 1 {
		t.Errorf("%d sessions", n)
	}
	if got, err := c.Store(t.Context(), filepath.Join(root, "absent")); err != nil || len(got.Files)+len(got.Databases) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := c.Store(stopped, root); err == nil {
		t.Error("not stopped")
	}
}

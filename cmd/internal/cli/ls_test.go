package cli

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rehome/cmd/internal/clitest"
	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert/sessions"
	"rehome/formats/all"
	"rehome/testdata/homes"
)

// lsOf lists a home folder as JSON.
func lsOf(t *testing.T, home string, args ...string) *lsResult {
	t.Helper()
	args = append([]string{"ls", "--json"}, args...)
	stdout, stderr, code := callWith(t, t.Context(), map[string]string{"HOME": home, "USERPROFILE": home}, args...)
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d: %s%s", code, stderr, stdout)
	}
	checkJSON(t, args, []byte(stdout))
	res := &lsResult{}
	if err := json.Unmarshal([]byte(stdout), res); err != nil {
		t.Fatal(err)
	}
	return res
}

// snapshot is every file below a folder with its size and time.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			fmt.Fprintln(&out, path, info.Size(), info.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestLsMisuse: what no session can be is refused with what there is.
func TestLsMisuse(t *testing.T) {
	home := t.TempDir()
	if err := homes.Make(home, homes.Count{Chats: 3}); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": home, "USERPROFILE": home}
	for _, c := range []struct{ flag, value, want string }{
		{"--client", "nope", "one of claude, claude-code, codex, copilot, cursor, cursor-cli, cursor-ide, cursor-sdk"},
		{"--client", "cursor-clu", "hint: did you mean cursor-cli?"},
		{"--limit", "-3", "must not be negative"},
	} {
		stdout, stderr, code := callWith(t, t.Context(), env, "ls", c.flag+"="+c.value)
		if code != 2 || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("%s %s: exit %d: %s%s", c.flag, c.value, code, stdout, stderr)
		}
	}
	for _, agent := range []string{"cursor", "cursor-cli", "claude-code"} {
		if _, stderr, code := callWith(t, t.Context(), env, "ls", "--agent", agent, "--limit=1"); code != 0 {
			t.Errorf("%s: exit %d: %s", agent, code, stderr)
		}
	}
}

// TestLsOfHome: every session that was made is listed, once, with what its
// store says of it.
func TestLsOfHome(t *testing.T) {
	home := t.TempDir()
	c := homes.Count{Chats: 120, Old: 40, Subagents: 10, Agents: 45, Empty: 7}
	if err := homes.Make(home, c); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, home)
	res := lsOf(t, home)
	if after := snapshot(t, home); after != before {
		t.Error("something was left in the home folder, or changed")
	}
	seen := map[string]lsSession{}
	var enter func(list []lsSession, parent string)
	enter = func(list []lsSession, parent string) {
		for _, s := range list {
			if _, twice := seen[s.ID]; twice {
				t.Errorf("%s is listed twice", s.ID)
			}
			if s.Parent != parent {
				t.Errorf("%s: parent %q, under %q", s.ID, s.Parent, parent)
			}
			seen[s.ID] = s
			enter(s.Children, s.ID)
		}
	}
	enter(res.Sessions, "")
	if len(res.Unread) > 0 || res.Hidden != (lsHidden{Empty: c.Empty}) {
		t.Errorf("unread %+v, hidden %+v", res.Unread, res.Hidden)
	}
	talked := c.Chats + c.Old + c.Subagents
	for n := range talked + c.Empty + c.Agents {
		id, agent, project := homes.ID(n), "cursor-cli", n%40
		if n >= talked && n < talked+c.Empty {
			continue
		}
		if n >= talked+c.Empty {
			id, agent, project = "agent-"+id, "cursor-sdk", -1
		}
		s, ok := seen[id]
		if !ok {
			t.Errorf("session %d is not listed", n)
			continue
		}
		delete(seen, id)
		if sdk := agent == "cursor-sdk"; sdk != (len(s.Sources) == 2) || sdk &&
			(s.Sources[0].Format != "cursor-sdk" || s.Bytes != nil || *s.Turns != int64(1+n%4)) {
			t.Errorf("session %d: sources %v, %v bytes", n, s.Sources, s.Bytes)
		}
		if s.Title != homes.Title(n) || s.Agent != agent || project >= 0 && filepath.Base(s.Project) != fmt.Sprintf("project-%02d", project) {
			t.Errorf("session %d: %+v", n, s)
		}
		if want := homes.Began().Add(time.Duration(n) * time.Minute).Format("2006-01-02T15:04:05.000Z"); s.Created != want {
			t.Errorf("session %d: created %s, want %s", n, s.Created, want)
		}
		if old := n >= c.Chats && n < c.Chats+c.Old; strings.HasPrefix(s.Updated, "~") != old {
			t.Errorf("session %d: updated %s", n, s.Updated)
		}
	}
	if len(seen) > 0 {
		t.Errorf("not made, and listed: %v", seen)
	}
	last := "9"
	for _, s := range res.Sessions {
		at := s.Updated
		if strings.HasPrefix(at, "~") {
			at = s.Created // a copied file is no newer
		}
		if at > last {
			t.Fatalf("%s comes after %s", at, last)
		}
		last = at
	}
	if n := len(lsOf(t, home, "--all").Sessions); n != len(res.Sessions)+c.Empty {
		t.Errorf("--all lists %d, want %d more than %d", n, c.Empty, len(res.Sessions))
	}
	if n := len(lsOf(t, home, "--agent", "cursor-sdk").Sessions); n != c.Agents {
		t.Errorf("%d agents of the SDK, want %d", n, c.Agents)
	}
	if n := len(lsOf(t, home, "--project", filepath.Join(home, "src", "project-39"), "--agent", "cursor-cli").Sessions); n != 4 {
		t.Errorf("%d sessions of a project, want 4", n)
	}
}

const someWorkspace = "0123456789abcdef0123456789abcdef"

// place makes a file of a chat of the CLI, or of something like it.
func place(t *testing.T, home string, n int, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(home, ".cursor", "chats", someWorkspace, homes.ID(n), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLsOfBrokenHome: whatever cannot be read is listed with its reason, and a
// chat whose client is at work is read from its log.
func TestLsOfBrokenHome(t *testing.T) {
	home := t.TempDir()
	if err := homes.Make(home, homes.Count{Chats: 1}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		place(t, home, 10, "store.db", nil):                                "zero bytes",
		place(t, home, 11, "store.db", []byte("SQLite for")):               "truncated",
		place(t, home, 12, "store.db", []byte(strings.Repeat("text", 99))): "not a SQLite database",
		place(t, home, 13, "store.db", append([]byte("SQLite format 3\x00\x10\x00\x02\x02\x00\x40\x20\x20"), make([]byte, 5000)...)): "",
	}
	place(t, home, 12, "meta.json", []byte(`{"title":"beside a broken one"}`))
	sdk := filepath.Join(home, ".cursor", "projects", "p", "sdk-agent-store", someWorkspace)
	if err := os.MkdirAll(filepath.Join(sdk, "agents"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(sdk, "index.db"), []byte("nothing"), 0o666); err != nil {
		t.Fatal(err)
	}
	want[filepath.Join(sdk, "index.db")] = "not a SQLite database"
	place(t, home, 14, "notes.txt", []byte("mine"))
	live := place(t, home, 15, "meta.json", []byte("{}"))
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(filepath.Dir(live), "store.db")))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	defer db.Close()
	for _, s := range []string{"PRAGMA journal_mode=WAL", "CREATE TABLE blobs(id TEXT PRIMARY KEY, data BLOB)", "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT)",
		`INSERT INTO meta VALUES('0','{"latestRootBlobId":"aa","name":"at work"}')`} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	res := lsOf(t, home)
	var titles []string
	for _, s := range res.Sessions {
		titles = append(titles, s.Title)
	}
	if len(titles) != 2 || titles[0] != "at work" || titles[1] != homes.Title(0) {
		t.Errorf("sessions %q", titles)
	}
	for _, u := range res.Unread {
		why, ok := want[u.Path]
		if !ok {
			why, ok = want[filepath.Join(u.Path, "store.db")]
			delete(want, filepath.Join(u.Path, "store.db"))
		}
		if !ok || !strings.Contains(u.Reason, why) {
			t.Errorf("%s: %s (%s)", u.Path, u.Reason, u.Hint)
		}
		delete(want, u.Path)
	}
	if len(want) > 0 {
		t.Errorf("dropped: %v", want)
	}
	if res.Hidden.Foreign != 1 {
		t.Errorf("hidden %+v", res.Hidden)
	}
}

// TestLsText: whatever the titles are, a line keeps to the width and holds
// nothing that a terminal would obey.
func TestLsText(t *testing.T) {
	titles := []string{
		"plain", "", "red \x1b[31m and back\x1b[0m", "line\nbreak\tand\rreturn", "right \u202e to left", strings.Repeat("long ", 2000),
		"日本語のタイトルはとても長いので切られる必要があります", "👩‍👩‍👧‍👦 family 🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉", "e\u0301\u0301\u0301 combining", "\x9b2J", "bad\xff\xfe",
	}
	home := t.TempDir()
	for i, title := range titles {
		doc, err := json.Marshal(map[string]any{"title": title, "cwd": "/w/" + title, "updatedAtMs": 1 + i, "hasConversation": true})
		if err != nil {
			t.Fatal(err)
		}
		place(t, home, i, "meta.json", doc)
		place(t, home, i, "store.db", append([]byte("SQLite format 3\x00"), make([]byte, 4080)...))
	}
	l, err := sessions.List(t.Context(), all.Registry(), sessions.Options{Paths: []string{home}})
	if err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{16, 40, 60, 80, 200} {
		for _, color := range []bool{false, true} {
			for _, height := range []int{0, 8} {
				var out strings.Builder
				res := &lsResult{listing: l, home: home, now: time.Unix(1000, 0).UTC(), width: width, height: height, long: height == 0}
				for i := range l.Sessions {
					res.Sessions = append(res.Sessions, newLsSession(&l.Sessions[i]))
				}
				if len(res.Sessions) != len(titles)-1 { // without a title the broken database is asked
					t.Fatalf("%d sessions", len(res.Sessions))
				}
				res.Text(screen.NewPage(&out, screen.Palette(color)))
				for i, line := range strings.Split(out.String(), "\n") {
					line = clitest.Bare(line)
					if strings.IndexFunc(line, screen.Invisible) >= 0 {
						t.Errorf("%d columns, line %d lets something through: %q", width, i, line)
					}
					if n := screen.Cells(screen.Safe(line)); n > max(width, 20) && !strings.HasPrefix(line, "    i") {
						t.Errorf("%d columns: line %d has %d: %s", width, i, n, line)
					}
				}
			}
		}
	}
}

// TestLsIDs: ids that only their ends tell apart are shown with both ends, which
// name a session, and whole with --long.
func TestLsIDs(t *testing.T) {
	home := t.TempDir()
	ids := []string{"10000000-0000-4000-8000-00000000000a", "10000000-0000-4000-8000-00000000000b"}
	for _, id := range ids {
		text := `{"type":"session","version":1,"id":"` + id + `","agent":"cursor-cli","title":"t"}` + "\n"
		text += `{"type":"message","id":"m","role":"user","turn":{"number":1},"parts":[{"type":"text","text":"hi"}]}` + "\n"
		if err := os.WriteFile(filepath.Join(home, id+".jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := sessions.List(t.Context(), all.Registry(), sessions.Options{Paths: []string{home}})
	if err != nil {
		t.Fatal(err)
	}
	for _, long := range []bool{false, true} {
		var out strings.Builder
		res := &lsResult{listing: l, home: home, now: time.Unix(1000, 0).UTC(), width: 80, long: long}
		for i := range l.Sessions {
			res.Sessions = append(res.Sessions, newLsSession(&l.Sessions[i]))
		}
		res.Text(screen.NewPage(&out, false))
		for _, id := range ids {
			short := id[:8] + "…" + id[32:]
			if found := l.Find(short); len(found) != 1 || found[0].ID != id || !strings.Contains(out.String(), short+"  ") ||
				strings.Contains(out.String(), "id "+id) != long {
				t.Errorf("long %v: %s, found %v\n%s", long, id, found, out.String())
			}
		}
	}
}

func TestMoment(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 4, 5, 0, time.FixedZone("", 3600))
	for text, want := range map[string]string{
		"2026-11-01":           "2026-11-01T00:00:00+01:00",
		"2026-11-01 09:30":     "2026-11-01T09:30:00+01:00",
		"2026-11-01T09:30":     "2026-11-01T09:30:00+01:00",
		"2026-11-01T09:30:00Z": "2026-11-01T09:30:00Z",
		"today":                "2026-11-20T00:00:00+01:00",
		"Yesterday":            "2026-11-19T00:00:00+01:00",
		"3 days":               "2026-11-17T15:04:05+01:00",
		"3 days ago":           "2026-11-17T15:04:05+01:00",
		"12h":                  "2026-11-20T03:04:05+01:00",
		"90m":                  "2026-11-20T13:34:05+01:00",
		"2w":                   "2026-11-06T15:04:05+01:00",
		"1 month":              "2026-10-20T15:04:05+01:00",
		"1 year":               "2025-11-20T15:04:05+01:00",
		"":                     "0001-01-01T00:00:00Z",
	} {
		if got, err := parseTime(text, now); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%q: %s, %v, want %s", text, got.Format(time.RFC3339), err, want)
		}
	}
	for _, text := range []string{"soon", "3", "days", "-3 days", "3 fortnights", "2026-13-01", "999999999999 days", "100001d"} {
		if got, err := parseTime(text, now); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
	for ago, want := range map[time.Duration]string{
		-time.Hour: "2026-11-20", 0: "now", 59 * time.Second: "now", time.Minute: "1 min", 59 * time.Minute: "59 min", time.Hour: "1 h",
		23 * time.Hour: "23 h", 24 * time.Hour: "1 day", 48 * time.Hour: "2 days", 6 * 24 * time.Hour: "6 days", 7 * 24 * time.Hour: "2026-11-13",
	} {
		if got := relativeTime(now.Add(-ago), now); got != want {
			t.Errorf("%v ago: %s, want %s", ago, got, want)
		}
	}
}

// TestLsOfNothing: where no client has a place, each place is named once, and not
// where other programs look for sessions.
func TestLsOfNothing(t *testing.T) {
	stdout, stderr, code := callWith(t, t.Context(), map[string]string{"HOME": t.TempDir()}, "ls")
	if code != 0 || stdout != "" || strings.Count(stderr, "~/.cursor/projects") != 1 || strings.Count(stderr, "~/.claude") != 1 ||
		strings.Count(stderr, "\n") != 3 {
		t.Errorf("exit %d: %s\n%s", code, stdout, stderr)
	}
}

// TestLsRows: each session has one row, copies are below their originals, and the
// sessions of the current directory come first.
func TestLsRows(t *testing.T) {
	r := &lsResult{here: "/here", Sessions: []lsSession{
		{ID: "c2", Origin: "o", Project: "/b"}, {ID: "x", Project: "/a"}, {ID: "o", Project: "/a"},
		{ID: "o", Project: "/b", Children: []lsSession{{ID: "sub"}}},
		{ID: "h", Project: "/here/sub"}, {ID: "c1", Origin: "o", Project: "/c"}, {ID: "cc", Origin: "c2", Project: "/b"},
		{ID: "gone", Origin: "unlisted"},
		{ID: "self", Origin: "self"},
	}}
	var got []string
	for _, row := range r.rows() {
		line := string(row.indent) + row.ID + row.Project
		if row.copied {
			line += "→"
		}
		for _, l := range row.heading {
			got = append(got, string(l))
		}
		got = append(got, line)
	}
	want := []string{"This folder", "h/here/sub", "", "Other folders", "o/b", "  sub", "  c2/b→", "  cc/b→", "x/a", "o/a", "  c1/c→", "gone",
		"self"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestLsTabbed: to a pipe, ls prints each session on a line of whole values.
func TestLsTabbed(t *testing.T) {
	home := t.TempDir()
	if err := homes.Make(home, homes.Count{Chats: 300, Old: 20, Subagents: 10, Agents: 5}); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := callWith(t, t.Context(), map[string]string{"HOME": home, "USERPROFILE": home, "FORCE_COLOR": "1"}, "ls")
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	if code != 0 || stderr != "" || len(lines) != 335 {
		t.Fatalf("exit %d, %d lines: %s", code, len(lines), stderr)
	}
	parents := 0
	for _, l := range lines {
		cells := strings.Split(l, "\t")
		if len(cells) != 9 || len(cells[0]) < 36 || !strings.HasPrefix(cells[2], "cursor-") || !console.Exists(cells[7]) {
			t.Fatalf("%q", cells)
		}
		if _, err := time.Parse(time.RFC3339, cells[3]); err != nil {
			t.Error(err)
		}
		if cells[8] != "" {
			parents++
		}
	}
	if parents != 10 {
		t.Errorf("%d subagents", parents)
	}
}

package cursorchat

import (
	"database/sql"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/session"
)

// key is a secret that no head may tell.
var key = strings.Repeat("5ec2e7", 10) + "5ec2"

// headsIn lists a location's heads.
func headsIn(t *testing.T, path string) ([]*session.Head, error) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []*session.Head
	for h, err := range heads(t.Context(), l, formats.View{}) {
		if err != nil {
			return out, err
		}
		out = append(out, h)
	}
	return out, nil
}

func setMeta(t *testing.T, dir, value string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(dir, storeName)))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("INSERT INTO meta VALUES('0',?)", value); err != nil {
		t.Fatal(err)
	}
}

// TestHeads: the file beside the database is enough where it has a title and
// is no subagent's; the meta row says what is missing.
func TestHeads(t *testing.T) {
	const id = "01234567-89ab-cdef-0123-456789abcdef"
	row := `{"agentId":"` + id + `","latestRootBlobId":"aa","name":"from the row","createdAt":1000,"blobEncryptionKey":"` + key + `"}`
	sub := `{"name":"sub","createdAt":"1000","latestRootBlobId":"aa","subagentInfo":{"parentAgentId":"p","toolCallId":"c","typeName":"explore"}}`
	in := session.Head{ID: id, Agent: session.CursorCLI, Turns: -1}
	for name, c := range map[string]struct {
		beside, row string
		change      func(h *session.Head)
	}{
		"file": {`{"schemaVersion":1,"createdAtMs":5,"updatedAtMs":7,"hasConversation":true,"title":"t","cwd":"/w"}`, "no row is read", func(h *session.Head) {
			h.Title, h.Workspace, h.Created, h.Updated = "t", "/w", session.Stored(5), session.Stored(7)
		}},
		"row":       {"", hex.EncodeToString([]byte(row)), func(h *session.Head) { h.Title, h.Created = "from the row", session.Stored(1000) }},
		"plain row": {"", row, func(h *session.Head) { h.Title, h.Created = "from the row", session.Stored(1000) }},
		"both": {`{"updatedAtMs":7,"cwd":"/w"}`, row, func(h *session.Head) {
			h.Title, h.Workspace, h.Created, h.Updated = "from the row", "/w", session.Stored(1000), session.Stored(7)
		}},
		"subagent": {`{"updatedAtMs":7,"title":"t","isSubagent":true}`, sub, func(h *session.Head) {
			h.Title, h.Created, h.Updated, h.Parent = "t", session.Stored(1000), session.Stored(7), &session.Link{Session: "p", Call: "c", Kind: "explore"}
		}},
		"nothing said": {`{"updatedAtMs":7,"hasConversation":false}`, "", func(h *session.Head) { h.Updated, h.Turns = session.Stored(7), 0 }},
		"no root":      {"", `{"name":"x","latestRootBlobId":""}`, func(h *session.Head) { h.Title, h.Turns = "x", 0 }},
		"broken file":  {`{"title":`, row, func(h *session.Head) { h.Title, h.Created = "from the row", session.Stored(1000) }},
		"broken row":   {"", "zz", func(h *session.Head) {}},
		"no row":       {"", "", func(h *session.Head) {}},
		"odd values":   {`{"title":5,"cwd":null,"createdAtMs":"x","updatedAtMs":-1}`, row, func(h *session.Head) { h.Title, h.Created = "from the row", session.Stored(1000) }},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), strings.Repeat("0a", 16), id)
			makeChat(t, dir)
			if c.row != "" {
				setMeta(t, dir, c.row)
			}
			if c.beside != "" {
				if err := os.WriteFile(filepath.Join(dir, besideName), []byte(c.beside), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want := in
			c.change(&want)
			info, err := os.Stat(filepath.Join(dir, storeName))
			if err != nil {
				t.Fatal(err)
			}
			want.Bytes = info.Size()
			for _, path := range []string{dir, filepath.Join(dir, storeName)} {
				got, err := headsIn(t, path)
				if err != nil || len(got) != 1 {
					t.Fatalf("%d heads, %v", len(got), err)
				}
				link := got[0].Parent
				if (link == nil) != (want.Parent == nil) || link != nil && *link != *want.Parent {
					t.Errorf("parent %+v, want %+v", link, want.Parent)
				}
				h := *got[0]
				h.Parent = want.Parent
				if h != want {
					t.Errorf("got  %+v\nwant %+v", h, want)
				}
			}
		})
	}
}

// TestHeadsElsewhere: a chat whose folder does not name it is named by its meta
// row, and one that nothing names by its place.
func TestHeadsElsewhere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "copy")
	makeChat(t, dir)
	if got, err := headsIn(t, dir); err != nil || got[0].ID != "copy" {
		t.Errorf("a chat without a name is %v, %v", got, err)
	}
	setMeta(t, dir, `{"agentId":"named","latestRootBlobId":"aa"}`)
	if got, err := headsIn(t, dir); err != nil || got[0].ID != "named" {
		t.Errorf("%v, %v", got, err)
	}
}

// TestInvented: a chat that nothing names has one id, in the list as in what is
// read, and that it was made up is noted. A folder says nothing of a file in it
// that is not named like a chat's.
func TestInvented(t *testing.T) {
	for name, c := range map[string]struct{ folder, file, row, want string }{
		"a lone file":            {"kept", "saved.db", "", "saved"},
		"a bad row":              {"kept", "saved.db", "zz", "saved"},
		"a folder":               {"kept", storeName, "", "kept"},
		"a file beside a chat's": {chatID, "other.db", "", "other"},
		"no name but an ending":  {"kept", ".db", "", ".db"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), c.folder)
			makeChat(t, dir)
			if c.row != "" {
				setMeta(t, dir, c.row)
			}
			if err := os.WriteFile(filepath.Join(dir, besideName), []byte(`{"title":"of the folder","cwd":"/w"}`), 0o644); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, c.file)
			if err := os.Rename(filepath.Join(dir, storeName), path); err != nil {
				t.Fatal(err)
			}
			got, err := headsIn(t, path)
			if err != nil || got[0].ID != c.want || (got[0].Title == "") != (c.file != storeName) {
				t.Fatalf("%v, %v", got, err)
			}
			d := decoded(t, path, session.Selection{IDs: []string{c.want}})
			if len(d.lines) == 0 || !strings.Contains(d.lines[0], `"id":"`+c.want+`"`) || !d.noted("inferred", "L822") {
				t.Errorf("%v %v", d.lines, d.notes)
			}
		})
	}
}

func TestHome(t *testing.T) {
	set := func(pairs ...string) func(string) string {
		return func(name string) string {
			if i := slices.Index(pairs, name); i >= 0 {
				return pairs[i+1]
			}
			return ""
		}
	}
	for name, c := range map[string]struct {
		m    formats.Machine
		want string
	}{
		"mac":     {formats.Machine{OS: "darwin", Home: "/u", Getenv: set("XDG_CONFIG_HOME", "/x")}, "/u/.cursor"},
		"windows": {formats.Machine{OS: "windows", Home: "/u", Getenv: set()}, "/u/.cursor"},
		"linux":   {formats.Machine{OS: "linux", Home: "/u", Getenv: set("XDG_CONFIG_HOME", "/x")}, "/x/cursor /u/.config/cursor /u/.cursor"},
		"named":   {formats.Machine{OS: "linux", Home: "/u", Getenv: set("CURSOR_CONFIG_DIR", "/c", "CURSOR_DATA_DIR", "/c")}, "/c /u/.config/cursor /u/.cursor"},
	} {
		var want []string
		for _, base := range strings.Fields(c.want) {
			want = append(want, filepath.Join(base, "chats"), filepath.Join(base, "acp-sessions"))
		}
		if got := home(c.m); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

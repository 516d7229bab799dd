package refile

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/cursoride/internal/write"
	"rehome/testdata/ide"
)

// TestTarget: if the folder was renamed, the id of its old workspace tells what the new one
// has to be called. A workspace of another folder that had the new path is not taken for it.
func TestTarget(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	user, old, now := filepath.Join(dir, "User"), filepath.Join(dir, "old"), filepath.Join(dir, "now")
	uri := func(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }
	space := func(id, path string) {
		t.Helper()
		if err := ide.Build(user, "-- file: workspaceStorage/"+id+"/workspace.json\n"+`{"folder":"`+uri(path)+`"}`); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(old, 0o700); err != nil {
		t.Fatal(err)
	}
	was := write.WorkspaceID(old)
	if err := os.Rename(old, now); err != nil {
		t.Fatal(err)
	}
	if err := ide.Build(user, `-- file: globalStorage/state.vscdb
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, value TEXT);
INSERT INTO composerHeaders VALUES ('c', '`+was+`', '{"composerId":"c"}');
INSERT INTO cursorDiskKV VALUES ('composerData:c', '{}'), ('bubbleId:c:b', '{}');`); err != nil {
		t.Fatal(err)
	}
	find := func() (is *formats.Refiled) {
		t.Helper()
		for r, err := range Find(func(formats.Machine) []string { return []string{user} })(t.Context(), formats.Machine{}, &formats.Moved{Old: []string{old}, New: now}) {
			if err != nil || is != nil {
				t.Fatal(r, err)
			}
			is = r
		}
		return is
	}
	space(was, old)
	space(strings.Repeat("f", 32), now)
	if r := find(); r == nil || !strings.Contains(r.Left, "only another folder that had this path") {
		t.Errorf("%+v", r)
	}
	space(write.WorkspaceID(now), now)
	if r := find(); r == nil || r.Left != "" || filepath.Base(r.To) != write.WorkspaceID(now) {
		t.Errorf("%+v", r)
	}
}

// TestHeadRow: a head of a list becomes a row, which is valid JSON and has one label.
func TestHeadRow(t *testing.T) {
	m := &move{id: "c", to: &target{id: "new", label: []byte(`{"id":"new"}`)}}
	for head, want := range map[string]string{
		`{"composerId":"c" }`: `0 {"composerId":"c" ,"workspaceIdentifier":{"id":"new"}}`,
		`{"workspaceIdentifier":{"id":"old"},"subagentInfo":{}}`: `1 {"workspaceIdentifier":{"id":"new"},"subagentInfo":{}}`,
	} {
		m.head = []byte(head)
		_, values := m.headRow([]string{"isSubagent", valueColumn})
		if got := string('0'+byte(values[0].(int64))) + " " + values[1].(string); got != want {
			t.Errorf("%s: %s", head, got)
		}
	}
}

package cursorsdk

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/cursorsdk/internal/layout"
	"rehome/formats/cursorsdk/internal/read"
	"rehome/formats/internal/sdkstore"
	"rehome/formats/session"
)

// makeCatalog makes the index.db of a state root with two agents.
func makeCatalog(t *testing.T, root, prefix string) {
	t.Helper()
	if err := os.MkdirAll(root, 0o777); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(root, sdkstore.IndexName)))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range []string{
		sdkstore.DeclaredSQL,
		"INSERT INTO agents VALUES('" + prefix + "1','/w','IDLE',NULL,NULL,'one','{\"blobEncryptionKey\":\"k\"}','2026-01-02T03:04:05.678Z','2026-01-02T03:04:06.000Z')",
		"INSERT INTO agents VALUES('" + prefix + "2','/w','IDLE','r',NULL,NULL,'{}','soon','')",
		"INSERT INTO runs(run_id,agent_id,turn_number,status,created_at,updated_at) VALUES('a','" + prefix + "1',1,'FINISHED','',''),('b','" + prefix + "1',2,'ERROR','',''),('c','" + prefix + "1',3,'QUEUED','',''),('d','" + prefix + "2',1,'QUEUED','',''),('e','" + prefix + "3',1,'FINISHED','',''),('f','" + prefix + "3',2,'QUEUED','','')",
		"INSERT INTO agents VALUES('" + prefix + "3','/w','IDLE','r',NULL,NULL,'{}','soon','')",
	} {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func headsAt(t *testing.T, path string) []string {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for h, err := range read.Heads(t.Context(), l, formats.View{}) {
		if err != nil {
			got = append(got, "error")
			continue
		}
		if h.Agent != session.CursorSDK || h.Bytes != -1 {
			t.Errorf("%+v", h)
		}
		got = append(got, fmt.Sprintf("%s %s %q %d %d %d", h.ID, h.Workspace, h.Title, h.Created.Millis(), h.Updated.Millis(), h.Turns))
	}
	return got
}

// TestHeads: the catalog's agents in its order, however it is named, and those
// of all catalogs of a project; one that is broken costs no other.
func TestHeads(t *testing.T) {
	project := filepath.Join(t.TempDir(), "p")
	root := filepath.Join(project, layout.RootsName, strings.Repeat("0a", 16))
	makeCatalog(t, root, "x")
	want := []string{`x1 /w "one" 1767323045678 1767323046000 -1`, `x2 /w "" 0 0 0`, `x3 /w "" 0 0 1`}
	for _, path := range []string{root, filepath.Join(root, sdkstore.IndexName), project} {
		if got := headsAt(t, path); !slices.Equal(got, want) {
			t.Errorf("%s:\ngot  %q\nwant %q", path, got, want)
		}
	}
	makeCatalog(t, root+".bak-1", "backup")
	makeCatalog(t, filepath.Join(project, layout.RootsName, strings.Repeat("0b", 16)), "y")
	broken := filepath.Join(project, layout.RootsName, strings.Repeat("00", 16))
	if err := os.MkdirAll(broken, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, sdkstore.IndexName), []byte("nothing"), 0o666); err != nil {
		t.Fatal(err)
	}
	all := append(append([]string{"error"}, want...), `y1 /w "one" 1767323045678 1767323046000 -1`, `y2 /w "" 0 0 0`, `y3 /w "" 0 0 1`)
	if got := headsAt(t, project); !slices.Equal(got, all) {
		t.Errorf("got  %q\nwant %q", got, all)
	}
}

func TestHome(t *testing.T) {
	dir := t.TempDir()
	m := formats.Machine{OS: "linux", Home: dir, Getenv: func(string) string { return "" }}
	projects := filepath.Join(dir, ".cursor", "projects")
	if got := layout.Home(m); !slices.Equal(got, []string{filepath.Join(dir, ".cursor", layout.RootsName), projects}) {
		t.Errorf("without any: %q, want the places where to look", got)
	}
	for _, p := range []string{"a/sdk-agent-store", "b/agent-transcripts", "c/sdk-agent-store"} {
		if err := os.MkdirAll(filepath.Join(projects, filepath.FromSlash(p)), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{filepath.Join(projects, "a", layout.RootsName), filepath.Join(projects, "c", layout.RootsName)}
	if got := layout.Home(m); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	newer := filepath.Join(dir, ".cursor", layout.RootsName)
	if err := os.Mkdir(newer, 0o777); err != nil {
		t.Fatal(err)
	}
	if got := layout.Home(m); !slices.Equal(got, append([]string{newer}, want...)) {
		t.Errorf("%q, want %q in front", got, newer)
	}
}

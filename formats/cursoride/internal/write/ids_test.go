package write

import (
	"os"
	"strings"
	"testing"
)

// TestWorkspace: a folder of this machine has the id that the client gives it; any other
// has one that depends on nothing but its path.
func TestWorkspace(t *testing.T) {
	if got := folderID("/home/ana/shop", "12345"); got != "487661a01b11b59ede769e82a8a60cf8" {
		t.Errorf("the id is %s", got)
	}
	dir := t.TempDir()
	i, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	here, gone := workspaceOf(dir), workspaceOf(dir+"/gone")
	if here.id != folderID(here.path, salt(i)) || here.id == folderID(here.uri, "") {
		t.Errorf("%s has the id %s", dir, here.id)
	}
	if gone.id != folderID(gone.uri, "") {
		t.Errorf("a folder that is not here has the id %s", gone.id)
	}
	for path, uri := range map[string]string{`C:\a b`: "file:///c%3A/a%20b", `\\host\share\x`: "file://host/share/x", "/é": "file:///%C3%A9", "/@b/a+(1)": "file:///%40b/a%2B%281%29"} {
		if w := workspaceOf(path); w.uri != uri || strings.Contains(w.slashed, "%") {
			t.Errorf("%s: %s %s", path, w.uri, w.slashed)
		}
	}
	if w := workspaceOf(""); w.id != "empty-window" {
		t.Errorf("no folder has the id %s", w.id)
	}
}

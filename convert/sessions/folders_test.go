package sessions

import (
	"strings"
	"testing"

	"rehome/formats"
)

// TestFolderNames: a hash names one folder, a slug may stand for several.
func TestFolderNames(t *testing.T) {
	f := voice("loud", "cursor-sdk", "loud")
	f.Home.Slug = func(cwd string) string {
		return "projects/" + strings.Trim(strings.NewReplacer("/", "-", ".", "-").Replace(cwd), "-")
	}
	dirs := []string{"/w/app", "/w/app/", "/w/a.b", "/w/a-b", "/"}
	known := NewFolders(formats.NewRegistry(f, voice("none", "", "")), Candidates{Dirs: dirs})
	for at, want := range map[string]string{
		"/home/projects/w-app/x/store":      "/w/app/", // the same folder as /w/app
		"/home/projects/w-a-b/x":            "",        // one of two
		"/home/projects/unknown/x":          "",        // not that of /
		"/home/w-app/x":                     "",
		"/home/" + hashOf("/w/a-b") + "/x":  "/w/a-b",
		"/home/" + hashOf("/w/app") + "/x":  "/w/app",
		"/home/" + hashOf("/w/none") + "/x": "",
	} {
		if got := known.ofPath(at); got != want {
			t.Errorf("%s belongs to %q, want %q", at, got, want)
		}
	}
	at := "/home/" + hashOf("/w/app") + "/x"
	if known.movedTo(at, "/w/app") != "" || known.movedTo(at, "/w/none") != "/w/app" || known.movedTo("/home/projects/w-app/x", "/w/none") != "" {
		t.Error("a store is moved if its hash is that of another known folder")
	}
}

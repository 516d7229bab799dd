package sessions_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"rehome/convert/sessions"
	"rehome/formats/session"
)

// TestLostFolders: folders that no longer exist are counted with those in them, and found by
// their name if only one has it.
func TestLostFolders(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{"code/app", "one/twice", "two/twice", "there", ".cache/hidden", "node_modules/web", "a/b/c/d/deep"} {
		if err := os.MkdirAll(filepath.Join(home, filepath.FromSlash(dir)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(home, filepath.FromSlash(name)) }
	var list []sessions.Listed
	for _, dir := range []string{
		at("app/sub/x"), at("twice"), at("app"), at("app/sub"), at("there"), at("hidden"), at("web"), at("deep"), at("deep") + string(filepath.Separator), at("none"),
		"", "relative", "vscode-remote://host/app", filepath.VolumeName(home) + string(filepath.Separator),
	} {
		list = append(list, sessions.Listed{Head: session.Head{Workspace: dir}})
	}
	want := []sessions.Lost{
		{Folder: at("app"), Sessions: 3, Found: at("code/app")}, {Folder: at("deep"), Sessions: 2},
		{Folder: at("hidden"), Sessions: 1}, {Folder: at("none"), Sessions: 1}, {Folder: at("twice"), Sessions: 1}, {Folder: at("web"), Sessions: 1},
	}
	if got := sessions.LostFolders(list, home); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := sessions.LostFolders(list[2:3], ""); len(got) != 1 || got[0].Found != "" {
		t.Errorf("without a home folder: %+v", got)
	}
}

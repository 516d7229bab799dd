package all_test

import (
	"path/filepath"
	"slices"
	"testing"

	"rehome/convert"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/session"
	"rehome/testdata/ide"
)

// TestIDEDiskAlone: a database that has no table but cursorDiskKV is known by it
// under any name, and its sessions survive an archive.
func TestIDEDiskAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "copied.db")
	if err := ide.Exec(file, `CREATE TABLE cursorDiskKV (key TEXT PRIMARY KEY NOT NULL, value TEXT);
INSERT INTO cursorDiskKV VALUES ('composerData:c1','{"composerId":"c1","name":"Copied","fullConversationHeadersOnly":[{"bubbleId":"b1","type":1}]}'),
 ('bubbleId:c1:b1','{"bubbleId":"b1","type":1,"text":"hello"}');`); err != nil {
		t.Fatal(err)
	}
	l, err := formats.Locate(file)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := all.Registry().Detect(t.Context(), l); err != nil || len(found) == 0 || found[0].Format.Name != "cursor-ide" {
		t.Fatalf("%+v, %v", found, err)
	}
	whole := decodeStore(t, "cursor-ide", file, session.Selection{})
	dir := t.TempDir()
	archive, back := filepath.Join(dir, "text"), filepath.Join(dir, "copied.db")
	for _, step := range [][2]string{{file, archive}, {archive, back}} {
		o := convert.Options{}
		if step[1] == archive {
			o.To = "archive"
		}
		if rep, err := convert.Convert(t.Context(), all.Registry(), step[0], step[1], o); err != nil || !rep.Placed {
			t.Fatal(err)
		}
	}
	if got := decodeStore(t, "cursor-ide", back, session.Selection{}); len(whole.sessions) != 1 || !slices.Equal(linesOf(got, "c1"), linesOf(whole, "c1")) {
		t.Errorf("%q, was %q", linesOf(got, "c1"), linesOf(whole, "c1"))
	}
}

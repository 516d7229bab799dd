package claudecode

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/loss"
	"rehome/formats/session"
)

const backedUp = "20000000-0000-4000-8000-00000000000b"

// backups lays a config folder with a session that changed files: one twice, one
// that it made, one whose backup is gone, and names that lead elsewhere.
func backups(t *testing.T) (config, file string) {
	t.Helper()
	config = t.TempDir()
	lines := []string{
		`{"type":"file-history-snapshot","messageId":"m1","snapshot":{"messageId":"m1","trackedFileBackups":{},"timestamp":"2026-11-20T08:58:21.128Z"},"isSnapshotUpdate":false}`,
		`{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"go"},"uuid":"20000000-0000-4000-8000-0000000000b1","timestamp":"2026-11-20T08:58:21.130Z","cwd":"/home/ann/app","sessionId":"` + backedUp + `","version":"2.1.328"}`,
		`{"type":"file-history-delta","messageId":"m2","snapshotMessageId":"m1","trackingPath":"README.md","backup":{"backupFileName":"697f30ed9bee0596@v1","version":1,"backupTime":"2026-11-20T08:58:21.785Z","realParentDir":"/home/ann/app"},"timestamp":"2026-11-20T08:58:21.785Z"}`,
		`{"type":"file-history-delta","messageId":"m3","snapshotMessageId":"m1","trackingPath":"new.txt","backup":{"backupFileName":null,"version":1,"backupTime":"2026-11-20T08:58:21.849Z"}}`,
		`{"type":"file-history-snapshot","messageId":"m4","snapshot":{"messageId":"m4","trackedFileBackups":{"README.md":{"backupFileName":"697f30ed9bee0596@v2","version":2},"new.txt":{"backupFileName":"0123456789abcdef@v2","version":2},"/etc/a":{"backupFileName":"ffffffffffffffff@v1","version":1},"bad":{"backupFileName":"../../settings.json","version":1}}},"isSnapshotUpdate":false}`,
		`{"type":"file-history-snapshot","messageId":"m5","snapshot":{"messageId":"m5","trackedFileBackups":{"README.md":{"backupFileName":"697f30ed9bee0596@v2","version":2}}},"isSnapshotUpdate":true}`,
	}
	file = filepath.Join(config, "projects", "-home-ann-app", backedUp+outline.Ending)
	for name, body := range map[string]string{
		file: strings.Join(lines, "\n") + "\n", filepath.Join(config, "settings.json"): "secret",
		filepath.Join(config, outline.BackupsName, backedUp, "697f30ed9bee0596@v1"): "old\n", filepath.Join(config, outline.BackupsName, backedUp, "697f30ed9bee0596@v2"): "newer\n",
		filepath.Join(config, outline.BackupsName, backedUp, "0123456789abcdef@v2"): "\x00made",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return config, file
}

// kept is what a location says that files held, with the notes.
func keptFiles(t *testing.T, path string) (out, notes []string) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	body := func(b *session.Body) string {
		if b == nil {
			return "?"
		}
		return fmt.Sprintf("%q", b.Bytes)
	}
	v := formats.View{OnLoss: func(n loss.Loss) {
		notes = append(notes, fmt.Sprintf("%v line %d: %s", n.Kind(), n.At.Line, strings.Join(append([]string{string(n.Code)}, n.Args...), " ")))
	}}
	for s, err := range Format().Sessions.Decode(t.Context(), l, v, session.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range s.Messages {
			if err != nil {
				t.Fatal(err)
			}
		}
		if s.Files == nil {
			continue
		}
		for f, err := range s.Files {
			if err != nil {
				t.Fatal(err)
			}
			line := session.AppendFile(nil, f)
			if len(f.Origin) == 0 || len(f.Extras) == 0 || bytes.Contains(line, []byte("secret")) {
				t.Errorf("%s", line)
			}
			out = append(out, f.Path+" "+body(f.Before)+" "+body(f.After))
		}
	}
	return out, notes
}

// TestBackups: what files held is decoded wherever one begins to read, and what
// is gone is noted.
func TestBackups(t *testing.T) {
	config, file := backups(t)
	want := `/home/ann/app/README.md "old\n" "newer\n"
/home/ann/app/new.txt "" "\x00made"
/home/ann/app/README.md "newer\n" ?
/home/ann/app/new.txt "\x00made" ?
/etc/a ? ?
/home/ann/app/bad ? ?`
	missing := "missing line 5: L545"
	for _, path := range []string{config, filepath.Dir(file), file} {
		got, notes := keptFiles(t, path)
		if strings.Join(got, "\n") != want {
			t.Errorf("%s: got\n%s", path, strings.Join(got, "\n"))
		}
		if len(notes) != 2 || notes[0] != missing || notes[1] != missing {
			t.Errorf("%s: %q", path, notes)
		}
	}
	huge := filepath.Join(config, outline.BackupsName, backedUp, "697f30ed9bee0596@v1")
	if err := os.Truncate(huge, 16<<20+1); err != nil {
		t.Fatal(err)
	}
	if got, notes := keptFiles(t, config); !strings.HasPrefix(got[0], "/home/ann/app/README.md ? ") || len(notes) != 3 || !strings.Contains(notes[0], "L546") {
		t.Errorf("%q %q", got, notes)
	}
	// Alone, a file knows of its backups, and has none.
	alone := filepath.Join(t.TempDir(), "x.jsonl")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(alone, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, notes := keptFiles(t, alone); len(got) != 6 || len(notes) != 5 {
		t.Errorf("%q %q", got, notes)
	}
	if got, _ := keptFiles(t, samples); len(got) != 0 {
		t.Errorf("sessions that changed no file: %q", got)
	}
}

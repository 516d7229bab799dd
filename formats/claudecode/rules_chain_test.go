package claudecode

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/rule"
)

// TestRulesOfUnsent: what the API would refuse counts where the client sends
// it: not on a branch that was abandoned, not in front of a compaction unless
// that preserved it, and not in a subagent's lines among the session's.
func TestRulesOfUnsent(t *testing.T) {
	for _, c := range []struct {
		session, old, now, found string
	}{
		{"1", `"text":"an abandoned answer"`, `"text":"x","shade":1`, ""},
		{"1", `"text":"One file."`, `"text":"x","shade":1`, "RH452"},
		{"3", `"text":"old answer"`, `"text":"x","shade":1`, ""},
		{"3", `"content":"old question"`, `"content":""`, ""},
		{"3", `"content":"kept question"`, `"content":""`, "RH444"},
		{"3", `"text":"new answer"`, `"text":"x","shade":1`, "RH452"},
		{"5", `"text":"aside"}],"stop`, `"text":"aside","shade":1}],"stop`, ""},
		{"5", `"text":"done"`, `"text":"done","shade":1`, "RH452"},
	} {
		path := filepath.Join(sampleConfig(t), "projects", "-home-ann-app", "20000000-0000-4000-8000-00000000000"+c.session+outline.Ending)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := bytes.Replace(b, []byte(c.old), []byte(c.now), 1)
		if bytes.Equal(b, changed) {
			t.Fatalf("session %s does not hold %s", c.session, c.old)
		}
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		found := grave(asks(t, path, rule.Meaning, 1))
		if c.found == "" && len(found) > 0 || c.found != "" && (len(found) != 1 || !strings.Contains(found[0], c.found)) {
			t.Errorf("session %s, %s: %v, want %q", c.session, c.now, found, c.found)
		}
	}
}

// TestRulesOfNewer: what is unknown in the lines of a newer version is a note.
func TestRulesOfNewer(t *testing.T) {
	const line = `{"parentUuid":null,"isSidechain":%s,"type":"user","message":{"role":"user","content":[{"type":"text","text":"x","shade":1},{"type":"sketch"}]},"uuid":"u","timestamp":"2026-01-01T00:00:00.000Z","sessionId":"20000000-0000-4000-8000-000000000001","version":"%s"}` + "\n"
	path := filepath.Join(t.TempDir(), "20000000-0000-4000-8000-000000000001.jsonl")
	for _, c := range []struct {
		version, side string
		want          []string
	}{
		{"2.1.330", "false", []string{"RH451", "RH452"}},
		{"2.1.331", "false", []string{"RH204", "RH204"}},
		{"2.1.330", `"no"`, []string{"RH203", "RH451", "RH452"}},
		{"2.2.0", `"no"`, []string{"RH204", "RH204", "RH204"}},
	} {
		if err := os.WriteFile(path, fmt.Appendf(nil, line, c.side, c.version), 0o600); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range asks(t, path, allLayers, 1) {
			got = append(got, strings.Fields(f)[1])
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s, %s: %v, want %v", c.version, c.side, got, c.want)
		}
	}
	for version, want := range map[string]bool{
		"2.1.330": false, "2.1.331": true, "2.1.329": false, "2.2.0": true, "2.0.999": false, "3.0.0": true, "1.0.24": false,
		"": false, "cursor": false, "2": false, "3": true, "2.1.330.1": false, "2.1.x": false, "-3.0.0": false,
	} {
		if outline.Newer(version) != want {
			t.Errorf("newer(%q) is %v", version, !want)
		}
	}
}

// TestRulesOfForks: a session's subagents and long outputs may lie beside the
// one that it was taken from, but in no other project.
func TestRulesOfForks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "config")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "testdata", "faults", "samples", "claude-versions"))); err != nil {
		t.Fatal(err)
	}
	lost := func() (out []string) {
		for _, f := range asks(t, dir, rule.References, 1) {
			if id := strings.Fields(f)[1]; id == "RH372" || id == "RH373" {
				out = append(out, f)
			}
		}
		return out
	}
	if got := lost(); len(got) > 0 {
		t.Errorf("a fork beside its origin: %v", got)
	}
	project := filepath.Join(dir, "projects", "-home-ann-app")
	if err := os.Rename(filepath.Join(project, "00021328-0000-4000-8000-000000000001"), filepath.Join(dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	if got := lost(); len(got) != 4 {
		t.Errorf("without the origin's folder: %v", got)
	}
}

// TestVersion: what rehome writes is like the newest client that it was tested with.
func TestVersion(t *testing.T) {
	known, err := os.ReadFile(filepath.Join("..", "..", "convert", "doctor", "known.txt"))
	if err != nil || !strings.Contains(string(known), "\nformat claude-code\ntested "+outline.Version+" ") {
		t.Errorf("%s is not the first version that known.txt lists as tested (%v)", outline.Version, err)
	}
}

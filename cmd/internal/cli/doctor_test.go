package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/cmd/internal/console"
	"rehome/cmd/internal/screen"
	"rehome/convert/doctor"
	"rehome/formats/all"
)

// TestDoctorHome examines a home folder: the places of clients are named below it,
// without projects, and a store that cannot be read is counted, and decides the exit
// code with --fail-on.
func TestDoctorHome(t *testing.T) {
	home := t.TempDir()
	for to, from := range map[string]string{".claude": "faults/samples/claude-versions", ".cursor/projects/home-ann-secret/sdk-agent-store/0": "sdk/gen/sqlite"} {
		if err := os.CopyFS(filepath.Join(home, filepath.FromSlash(to)), os.DirFS("../../../testdata/"+from)); err != nil {
			t.Fatal(err)
		}
	}
	broken := filepath.Join(home, ".cursor", "chats", strings.Repeat("0", 32), "00000000-0000-4000-8000-000000000001")
	if err := os.MkdirAll(broken, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, "store.db"), []byte("SQLite format 3\x00 torn"), 0o666); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{console.HomeVariable(): home}
	stdout, stderr, code := callWith(t, t.Context(), env, "doctor", "--json")
	if code != 0 || stderr != "" {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	checkJSON(t, []string{"doctor"}, []byte(stdout))
	var r doctorResult
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Clients) < 2 || r.Unread != 1 || r.Drift < 2 {
		t.Errorf("%d clients, %d unread, %d unknown: %s", len(r.Clients), r.Unread, r.Drift, stdout)
	}
	for _, word := range []string{home, "secret", "home-ann"} {
		if strings.Contains(stdout, word) {
			t.Errorf("%q is in the report\n%s", word, stdout)
		}
	}
	text, stderr, code := callWith(t, t.Context(), env, "doctor", "--fail-on", "drift")
	if code != 1 || !strings.Contains(stderr, "could not read 1 store") || !strings.Contains(text, "not found: ") ||
		strings.Count(text, "\n") > 40 {
		t.Errorf("exit %d, stderr %q\n%s", code, stderr, text)
	}
}

// TestDoctorNarrow prints on terminals of several widths: no line is longer.
func TestDoctorNarrow(t *testing.T) {
	r := &doctorResult{Rehome: "1.0.0", Drift: 2, absent: []string{"codex", "cursor-ide"}, Clients: []doctorClient{{
		Format: "claude-code", Sessions: 12345, Bytes: 1 << 40, Places: []string{"~/Library/Application Support/Cursor/User"}, newer: true,
		Versions: []doctor.Version{{Name: "9.1.0", Sessions: 3}}, Tested: []string{"2.1.328"},
		Drift: []doctor.Drift{{Kind: "field", Name: strings.Repeat("long", 12), Where: "assistant/tool_call", Count: 3},
			{Kind: "tool", Name: "Teleport", Where: "assistant", Count: 1}},
	}}}
	for _, width := range []int{40, 60, 80, 100} {
		var out bytes.Buffer
		p := screen.NewPage(&out, false)
		r.width, p.Width = width, min(width, p.Width) // as printResult does
		r.Text(p)
		for line := range strings.Lines(out.String()) {
			if n := screen.Cells(screen.Visible(strings.TrimRight(line, "\n"))); n > width {
				t.Errorf("%d of %d columns: %s", n, width, line)
			}
		}
		if has := strings.Contains(out.String(), "Library"); has != (width >= 80) {
			t.Errorf("%d columns: the place is printed: %v", width, has)
		}
	}
}

// TestTestedVersions compares the README, the pinned clients of the interop tests and
// what doctor calls tested.
func TestTestedVersions(t *testing.T) {
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(readme)) {
		if cells := strings.Split(line, "|"); len(cells) == 7 {
			rows[strings.TrimSpace(cells[1])] = strings.TrimSpace(cells[5])
		}
	}
	clients := map[string]string{
		"cursor-chat": "Cursor CLI", "cursor-ide": "Cursor IDE", "cursor-sdk": "Cursor SDK", "cursor-ndjson": "Cursor SDK",
		"claude-code": "Claude Code", "codex": "Codex", "stream-json": "Cursor CLI's `stream-json` output",
		"opencode": "OpenCode", "opencode-export": "OpenCode", "opencode-json": "OpenCode", "gemini-json": "Gemini CLI",
	}
	for _, f := range all.Registry().All() {
		tested := doctor.TestedVersions(f)
		row, ok := rows[clients[f.Name]]
		if f.Family == "lines" {
			row, ok = rows[f.Home.Title]
		}
		if len(tested) == 0 {
			continue
		}
		if want := strings.Join(tested, ", "); !ok || strings.TrimPrefix(row, "stores like those of ") != want {
			t.Errorf("%s: the README says %q, doctor %q", f.Name, row, want)
		}
	}
	var pins struct{ Dependencies map[string]string }
	text, err := os.ReadFile("../../../testdata/interop/package.json")
	if err == nil {
		err = json.Unmarshal(text, &pins)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, format := range map[string]string{"@anthropic-ai/claude-code": "claude-code", "@cursor/sdk": "cursor-sdk", "@openai/codex": "codex", "opencode-ai": "opencode"} {
		if pin := pins.Dependencies[name]; !slices.Contains(doctor.TestedVersions(all.Registry().Lookup(format)), pin) {
			t.Errorf("%s %s is pinned, and not among the tested versions of %s", name, pin, format)
		}
	}
}

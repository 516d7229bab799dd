package canonical

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats/formatstest"
	"rehome/formats/rule"
)

// asked is what the rules find in a file or folder, a line each, sorted.
func asked(t *testing.T, path string, layers rule.Layers) (out []string) {
	t.Helper()
	for _, f := range formatstest.Findings(t, Format(), path, layers, 1) {
		out = append(out, strings.TrimRight(f.Rule+" "+f.At.String()+" "+f.Pointer+" "+f.Text(), " "))
	}
	slices.Sort(out)
	return out
}

const everything = rule.Container | rule.Schema | rule.References | rule.Meaning

// sessionsOf are the sessions of a golden, without the books behind them.
func sessionsOf(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "{") {
			text.WriteString(line)
		}
	}
	to := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(to, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestRulesSpareWhatIsWritten: what rehome itself writes breaks no rule, from
// whatever client it comes: all that the goldens have.
func TestRulesSpareWhatIsWritten(t *testing.T) {
	var list []string
	for _, pattern := range []string{"*.jsonl", "*/*.jsonl", "*/*/*.jsonl"} {
		more, err := filepath.Glob("../../golden/*-to-canonical/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, more...)
	}
	if len(list) < 50 {
		t.Fatalf("%d goldens", len(list))
	}
	for i, path := range list {
		list[i] = sessionsOf(t, path)
	}
	for _, path := range append(list, "../../testdata/canonical/one.jsonl", "../../testdata/canonical/several.jsonl", "../../testdata/canonical/folder") {
		for _, f := range asked(t, path, everything) {
			if r := rule.Lookup(f[:5]); r.Severity > rule.Note {
				t.Errorf("%s: %s: %s", path, f, r.Title)
			}
		}
	}
}

// TestRulesOfGaps: a line that cannot be read is told once; what refers to it is
// no news.
func TestRulesOfGaps(t *testing.T) {
	text := `{"type":"session","version":1,"id":"s","agent":"a","branches":[{"name":"b","from":"m2"}]}
{"type":"message","id":"m1","role":"user"}
{"type":"message","id":"m2","role":"assistant","parts":[{"type":"tool_call","id":"c1","na
{"type":"message","id":"m3","role":"tool","parent":"m2","parts":[{"type":"tool_result","call":"c1"}]}
{"type":"message","id":"m4","role":"system","parts":[{"type":"boundary","archived":3}]}
`
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	got := asked(t, path, everything)
	if len(got) != 1 || !strings.HasPrefix(got[0], "RH131 s.jsonl:3 ") {
		t.Errorf("got %q, want the third line and nothing else", got)
	}
	head := strings.Replace(text, `"version":1`, `"version":"1"`, 1)
	if err := os.WriteFile(path, []byte(head), 0o666); err != nil {
		t.Fatal(err)
	}
	got = asked(t, path, everything)
	if len(got) != 2 || !strings.HasPrefix(got[0], "RH131 s.jsonl:3 ") || !strings.HasPrefix(got[1], "RH203 s.jsonl:1 /version") {
		t.Errorf("got %q, want the first and the third line and nothing else", got)
	}
}

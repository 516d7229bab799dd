package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rehome/cmd/internal/console"
	"rehome/formats"
	"rehome/golden"
	"rehome/schemas"
)

// TestCompatibilityPage keeps the lists of docs/compatibility.md true: exit
// codes and old names are those of the program. `make golden` rewrites them.
func TestCompatibilityPage(t *testing.T) {
	path := filepath.Join("..", "..", "..", "docs", "compatibility.md")
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fresh := string(old)
	for mark, table := range map[string]string{"exit codes": codeTable(), "old names": oldNameTable(t)} {
		block := regexp.MustCompile("(?s)<!-- " + mark + " -->\n.*?<!-- end -->")
		if len(block.FindAllString(fresh, -1)) != 1 {
			t.Fatalf("%s has no place for the %s", path, mark)
		}
		fresh = block.ReplaceAllLiteralString(fresh, "<!-- "+mark+" -->\n"+table+"<!-- end -->")
	}
	switch {
	case fresh == string(old):
	case golden.Updating():
		if err := os.WriteFile(path, []byte(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Logf("golden: %s rewritten", path)
	default:
		t.Errorf("%s lists what the program no longer has; make golden rewrites it\n%s", path, golden.Diff(old, []byte(fresh)))
	}
}

func codeTable() string {
	out := "| code | meaning |\n|---|---|\n"
	for _, o := range console.ExitStatuses() {
		out += fmt.Sprintf("| %d | %s |\n", o.Code, o.Meaning)
	}
	return out
}

// oldNameTable lists every name that is read or taken, and no longer written
// or shown.
func oldNameTable(t *testing.T) string {
	out := "| old name | today | works until |\n|---|---|---|\n"
	row := func(old, now, until string) { out += fmt.Sprintf("| %s | %s | %s |\n", old, now, until) }
	row("file `*"+formats.OldSidecarSuffix+"`", "`*"+formats.SidecarSuffix+"`", "for good: it is in people's git")
	heads := headers(t)
	for _, old := range heads[1:] {
		row(fmt.Sprintf("first line `\"rehome\":%q` of a sidecar", old), fmt.Sprintf("`\"rehome\":%q`", heads[0]), "for good")
	}
	m := Rehome().cliModel()
	seen := map[string]bool{}
	for _, n := range commands(m) {
		for _, f := range slices.Concat(m.Flags, n.Flags) {
			if f.Hidden {
				now := map[string]string{"thinking": "`--no-thinking` for `--thinking drop`"}[f.Name]
				if now == "" {
					t.Errorf("no row for the hidden flag --%s of %s", f.Name, n.Name)
				}
				row("flag `--"+f.Name+"` of `"+n.Name+"`", now, "1.0")
			}
			for _, a := range f.Aliases {
				if now := "`--" + f.Name + "`"; !seen[a+now] {
					seen[a+now] = true
					row("flag `--"+a+"`", now, "1.0")
				}
			}
		}
	}
	return out
}

// headers are the words that the header of a sidecar may hold, the one that is
// written first.
func headers(t *testing.T) []string {
	t.Helper()
	text, err := schemas.Text("residue-1")
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Defs struct {
			Header struct {
				Properties struct{ Rehome struct{ Enum []string } }
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &s); err != nil || len(s.Defs.Header.Properties.Rehome.Enum) < 2 {
		t.Fatalf("%v: %+v", err, s)
	}
	return s.Defs.Header.Properties.Rehome.Enum
}

// TestExitCodesInDocs: the guides explain the codes that the program has, in
// their order, and no others.
func TestExitCodesInDocs(t *testing.T) {
	var all []int
	for _, o := range console.ExitStatuses() {
		all = append(all, o.Code)
	}
	for name, want := range map[string][]int{"command-line.md": all, "check.md": {0, 1, 2, 4, 5}} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, m := range regexp.MustCompile(`(?m)^\| (\d+) \|`).FindAllStringSubmatch(string(text), -1) {
			code, _ := strconv.Atoi(m[1])
			got = append(got, code)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s explains the exit codes %v, want %v", name, got, want)
		}
	}
}

// TestPublishedMembers: what was published keeps its name.
func TestPublishedMembers(t *testing.T) {
	for schema, members := range map[string][]string{
		"convert-result-1": {"residue", "lane", "agent"}, "canonical-1": {"agent"}, "ls-result-1": {"agent"},
		"migrate-result-1": {"agent"}, "error-1": {"agent"},
		"check-result-1": {"mend"}, "check-rules-1": {"mend"},
	} {
		text, err := schemas.Text(schema)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range members {
			if !strings.Contains(string(text), `"`+m+`": {`) {
				t.Errorf("%s has no member %q", schema, m)
			}
		}
	}
}

package rule

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTables reads every rule as people will.
func TestTables(t *testing.T) {
	all := All()
	if len(all) < 100 {
		t.Fatalf("only %d rules", len(all))
	}
	for _, r := range all {
		if r.Title == "" || strings.HasSuffix(r.Title, ".") || len(r.Title) > 90 {
			t.Errorf("%s: a title is one short line without a full stop: %q", r.ID, r.Title)
		}
		for _, text := range []string{r.Why, r.Fix} {
			if !strings.HasSuffix(text, ".") {
				t.Errorf("%s: a sentence ends: %q", r.ID, text)
			}
		}
		if got := Lookup(r.ID); got == nil || got.ID != r.ID {
			t.Errorf("%s is not found by its id", r.ID)
		}
		if !r.AppliesTo(r.Formats[0]) || r.AppliesTo("nothing") && r.Formats[0] != "*" {
			t.Errorf("%s: For does not know its formats", r.ID)
		}
	}
	if Lookup("RH999") != nil {
		t.Error("a rule that is not there is found")
	}
}

// TestIDs: who reports a breach names a rule that there is, and each rule has
// somebody who asks it.
func TestIDs(t *testing.T) {
	named := map[string]bool{}
	id := regexp.MustCompile(`"(RH\d+)"`)
	for _, top := range []string{"../../formats", "../../convert"} {
		err := filepath.WalkDir(top, func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range id.FindAllSubmatch(text, -1) {
				named[string(m[1])] = true
				if Lookup(string(m[1])) == nil {
					t.Errorf("%s: no rule is named %s", filepath.ToSlash(path), m[1])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range All() {
		if !named[r.ID] {
			t.Errorf("nobody asks %s", r.ID)
		}
	}
}

func TestParse(t *testing.T) {
	const good = "# remark\nRH301 error a b\nwhat is wrong\nwhy: because\n of this.\nfix: do that.\n\nRH101 note *\nx\nwhy: y\nfix: z\n"
	list, err := parse(good)
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	r := list[0]
	if r.ID != "RH301" || r.Severity != Error || r.Layer != References || !slices.Equal(r.Formats, []string{"a", "b"}) || r.Title != "what is wrong" || r.Why != "because of this." || r.Fix != "do that." {
		t.Errorf("%+v", r)
	}
	for _, bad := range []string{
		"RH301 error\nx\nwhy: y\nfix: z",
		"RH301 fatal a\nx\nwhy: y\nfix: z",
		"RH901 error a\nx\nwhy: y\nfix: z",
		"RH30 error a\nx\nwhy: y\nfix: z",
		"RH301 error a\nx\nfix: z\nwhy: y",
		"RH301 error a\nx\nwhy: y",
	} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q is taken for a rule", bad)
		}
	}
}

func TestLayers(t *testing.T) {
	for i, name := range LayerNames() {
		l, err := ParseLayer(name)
		if err != nil || l != 1<<i || l.String() != name {
			t.Errorf("%s: %v, %v", name, l, err)
		}
	}
	if _, err := ParseLayer("paint"); err == nil {
		t.Error("paint is no layer")
	}
	set := Container | Meaning
	if set.String() != "container,meaning" || !set.Has(Meaning) || set.Has(Secrets) {
		t.Errorf("a set of two: %s", set)
	}
}

func TestSeverities(t *testing.T) {
	for s := Note; s <= Error; s++ {
		text, err := s.MarshalText()
		var back Severity
		if err != nil || back.UnmarshalText(text) != nil || back != s {
			t.Errorf("%s comes back as %s (%v)", s, back, err)
		}
	}
	if new(Severity).UnmarshalText([]byte("fatal")) == nil {
		t.Error("fatal is no severity")
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct{ s, want string }{{"abc", "abc"}, {"abcdef", "abcd"}, {"abcé!!", "abc"}, {"日本語", "日"}, {"\x80\x80\x80\x80\x80", ""}} {
		if got := Truncate(c.s, 4); got != c.want {
			t.Errorf("%q: %q, want %q", c.s, got, c.want)
		}
	}
}

func TestClip(t *testing.T) {
	for in, want := range map[string]string{
		"short": "short", strings.Repeat("a", 80): strings.Repeat("a", 80), strings.Repeat("a", 81): strings.Repeat("a", 80) + "…",
		strings.Repeat("a", 79) + "é": strings.Repeat("a", 79) + "…", strings.Repeat("a", 77) + "😀x": strings.Repeat("a", 77) + "…",
		strings.Repeat("\xbf", 99): strings.Repeat("\xbf", 76) + "…", // no text at all: it is cut somewhere
	} {
		if got := Clip(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

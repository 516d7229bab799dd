package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rehome/convert/repair"
	"rehome/formats/loss"
	"rehome/formats/rule"
	"rehome/golden"
)

// TestReadme keeps what the README and docs print true: each block between
// <!-- rehome ARGS --> and <!-- end --> is what that command prints.
// `make golden` rewrites them.
func TestReadme(t *testing.T) {
	t.Setenv("COLUMNS", "")
	block := regexp.MustCompile("(?s)<!-- rehome ([a-z -]+) -->\n```text\n.*?```\n<!-- end -->")
	cases := regexp.MustCompile("(?s)<!-- transcript ([a-z-]+) -->\n```text\n.*?```\n<!-- end -->")
	rules := regexp.MustCompile("(?s)<!-- rules -->\n.*?<!-- end -->")
	repairs := regexp.MustCompile("(?s)<!-- repairs -->\n.*?<!-- end -->")
	losses := regexp.MustCompile("(?s)<!-- losses -->\n.*?<!-- end -->")
	kept := regexp.MustCompile("(?s)<!-- clients -->\n.*?<!-- end -->")
	found := 0
	for _, name := range guides(t) {
		path := filepath.Join("..", "..", "..", filepath.FromSlash(name))
		old, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		fresh := block.ReplaceAllStringFunc(string(old), func(s string) string {
			found++
			args := block.FindStringSubmatch(s)[1]
			stdout, stderr, code := call(t, strings.Fields(args)...)
			if code != 0 {
				t.Errorf("%s: rehome %s: exit %d: %s", name, args, code, stderr)
			}
			return fmt.Sprintf("<!-- rehome %s -->\n```text\n%s```\n<!-- end -->", args, stdout)
		})
		fresh = cases.ReplaceAllStringFunc(fresh, func(s string) string {
			found++
			name := cases.FindStringSubmatch(s)[1]
			return fmt.Sprintf("<!-- transcript %s -->\n```text\n%s```\n<!-- end -->", name, transcript(t, name))
		})
		fresh = rules.ReplaceAllStringFunc(fresh, func(string) string {
			found++
			return "<!-- rules -->\n" + ruleTable() + "<!-- end -->"
		})
		fresh = losses.ReplaceAllStringFunc(fresh, func(string) string {
			found++
			return "<!-- losses -->\n" + lossTable() + "<!-- end -->"
		})
		fresh = repairs.ReplaceAllStringFunc(fresh, func(string) string {
			found++
			return "<!-- repairs -->\n" + repairTable() + "<!-- end -->"
		})
		fresh = kept.ReplaceAllStringFunc(fresh, func(string) string {
			found++
			return "<!-- clients -->\n" + clientTable(t) + "<!-- end -->"
		})
		if fresh == string(old) {
			continue
		}
		if !golden.Updating() {
			t.Errorf("%s shows what the program no longer prints; make golden rewrites it\n%s", name, golden.Diff(old, []byte(fresh)))
			continue
		}
		if err := os.WriteFile(path, []byte(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Logf("golden: %s rewritten", name)
	}
	if found != 29 {
		t.Errorf("%d blocks found in README and docs, want the format table, 18 pages of help, five transcripts, the rules, the repairs, the losses and the clients", found)
	}
}

// guides are the README and all of docs.
func guides(t *testing.T) []string {
	t.Helper()
	out := []string{"README.md"}
	docs, err := filepath.Glob(filepath.Join("..", "..", "..", "docs", "*.md"))
	if err != nil || len(docs) < 8 {
		t.Fatalf("%q, %v", docs, err)
	}
	for _, path := range docs {
		out = append(out, "docs/"+filepath.Base(path))
	}
	return out
}

// transcript is a command case as a screen would show it, in the home of ann.
func transcript(t *testing.T, name string) string {
	t.Helper()
	list, err := filepath.Glob(golden.Path(t, "*/"+name+".txt"))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	text, err := os.ReadFile(list[0])
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	ann := strings.NewReplacer("$ HOME=home ", "$ ", "REHOME_FORCE_TTY=80x24 ", "", "COLUMNS=160 ", "", "cd ~ann", "cd ~", "cd ~ben", "cd ~", "$WORK/ann/app, /home/ann/app", "/home/ann/app", "$WORK/ann", "/home/ann", "$WORK/ben", "/home/ben", "$WORK/home", "/home/ann", "$SLUG-home", "-home-ann")
	for line := range strings.Lines(ann.Replace(string(text))) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "$ client") {
			continue
		}
		if remark, shown := strings.CutPrefix(line, "## "); shown {
			line = "# " + remark
			if out.Len() > 0 {
				line = "\n" + line
			}
		}
		for _, mark := range []string{"2| ", "2|", "| ", "|"} {
			if rest, ok := strings.CutPrefix(line, mark); ok {
				line = rest
				break
			}
		}
		out.WriteString(line + "\n")
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

// ruleTable is every rule with all that is to be said of it, by layers.
func ruleTable() string {
	var out strings.Builder
	layer := ""
	escape := strings.NewReplacer("|", "\\|", "<", "&lt;", "*", "\\*", "_", "\\_", "`", "\\`")
	for _, r := range rule.All() {
		if r.Layer.String() != layer {
			layer = r.Layer.String()
			fmt.Fprintf(&out, "\n### %s\n\n| rule | what is wrong, and why that matters | what to do |\n|---|---|---|\n", layer)
		}
		of := strings.Join(r.Formats, ", ")
		if of == "*" {
			of = "all"
		}
		fmt.Fprintf(&out, "| %s %s<br>%s | **%s.** %s | %s |\n", r.ID, r.Severity, of, escape.Replace(r.Title), escape.Replace(r.Why), escape.Replace(r.Fix))
	}
	return out.String() + "\n"
}

// repairTable is how the findings of each rule are repaired.
func repairTable() string {
	var out strings.Builder
	fmt.Fprint(&out, "\n| rule | what is wrong | repair | lost | formats |\n|---|---|---|---|---|\n")
	escape := strings.NewReplacer("|", "\\|", "<", "&lt;", "*", "\\*", "_", "\\_")
	for _, w := range repair.Ways() {
		does, loses := escape.Replace(w.Does), escape.Replace(w.Loses)
		if len(w.Formats) == 0 {
			does, loses = "none: "+does, ""
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s |\n", w.Rule.ID, escape.Replace(w.Rule.Title), does, loses, strings.Join(w.Formats, ", "))
	}
	return out.String() + "\n"
}

// lossTable lists the losses by area.
func lossTable() string {
	var out strings.Builder
	area := byte(0)
	escape := strings.NewReplacer("|", "\\|", "<", "&lt;", "*", "\\*", "_", "\\_")
	for _, l := range loss.All() {
		if l.Code[1] != area {
			area = l.Code[1]
			fmt.Fprintf(&out, "\n## %s\n\n| code | kind | consequence | loss | meaning |\n|---|---|---|---|---|\n", loss.Areas()[area-'0'])
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s |\n", l.Code, l.Kind, l.Consequence, escape.Replace(l.One), escape.Replace(l.Means))
	}
	return out.String() + "\n"
}

// TestGuardsExist: the tests that the guides name as guards are there.
func TestGuardsExist(t *testing.T) {
	named := regexp.MustCompile("`([a-z/-]+)/(Test[A-Za-z]+)`")
	root := filepath.Dir(golden.Path(t, ""))
	for _, name := range []string{"SECURITY.md", "CONTRIBUTING.md"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		guards := named.FindAllStringSubmatch(string(text), -1)
		if len(guards) < 8 {
			t.Errorf("%s names %d tests", name, len(guards))
		}
		for _, g := range guards {
			files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(g[1]), "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(files, func(path string) bool {
				code, err := os.ReadFile(path)
				return err == nil && strings.Contains(string(code), "\nfunc "+g[2]+"(")
			}) {
				t.Errorf("%s names %s, which is not in %s", name, g[2], g[1])
			}
		}
	}
}

package cli

import (
	"bytes"
	"strings"
	"testing"
)

// TestNames: another program with rehome's commands names itself in messages, hints and help, and
// changes nothing else in them.
func TestNames(t *testing.T) {
	p := Program{Name: "rehome-x", About: "Test."}
	for text, want := range map[string]string{
		"run `rehome ls` or `rehome  ls`":         "run `rehome-x ls` or `rehome  ls`",
		"rehome help lists them":                  "rehome-x help lists them",
		"rehome reads files only":                 "rehome reads files only",
		"see ~/my rehome ls/x, `rehome.json`":     "see ~/my rehome ls/x, `rehome.json`",
		"`rehome lsx`, `rehome-fleet ls`, rehome": "`rehome lsx`, `rehome-fleet ls`, rehome",
	} {
		if got := p.own(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := Rehome().own(text); got != text {
			t.Errorf("rehome itself: %q", got)
		}
	}
	p.Schemes = []string{"claude+s3", "postgres"}
	for scheme, hint := range map[string]string{"postgress": "did you mean postgres", "mongodb": "addresses begin with claude+s3://, postgres://", "postgres": "`rehome-x convert ADDRESS FOLDER`"} {
		var out bytes.Buffer
		code := Run(t.Context(), p, []string{"ls", scheme + "://ann:s3cret@h/db"}, &out, &out, func(string) string { return "" })
		if code != 2 || !strings.Contains(out.String(), hint) || strings.Contains(out.String(), "s3cret") {
			t.Errorf("%s: exit %d\n%s", scheme, code, out.String())
		}
	}
	for line, want := range map[string][2]string{
		"nonsense":                     {"rehome: unknown command", "hint: run `rehome help` to list"},
		"convert":                      {"rehome: convert: SRC is missing", ""},
		"show no-such-session":         {"rehome: no-such-session: ", "`rehome ls`"},
		"show x --frob":                {"rehome: show: unknown flag", "`rehome help show`"},
		"show x --frob --json":         {"unknown flag", "`rehome help show`"},
		"show x --html":                {"unknown flag --html", "did you mean --format html?"},
		"migrate x --to gemini-cli":    {"(one of claude-code, ", "deletes a session after it has resumed it"},
		"help help":                    {"Usage: rehome COMMAND", ""},
		"backup --print-schedule nope": {"invalid value \"nope\" (one of cron, ", ""},
		"help convert":                 {"\n  rehome convert store.db chat --to archive", "Usage: rehome convert"},
		"man":                          {"rehome convert store.db chat", ".SS rehome convert"},
	} {
		var text [2]string
		for i, program := range []Program{Rehome(), p} {
			var out bytes.Buffer
			home := t.TempDir()
			Run(t.Context(), program, strings.Fields(line), &out, &out,
				func(name string) string { return map[string]string{"HOME": home, "USERPROFILE": home}[name] })
			text[i] = strings.ReplaceAll(out.String(), home, "")
		}
		for _, part := range want {
			renamed := strings.ReplaceAll(part, "rehome", "rehome-x")
			if !strings.Contains(text[0], part) || !strings.Contains(strings.ReplaceAll(text[1], "\\-", "-"), renamed) {
				t.Errorf("%s: want %q in\n%s\nand %q in\n%s", line, part, text[0], renamed, text[1])
			}
		}
	}
}

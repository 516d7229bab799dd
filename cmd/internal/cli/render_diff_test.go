package cli

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rehome/cmd/internal/clitest"
	"rehome/cmd/internal/screen"
	"rehome/convert/diff"
)

// TestDifferingWords: marked are the words that differ, in lines that are alike.
func TestDifferingWords(t *testing.T) {
	cut := func(s screen.Safe, spans [][2]int) string {
		out, at := "", 0
		for _, w := range spans {
			out, at = out+string(s[at:w[0]])+"["+string(s[w[0]:w[1]])+"]", w[1]
		}
		return out + string(s[at:])
	}
	for _, c := range []struct{ a, b, x, y screen.Safe }{
		{"run it in ten minutes", "run it in two minutes", "run it in [ten] minutes", "run it in [two] minutes"},
		{"about one run in ten, always", "about every run in ten, always", "about [one] run in ten, always", "about [every] run in ten, always"},
		{"a long enough line", "a long enough line!", "a long enough line", "a long enough line[!]"},
		{"keep this, change two words here", "keep this, alter three words here", "keep this, [change two] words here",
			"keep this, [alter three] words here"},
		{"größer als 10 €, nicht mehr", "größer als 12 €, nicht mehr", "größer als [10] €, nicht mehr", "größer als [12] €, nicht mehr"},
		{"nothing alike", "of this line", "nothing alike", "of this line"},
		{"", "added", "", "added"},
		{screen.Repeat("a b ", 1000) + "c" + screen.Repeat(" d", 1000), screen.Repeat("a b ", 1000) + "e" + screen.Repeat(" d", 1000),
			screen.Repeat("a b ", 1000) + "[c]" + screen.Repeat(" d", 1000), screen.Repeat("a b ", 1000) + "[e]" + screen.Repeat(" d", 1000)},
		{screen.Repeat("a", 9000) + " b", screen.Repeat("a", 9000) + " c", screen.Repeat("a", 9000) + " b", screen.Repeat("a", 9000) + " c"},
	} {
		x, y := differingWords(c.a, c.b)
		if cut(c.a, x) != string(c.x) || cut(c.b, y) != string(c.y) {
			t.Errorf("%.80q\n%.80q", cut(c.a, x), cut(c.b, y))
		}
	}
}

// TestDiffColors: with and without colors, and marks, the same text is printed. What is not
// inverse of both lines is the same.
func TestDiffColors(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	line := func() (out screen.Safe) {
		for range rng.IntN(40) {
			out += []screen.Safe{"a", "word ", " ", "\t", "- ", "é", "quite-a-long-word ", "(x)", "世界"}[rng.IntN(9)]
		}
		return out
	}
	plain := strings.NewReplacer("\x1b[31m", "", "\x1b[32m", "", "\x1b[7;31m", "", "\x1b[7;32m", "", "\x1b[2m", "", "\x1b[36m", "", "\x1b[0m",
		"")
	spaces := regexp.MustCompile(` +\n`)
	marked := 0
	for range 500 {
		var lines []diffLine
		for range rng.IntN(6) {
			a, b := line(), line()
			lines = append(lines, diffLine{level: 3, mark: '-', text: a + "one " + b},
				diffLine{level: 3, mark: []byte("+- ")[rng.IntN(3)], text: a + "two " + b}, diffLine{level: rng.IntN(4), mark: ' ', text: a})
		}
		print := func(colors screen.Palette) string {
			var out bytes.Buffer
			p := &diffPage{Page: screen.NewPage(&out, colors)}
			p.Width = 20
			for _, l := range lines {
				p.put(l)
			}
			p.flush()
			return out.String()
		}
		colored := print(true)
		marked += strings.Count(colored, "\x1b[7;31mone\x1b[0m")
		if got := print(false); spaces.ReplaceAllString(plain.Replace(colored), "\n") != got {
			t.Fatalf("%.900q\n%.900q", colored, got)
		}
	}
	if marked < 100 {
		t.Errorf("marked %d words", marked)
	}
}

// TestMoreMembers: members that are not listed are counted, in every form.
func TestMoreMembers(t *testing.T) {
	some := diff.Fields{List: []diff.Field{{Name: "a", Before: "1", After: "2"}}, More: 3}
	s := &diff.Session{Before: &diff.Place{}, After: &diff.Place{}, Fields: some, Details: []diff.Details{{Turn: 1, Fields: some}}}
	var text bytes.Buffer
	p := &diffPage{Page: screen.NewPage(&text, false)}
	(&diffView{cmd: &diffCmd{}}).session(s, p.put)
	one, err := indented(newDiffSession(s), "")
	if err != nil || strings.Count(text.String(), "a: 1 -> 2\n") != 2 || strings.Count(text.String(), "and 3 more members\n") != 2 ||
		strings.Count(string(one), `"more_members": 3`) != 2 {
		t.Errorf("%v, %s\n%s", err, text.String(), one)
	}
	text.Reset()
	newExactResult(&diff.Exact{Changed: 1, Stores: []*diff.Store{{Before: &diff.Place{}, After: &diff.Place{},
		Rows: []diff.Row{{Change: "changed", Cells: some}}}}}, false).Text(p.Page)
	if !strings.Contains(text.String(), "a: 1 -> 2\n    and 3 more members\n") {
		t.Error(text.String())
	}
}

// TestDiffLong: of texts that are too long, the lengths and the first line that differs
// are printed.
func TestDiffLong(t *testing.T) {
	dir := t.TempDir()
	put := func(name, word string) string {
		lines := strings.Repeat(`a line\n`, 50000)
		clitest.Write(t, `{"type":"session","version":1,"id":"s","agent":"cursor-cli"}
{"type":"message","id":"u","role":"user","turn":{"number":1},"parts":[{"type":"text","text":"one\nthe `+word+` line\n`+lines+`"}]}
{"type":"message","id":"a","role":"assistant","parts":[{"type":"tool_call","id":"c","name":"Write","kind":"write","args":{"content":"`+
			lines+word+`"}}]}
{"type":"message","id":"t","role":"tool","parts":[{"type":"tool_result","call":"c","content":[{"type":"text","text":"`+lines+word+`"}]}]}
`, dir, name)
		return filepath.Join(dir, name)
	}
	a, b := put("a.jsonl", "old"), put("b.jsonl", "new")
	stdout, stderr, code := call(t, "diff", a, b)
	if want := `
    prompt  changed
      text: 350 kB in 50,002 lines -> 350 kB in 50,002 lines, not shown in
      full, first difference in line 2
      -the old line
      +the new line
    write  changed
      args: 400 kB in 1 line -> 400 kB in 1 line, not shown in full
      result.output: 350 kB in 50,001 lines -> 350 kB in 50,001 lines, not
      shown in full, first difference in line 50001
`; code != 4 || !strings.HasSuffix(stdout, want) {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	stdout, _, _ = call(t, "diff", a, b, "--json")
	checkJSON(t, []string{"diff"}, []byte(stdout))
	if !strings.Contains(stdout, `"first_line": 50001`) {
		t.Errorf("%.2000s", stdout)
	}
}

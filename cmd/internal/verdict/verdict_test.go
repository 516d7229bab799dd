package verdict

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode"

	"rehome/cmd/internal/screen"
	"rehome/convert/check"
	"rehome/formats"
	"rehome/formats/rule"
	"rehome/formats/store"
	"rehome/schemas"
)

// judged is the verdict on one store per list of findings, each a file of its
// own in the working directory.
func judged(t *testing.T, failOn rule.Severity, findings map[string][]rule.Finding, fails ...string) *Verdict {
	t.Helper()
	t.Chdir(t.TempDir())
	var paths []string
	for name := range findings {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("fake"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	paths = append(paths, ".")
	fake := &formats.Format{
		Name: "fake",
		Probe: func(context.Context, *formats.Location) (m formats.Match, _ error) {
			return formats.Match{Score: 90}, nil
		},
	}
	fake.Probe = func(_ context.Context, l *formats.Location) (m formats.Match, _ error) {
		if l.IsRegular() {
			m.Score = 90
		}
		return m, nil
	}
	fake.Check = func(_ context.Context, l *formats.Location, _ formats.View, q *rule.Pass) error {
		for _, f := range findings[filepath.ToSlash(l.Path)] {
			q.Report(f)
		}
		for _, name := range fails {
			if name == filepath.ToSlash(l.Path) {
				return &formats.Error{At: l.Path, Err: errors.New("disk\x1b[2J <&>"), Hint: "another disk"}
			}
		}
		return nil
	}
	r, err := check.Check(t.Context(), formats.NewRegistry(fake), check.Options{Paths: paths, Layers: rule.Container | rule.Schema | rule.References | rule.Meaning})
	if err != nil {
		t.Fatal(err)
	}
	return &Verdict{Report: r, FailOn: failOn, Version: "v1"}
}

// evil is what a store could call itself to act on whoever reads of it.
const evil = "e:v,i%l |`*_[x](y)<b>&\"'\x1b[2J\u202e\r\x00@you #3 ::error::]]>\xff"

func wild() map[string][]rule.Finding {
	at := store.Addr{File: evil, Set: "t|b", RowID: 7, HasID: true, Key: store.TextCell([]byte("k\n<" + evil))}
	line := store.Addr{Line: 12}
	return map[string][]rule.Finding{
		"a b/100%.x": {{Rule: "RH301", At: line, Pointer: "/a\nb", Message: evil}, {Rule: "RH301", At: store.Addr{Line: 3}, Message: "x"}, {Rule: "RH201", At: at, Message: evil}},
		"c.x":        {{Rule: "RH203", At: at, Message: evil}},
		"d.x":        nil,
	}
}

func rendered(t *testing.T, f func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func tame(t *testing.T, what, s string) {
	t.Helper()
	for _, r := range s {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			t.Errorf("%s lets %U through", what, r)
		}
	}
}

func TestText(t *testing.T) {
	v := judged(t, rule.Warning, wild(), "c.x")
	for _, width := range []int{40, 60, 0, 100, 500} {
		v.Width = width
		got := rendered(t, func(w io.Writer) error { return v.Text(w, false) })
		tame(t, "text", got)
		for line := range strings.Lines(got) {
			if n := screen.Cells(screen.Safe(strings.TrimRight(line, "\n"))); n > min(cmp.Or(width, 80), 120) {
				t.Errorf("%d of %d columns: %s", n, width, line)
			}
		}
	}
	v.Width = 0
	got := rendered(t, func(w io.Writer) error { return v.Text(w, false) })
	for _, want := range []string{
		"✗ a b/100%.x  fake, 4 B, 1 note\n  error RH301 " + rule.Lookup("RH301").Title + "\n    a b/100%.x:3: x\n    100%.x:12: /a\\nb: e:v", "\n\n✓ 1 store ok\n\n✗ 3",
		"not fully examined\n    c.x: disk\\x1b[2J <&>\n    hint: another disk\n", "✗ 3 stores, 12 B: 3 errors, 1 note, 1 not examined (--notes lists notes)\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if v.FailingCount() != 3 || v.WorstRule() != "RH203" && v.WorstRule() != "RH301" {
		t.Errorf("%d count, the first is %s", v.FailingCount(), v.WorstRule())
	}
	v.Notes = true
	if got := rendered(t, func(w io.Writer) error { return v.Text(w, true) }); !strings.Contains(got, "note\x1b[0m RH201") || strings.Contains(got, "--notes") {
		t.Error(got)
	}
	v.FailOn = rule.Error + 1
	if got := rendered(t, func(w io.Writer) error { return v.Text(w, false) }); !strings.Contains(got, "! a b/100%.x") {
		t.Errorf("findings below --fail-on fail the check:\n%s", got)
	}
}

// TestOK: stores without findings are one line, or a line each with -v.
func TestOK(t *testing.T) {
	many := map[string][]rule.Finding{}
	for i := range 30 {
		many[fmt.Sprintf("%02d.x", i)] = nil
	}
	v := judged(t, rule.Warning, many)
	if got := rendered(t, func(w io.Writer) error { return v.Text(w, false) }); got != "✓ 30 stores, 120 B: ok\n" {
		t.Error(got)
	}
	v.Verbose = true
	if got := rendered(t, func(w io.Writer) error { return v.Text(w, false) }); strings.Count(got, "\n") != 31 || !strings.HasPrefix(got, "✓ 00.x  fake, 4 B\n✓ 01.x") {
		t.Error(got)
	}
	v = judged(t, rule.Warning, nil)
	v.Skipped = 2
	if got := rendered(t, func(w io.Writer) error { return v.Text(w, false) }); got != "! .: no sessions found\n! no sessions found, 2 paths skipped\n" {
		t.Error(got)
	}
}

// TestManyStores: a rule with findings in several stores is listed once, with all of them
// or, if there are many, with the first; a store that violates another rule, too, is listed with that.
func TestManyStores(t *testing.T) {
	many := map[string][]rule.Finding{}
	for i := range manyStores + 1 {
		many[fmt.Sprintf("%02d.x", i)] = []rule.Finding{{Rule: "RH203", At: store.Addr{Line: 7}, Message: "why"}, {Rule: "RH203", At: store.Addr{Line: 8}}}
	}
	many["05.x"] = append(many["05.x"], rule.Finding{Rule: "RH301", At: store.Addr{Set: "t", RowID: 3, HasID: true}})
	v := judged(t, rule.Warning, many)
	title := rule.Lookup("RH203").Title
	got := rendered(t, func(w io.Writer) error { return v.Text(w, false) })
	want := "✗ 05.x  fake, 4 B\n  error RH301 " + rule.Lookup("RH301").Title + "\n    t#3\n    fix: " + rule.Lookup("RH301").Fix + "\n\n" +
		"✗ error RH203 " + title + "\n  22 findings in 11 stores, such as these (-v lists all):\n    00.x:7: why\n    01.x:7: why\n    02.x:7: why\n    fix: "
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "\n\n✗ 11 stores, 44 B: 23 errors\n") {
		t.Errorf("%s\nis not\n%s", got, want)
	}
	v.Verbose = true
	if got := rendered(t, func(w io.Writer) error { return v.Text(w, false) }); strings.Count(got, title) != manyStores+1 {
		t.Error(got)
	}
	delete(many, "05.x")
	if got := rendered(t, func(w io.Writer) error { return judged(t, rule.Warning, many).Text(w, false) }); strings.Count(got, title) != 1 || !strings.Contains(got, "20 findings in 10 stores:\n    00.x:7: why\n    00.x:8\n    01.x:7: why\n") {
		t.Error(got)
	}
}

// TestPlacesInTables: a place in a table of one of several stores names the file in full.
func TestPlacesInTables(t *testing.T) {
	list := []rule.Finding{{Rule: "RH301", At: store.Addr{File: "agents/a/store.db", Set: "blobs", RowID: 3, HasID: true}}}
	v := judged(t, rule.Warning, map[string][]rule.Finding{"a.x": list, "b.x": list})
	got := rendered(t, func(w io.Writer) error { return v.Text(w, false) })
	if want := ":\n    a.x/agents/a/store.db/blobs#3\n    b.x/agents/a/store.db/blobs#3\n    fix: "; !strings.Contains(got, want) {
		t.Error(got)
	}
}

// TestTSV: a line for each finding, whatever names hold.
func TestTSV(t *testing.T) {
	list := []rule.Finding{{Rule: "RH203", At: store.Addr{Line: 1234}, Message: "a\tb\nc"}, {Rule: "RH301", At: store.Addr{Set: "blobs", RowID: 3, HasID: true}}}
	v := judged(t, rule.Warning, map[string][]rule.Finding{"a\t.x": list})
	got := rendered(t, func(w io.Writer) error { return v.TSV(w, "") })
	want := `a\t.x` + "\t1234\terror\tRH203\t" + rule.Lookup("RH203").Title + `: a\tb; c` + "\n" + `a\t.x` + "\tblobs#3\terror\tRH301\t" + rule.Lookup("RH301").Title + "\n"
	if got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// TestInert: no path and no reason is a command to who runs a build.
func TestInert(t *testing.T) {
	long := "::error file=" + strings.Repeat("x", 70) + "/##[error]y"
	v := judged(t, rule.Warning, map[string][]rule.Finding{
		"::error::a": nil, "##[error]b": nil, long: {{Rule: "RH203", At: store.Addr{Line: 1}, Message: "::warning::c"}},
	})
	v.Verbose = true
	got := rendered(t, func(w io.Writer) error { return v.Text(w, false) })
	for line := range strings.Lines(got) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
			t.Errorf("a command: %s", line)
		}
	}
	for _, want := range []string{"✓ ::error::a  fake, 4 B\n", "✓ #\\x23[error]b  fake", "    ./::error file=x", "      ./::warning::c\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// TestPlaces: other reasons have a line each, further places one together.
func TestPlaces(t *testing.T) {
	list := []rule.Finding{}
	for i, why := range []string{"x", "x", "y", "x", "y", "z", "x", "x"} {
		list = append(list, rule.Finding{Rule: "RH203", At: store.Addr{Line: i + 1}, Message: why})
	}
	v := judged(t, rule.Warning, map[string][]rule.Finding{"a.x": list, "b.x": list[:2]})
	got := rendered(t, func(w io.Writer) error { return v.Text(w, false) })
	for _, want := range []string{
		"error RH203 " + rule.Lookup("RH203").Title + "\n  10 findings in 2 stores:\n    a.x:1: x\n    a.x:3: y\n    a.x:6: z\n    +5 more: a.x:2, a.x:4, a.x:5, a.x:7, a.x:8\n" +
			"    b.x:1: x\n    +1 more: b.x:2\n    fix: ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// TestSARIF holds what is printed against the schema of the standard.
func TestSARIF(t *testing.T) {
	text, err := os.ReadFile("testdata/sarif-2.1.0.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	official, err := schemas.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	if official.Validate([]byte(`{"version":"2.1.0","runs":[{}]}`)) == nil {
		t.Error("the schema takes anything")
	}
	for name, v := range map[string]*Verdict{"wild": judged(t, rule.Note, wild(), "d.x"), "none": judged(t, rule.Note, nil)} {
		doc, err := json.Marshal(v.SARIF("/nowhere"))
		if err != nil {
			t.Fatal(err)
		}
		if err := official.Validate(doc); err != nil {
			t.Errorf("%s: %v\n%s", name, err, doc)
		}
	}
	v := judged(t, rule.Note, wild(), "d.x")
	doc, err := json.Marshal(v.SARIF(""))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"artifactLocation":{"uri":"a%20b/100%25.x"},"region":{"startLine":3}}}],"partialFingerprints":{"rehomePlace/v2":"`,
		`"level":"note"`, `"executionSuccessful":false`, `"ruleIndex":1`, `"fullyQualifiedName":"t|b#7 (k\\n`,
	} {
		if !strings.Contains(string(doc), want) {
			t.Errorf("%s is not in\n%s", want, doc)
		}
	}
	index := regexp.MustCompile(`"ruleId":"(RH\d+)","ruleIndex":(\d+)`)
	rules := regexp.MustCompile(`\{"id":"(RH\d+)"`).FindAllStringSubmatch(string(doc), -1)
	for _, m := range index.FindAllStringSubmatch(string(doc), -1) {
		if n := int(m[2][0] - '0'); rules[n][1] != m[1] {
			t.Errorf("%s stands at %d, where %s is", m[1], n, rules[n][1])
		}
	}
}

func TestURI(t *testing.T) {
	for in, want := range map[string]string{
		"a/b.x": "a/b.x", "a b#?%.x": "a%20b%23%3F%25.x", "c:d/e": "./c:d/e", "é": "%C3%A9", "../up": "../up", "\xff": "%FF",
	} {
		if runtime.GOOS == "windows" && in == "c:d/e" {
			continue
		}
		if got := uri(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	if runtime.GOOS != "windows" {
		for in, want := range map[string]string{"/w/d/a.x": "a.x", "/w/other/a b": "/w/other/a b", "./a//b": "a/b"} {
			if got := slashPath(in, "/w/d"); got != want {
				t.Errorf("%q: %s, want %s", in, got, want)
			}
		}
		if got := uri("/w/a b"); got != "file:///w/a%20b" {
			t.Error(got)
		}
	}
}

// TestJUnit: the report is XML that says of each store and rule whether it
// held, and no two cases have one name.
func TestJUnit(t *testing.T) {
	v := judged(t, rule.Warning, wild(), "d.x")
	got := rendered(t, func(w io.Writer) error { return v.JUnit(w, "") })
	tame(t, "junit", got)
	var back junitSuites
	if err := xml.Unmarshal([]byte(got), &back); err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	if back.Failures != 2 || back.Errors != 1 || len(back.Suites) != 3 || back.Suites[0].Name != "a b/100%.x" {
		t.Errorf("%+v", back)
	}
	names, tests := map[string]bool{}, 0
	for _, s := range back.Suites {
		failures := 0
		for _, c := range s.Cases {
			if names[string(c.Class+"\x00"+c.Name)] {
				t.Errorf("%s %s: twice", c.Class, c.Name)
			}
			names[string(c.Class+"\x00"+c.Name)] = true
			tests++
			if c.Failure != nil {
				failures++
			}
		}
		if failures != s.Failures || len(s.Cases) != s.Tests {
			t.Errorf("%s: %d of %d", s.Name, failures, s.Failures)
		}
	}
	if tests != back.Tests || !strings.Contains(got, "a b/100%.x:3: x&#xA;a b/100%.x:12: /a\\nb: e:v,i%l |`*_[x](y)&lt;b&gt;&amp;&#34;&#39;\\x1b[2J") {
		t.Errorf("%d tests\n%s", tests, got)
	}
	if tests != 3+2 {
		t.Errorf("%d cases: one per store, and one per rule with findings that are listed", tests)
	}
	if strings.Contains(got, "<system-out>") {
		t.Error("notes are told, and nobody asked for them")
	}
	v.Notes = true
	if got := rendered(t, func(w io.Writer) error { return v.JUnit(w, "") }); !strings.Contains(got, "<system-out>") {
		t.Error("notes are not told")
	}
}

// TestGitHub: every line is one command, and nothing foreign ends it.
func TestGitHub(t *testing.T) {
	v := judged(t, rule.Note, wild(), "d.x")
	got := rendered(t, func(w io.Writer) error { return v.GitHub(w, "") })
	tame(t, "github", got)
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	command := regexp.MustCompile(`^::(error|warning|notice) file=[^:,]*(,line=\d+)?,title=[^:,]*::.*$`)
	for _, l := range lines[:len(lines)-1] {
		if !command.MatchString(l) {
			t.Errorf("%q", l)
		}
	}
	if len(lines) != 5 || lines[4] != "3 errors, 1 note, 1 not examined" {
		t.Errorf("%q", lines)
	}
	if want := "::error file=a b/100%25.x,line=3,title=RH301 "; !strings.HasPrefix(lines[1], want) || !strings.Contains(lines[1], "::x%0A+1 more in a b/100%25.x%0A"+rule.Lookup("RH301").Fix) {
		t.Errorf("%q", lines[1])
	}
	if !strings.HasPrefix(lines[3], "::notice file=") || !strings.Contains(lines[3], `e%3Av%2Ci%25l |`) {
		t.Errorf("%q", lines[3])
	}
}

// TestAnnotationCap: GitHub shows ten of a kind, and the tenth says that there
// are more; errors never give way to warnings.
func TestAnnotationCap(t *testing.T) {
	many := map[string][]rule.Finding{}
	for i := range 14 {
		many[fmt.Sprintf("%02d.x", i)] = []rule.Finding{{Rule: "RH301"}}
	}
	v := judged(t, rule.Note, many)
	lines := strings.Split(rendered(t, func(w io.Writer) error { return v.GitHub(w, "") }), "\n")
	if len(lines) != 16 || !strings.Contains(lines[9], "does not show 4 more") || strings.Contains(lines[8], "does not show") {
		t.Errorf("%q", lines)
	}
}

// TestMarkdown: a row a breach, and nothing foreign is markup.
func TestMarkdown(t *testing.T) {
	v := judged(t, rule.Note, wild(), "d.x")
	got := rendered(t, func(w io.Writer) error { return v.Markdown(w, "") })
	tame(t, "markdown", got)
	rows := 0
	for line := range strings.Lines(got) {
		if strings.HasPrefix(line, "| ") && strings.Contains(line, "RH") {
			rows++
			if n := strings.Count(line, "|"); n != 6 {
				t.Errorf("%d bars: %s", n, line)
			}
		}
	}
	bare := regexp.MustCompile(`</?code>|<br>|<!-- -->|&#\d+;`).ReplaceAllString(got, "")
	if rows != 3 || strings.ContainsAny(bare, "<>&`*_[]\\@") || !strings.Contains(got, "<code>a b/100%.x&#58;3</code> +1 more") {
		t.Errorf("%d rows\n%s", rows, got)
	}
	if !strings.HasPrefix(got, "### rehome check&#58; 3 errors") && !strings.HasPrefix(got, "### rehome check: 3 errors") {
		t.Error(got)
	}
}

// TestJSON: the result is what its schema says, whatever a store calls itself.
func TestJSON(t *testing.T) {
	for _, v := range []*Verdict{judged(t, rule.Note, wild(), "d.x"), judged(t, rule.Error, nil)} {
		doc, err := json.Marshal(v.Result([]string{"container"}))
		if err != nil {
			t.Fatal(err)
		}
		if err := schemas.Validate("check-result-1", doc); err != nil {
			t.Errorf("%v\n%s", err, doc)
		}
	}
}

package check

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"rehome/formats/rule"
	"rehome/formats/store"
	"rehome/schemas"
)

// TestFingerprint: a fingerprint hashes what a finding is about, not how it is
// worded.
func TestFingerprint(t *testing.T) {
	keyed := func(row int64, key string) store.Addr {
		return store.Addr{File: "a.db", Set: "runs", RowID: row, HasID: true, Key: store.TextCell([]byte(key))}
	}
	long := strings.Repeat("k", 100)
	base := rule.Finding{Rule: "RH316", At: keyed(1, long+"1"), Pointer: "/a", Message: "run %q, %v", Args: []any{"x", rule.Count(3, "event")}}
	same := map[string]func(*rule.Finding){
		"other words":       func(f *rule.Finding) { f.Message = "%q lost %v" },
		"another amount":    func(f *rule.Finding) { f.Args = []any{"x", rule.Count(4, "event")} },
		"words of an error": func(f *rule.Finding) { f.Args = append(f.Args, fmt.Errorf("why"), rule.Words("so")) },
		"another row id":    func(f *rule.Finding) { f.At = keyed(2, long+"1") },
	}
	other := map[string]func(*rule.Finding){
		"another rule":    func(f *rule.Finding) { f.Rule = "RH312" },
		"another name":    func(f *rule.Finding) { f.Args = []any{"y", rule.Count(3, "event")} },
		"another pointer": func(f *rule.Finding) { f.Pointer = "/b" },
		"another key":     func(f *rule.Finding) { f.At = keyed(1, long+"2") },
		"another table":   func(f *rule.Finding) { f.At.Set = "events" },
		"another file":    func(f *rule.Finding) { f.At.File = "b.db" },
		"a row id alone":  func(f *rule.Finding) { f.At.Key = store.Cell{} },
		"a line":          func(f *rule.Finding) { f.At = store.Addr{File: "a.db", Line: 1} },
	}
	want := fingerprint("cursor-sdk", &base)
	if fingerprint("cursor-chat", &base) == want {
		t.Error("stores of two kinds have one fingerprint")
	}
	for what, change := range same {
		f := base
		if change(&f); fingerprint("cursor-sdk", &f) != want {
			t.Errorf("%s: another fingerprint", what)
		}
	}
	seen := map[uint64]string{want: "the finding itself"}
	for what, change := range other {
		f := base
		change(&f)
		print := fingerprint("cursor-sdk", &f)
		if seen[print] != "" {
			t.Errorf("%s has the fingerprint of %s", what, seen[print])
		}
		seen[print] = what
	}
}

// TestFingerprintOfCauses: two causes for which a schema refuses one value are two
// findings, whatever words begin them.
func TestFingerprintOfCauses(t *testing.T) {
	seen := map[uint64]string{}
	for doc, schema := range map[string]string{
		`{}`:       `{"required":["id"]}`,
		`{"a":1}`:  `{"required":["role"]}`,
		`{"b":1}`:  `{"additionalProperties":false}`,
		`1`:        `{"type":"string"}`,
		`{"c":1}`:  `{"type":["string","null"]}`,
		`"x"`:      `{"enum":["a","b"]}`,
		`{"d":{}}`: `{"minProperties":2}`,
	} {
		f, err := schemas.Read([]byte(schema))
		if err != nil {
			t.Fatal(err)
		}
		causes := causesOf(f.Validate)([]byte(doc))
		if len(causes) != 1 || len(causes[0].Args) == 0 {
			t.Fatalf("%s: %v", schema, causes)
		}
		one := rule.Finding{Rule: ruleShape, At: store.Addr{File: "a.jsonl", Line: 3}, Message: causes[0].Message, Args: causes[0].Args}
		print := fingerprint("claude-code", &one)
		if seen[print] != "" {
			t.Errorf("%s has the fingerprint of %s", schema, seen[print])
		}
		seen[print] = schema
		if one.Message = "other words: %v"; fingerprint("claude-code", &one) != print {
			t.Error("other words: another fingerprint")
		}
	}
}

// TestBaselineOfWords: of a baseline of version 1 the number of findings
// counts, and it is replaced when it is written.
func TestBaselineOfWords(t *testing.T) {
	dir := t.TempDir()
	file := laid(t, dir+"/known.json", `{"rehome":"check-baseline","version":1,"known":[{"path":"in/a.x","rule":"RH301","places":["00ab00ab00ab00ab","00ab00ab00ab00ac"]},{"path":"in/b.x","rule":"RH301","count":3}]}`)
	laid(t, dir+"/in/a.x", "lint\nRH301 one\nRH301 two\nRH201 drift\n")
	laid(t, dir+"/in/b.x", "lint\nmany 4\n")
	b, err := ReadBaseline(file, true)
	if err != nil {
		t.Fatal(err)
	}
	r, got := checked(t, Options{Paths: []string{dir + "/in"}, Baseline: b})
	if !r.Baseline.CountsOnly || r.Baseline.Known != 5 || !strings.HasPrefix(got, "a.x RH201×1,:4 RH301×0+2\nb.x RH301×1+3,:1,:2,") {
		t.Errorf("%+v\n%s", r.Baseline, got)
	}
	if err := r.Baseline.Write(r, rule.Note); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(file)
	if r.Baseline.CountsOnly || !strings.Contains(string(text), `"version": 2`) {
		t.Errorf("%s", text)
	}
	if b, err = ReadBaseline(file, false); err != nil {
		t.Fatal(err)
	}
	if r, got = checked(t, Options{Paths: []string{dir + "/in"}, Baseline: b}); r.Baseline.CountsOnly || r.Baseline.Known != 7 || r.Count(rule.Error) > 0 {
		t.Errorf("%+v\n%s", r.Baseline, got)
	}
}

package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// lint is a format whose stores say themselves what is wrong with them: after
// its name, a rule and words a line.
func lint() *formats.Format {
	return &formats.Format{
		Name: "lint",
		// Files that are named like a store of some client are told.
		IsStoreName: func(path string) bool {
			return slices.ContainsFunc(all.Registry().All(), func(f *formats.Format) bool { return f.IsStoreName != nil && f.IsStoreName(path) })
		},
		Probe: func(_ context.Context, l *formats.Location) (m formats.Match, _ error) {
			if strings.HasPrefix(string(l.Head()), "lint\n") {
				m.Score = 90
			}
			return m, nil
		},
		Check: func(_ context.Context, l *formats.Location, _ formats.View, q *rule.Pass) error {
			b, err := os.ReadFile(l.Path)
			if err != nil {
				return err
			}
			for i, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")[1:] {
				id, says, _ := strings.Cut(line, " ")
				switch id {
				case "busy":
					return &formats.Error{At: l.Path, Err: formats.ErrBusy}
				case "vanish":
					return &os.PathError{Op: "open", Path: l.Path, Err: os.ErrNotExist}
				case "many":
					n, _ := strconv.Atoi(says)
					for k := range n {
						q.Reportf("RH301", store.Addr{File: l.Name(), Line: n - k}, "again")
					}
				default:
					q.Reportf(id, store.Addr{File: l.Name(), Line: i + 2}, "%s", says)
				}
			}
			return nil
		},
	}
}

const allLayers = rule.Container | rule.Schema | rule.References | rule.Meaning

// laid writes a file, and the folders above it.
func laid(t *testing.T, path, text string) string {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
		t.Fatal(err)
	}
	return path
}

// checked runs a check with the fake, and spells what was found.
func checked(t *testing.T, o Options) (*Report, string) {
	t.Helper()
	if o.Layers == 0 {
		o.Layers = allLayers
	}
	r, err := Check(t.Context(), formats.NewRegistry(lint()), o)
	if err != nil {
		t.Fatal(err)
	}
	return r, spelled(r)
}

func spelled(r *Report) string {
	var out []string
	for _, s := range r.Stores {
		line := filepath.Base(s.Path)
		for _, b := range s.Findings {
			line += fmt.Sprintf(" %s×%d", b.Rule.ID, b.Count)
			if b.Known > 0 {
				line += fmt.Sprintf("+%d", b.Known)
			}
			for _, p := range b.Places {
				line += "," + p.At.String()
			}
		}
		if s.Err != nil {
			line += " !" + s.Err.Error()
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func expectSpelled(t *testing.T, got string, want ...string) {
	t.Helper()
	if got != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}

// TestCheck: stores in the order of the walk, rules by their ids, places in the
// order of a reader, each store once, for any number of workers.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	laid(t, dir+"/a.x", "lint\nRH301 one\nRH203 two\nRH301 three\n")
	laid(t, dir+"/b/b.x", "lint\n")
	laid(t, dir+"/c.x", "lint\nRH201 drift\n")
	laid(t, dir+"/notes.txt", "no store\n")
	want := []string{"a.x RH203×1,:3 RH301×2,:2,:4", "b.x", "c.x RH201×1,:2"}
	for jobs := range 4 {
		r, got := checked(t, Options{Paths: []string{dir, dir + "/b", dir + "/a.x"}, Jobs: jobs})
		expectSpelled(t, got, want...)
		if r.Count(rule.Error) != 3 || r.Count(rule.Note) != 1 || r.Stores[0].Count(rule.Error) != 3 || r.Stores[0].Bytes != 37 {
			t.Errorf("%+v", r.Stores[0])
		}
	}
	_, got := checked(t, Options{Paths: []string{dir}, Rules: []string{"RH301", "RH201"}, Skip: []string{"RH201"}})
	expectSpelled(t, got, "a.x RH301×2,:2,:4", "b.x", "c.x")
	_, got = checked(t, Options{Paths: []string{dir}, Layers: rule.Schema})
	expectSpelled(t, got, "a.x RH203×1,:3", "b.x", "c.x RH201×1,:2")
}

// TestCheckMany: of a breach that is everywhere the first places are kept.
func TestCheckMany(t *testing.T) {
	dir := t.TempDir()
	laid(t, dir+"/a.x", "lint\nmany 3000\n")
	r, _ := checked(t, Options{Paths: []string{dir}})
	b := r.Stores[0].Findings[0]
	if b.Count != 3000 || len(b.Places) != maxPlaces || b.Places[0].At.Line != 1 || b.Places[99].At.Line != 100 || len(b.fingerprints) != maxFingerprints {
		t.Errorf("%d places, %d kept, the first %v", b.Count, len(b.Places), b.Places[0].At)
	}
}

// TestCheckFails: what could not be examined is in the report, and does not
// stop the others.
func TestCheckFails(t *testing.T) {
	dir := t.TempDir()
	laid(t, dir+"/a.x", "lint\nRH301 one\nbusy\n")
	laid(t, dir+"/b.x", "lint\nvanish\n")
	laid(t, dir+"/c.x", "lint\nRH301 one\n")
	r, got := checked(t, Options{Paths: []string{dir, dir + "/gone"}})
	expectSpelled(t, got, "a.x !"+dir+"/a.x: in use", "b.x !"+dir+"/b.x: moved or deleted during the check", "c.x RH301×1,:2", "gone !"+dir+"/gone: no such file or directory")
	if !errors.Is(r.Stores[0].Err, formats.ErrBusy) {
		t.Error("not busy any more")
	}
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, dir+"/missing")
	}
	if _, got := checked(t, Options{Paths: []string{dir + "/b.x"}}); strings.Contains(got, "vanished") {
		t.Errorf("the folder for temporary files is missing, not the store: %s", got)
	}
	// A folder need not hold any, unless that is asked for.
	t.Chdir(t.TempDir())
	laid(t, "src/main.go", "package main\n")
	for _, path := range []string{".", "src"} {
		for _, require := range []bool{false, true} {
			r, got := checked(t, Options{Paths: []string{path}, Require: require})
			if len(r.Stores) != 1 || (r.Stores[0].Err != nil) != require || !require && !slices.Equal(r.Stores[0].Remarks, []string{NoSessions}) {
				t.Errorf("require %v: %s", require, got)
			}
		}
	}
}

func TestCheckMisuse(t *testing.T) {
	for what, o := range map[string]Options{
		"no such rule: RH999":                      {Rules: []string{"RH999"}},
		"no such rule: x":                          {Skip: []string{"x"}},
		"nobody: unknown format":                   {From: "nobody"},
		"nothing: unknown format":                  {For: "nothing"},
		"lint: sessions cannot be written in this": {For: "lint"},
	} {
		_, err := Check(t.Context(), formats.NewRegistry(lint()), o)
		if err == nil || !strings.Contains(err.Error(), what) || formats.Hint(err) == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	laid(t, dir+"/a.x", "lint\n")
	if _, err := Check(ctx, formats.NewRegistry(lint()), Options{Paths: []string{dir}}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestBaseline: what is known does not count, what is new does, and what is
// gone is said.
func TestBaseline(t *testing.T) {
	dir := t.TempDir()
	file := dir + "/known.json"
	laid(t, dir+"/in/a.x", "lint\nRH301 one\nRH301 two\nRH201 drift\n")
	laid(t, dir+"/in/b.x", "lint\nmany 1500\n")
	run := func(write bool, paths ...string) (*Report, string) {
		b, err := ReadBaseline(file, write)
		if err != nil {
			t.Fatal(err)
		}
		return checked(t, Options{Paths: paths, Baseline: b})
	}
	if _, err := ReadBaseline(file, false); err == nil || formats.Hint(err) == "" {
		t.Error("a baseline that is not there was read")
	}
	r, _ := run(true, dir+"/in")
	if err := r.Baseline.Write(r, rule.Warning); err != nil {
		t.Fatal(err)
	}
	if r.Count(rule.Error) != 0 || r.Count(rule.Note) != 1 || r.Baseline.Known != 1502 {
		t.Errorf("after writing %d errors are new, %d known", r.Count(rule.Error), r.Baseline.Known)
	}
	first, _ := os.ReadFile(file)
	if !strings.Contains(string(first), `"path": "in/b.x",`) || strings.Contains(string(first), "RH201") || !strings.Contains(string(first), `"count": 1500`) {
		t.Errorf("%s", first)
	}
	r, got := run(false, dir+"/in")
	expectSpelled(t, got, "a.x RH201×1,:4 RH301×0+2", "b.x RH301×0+1500")
	if r.Baseline.Gone != 0 || r.Baseline.Known != 1502 {
		t.Errorf("%+v", r.Baseline)
	}

	// One is mended, one is new; of the many there is one more.
	laid(t, dir+"/in/a.x", "lint\nRH301 one\nRH301 other\n")
	laid(t, dir+"/in/b.x", "lint\nmany 1501\n")
	r, got = run(false, dir+"/in")
	if r.Baseline.Gone != 1 || r.Baseline.Known != 1501 || !strings.HasPrefix(got, "a.x RH301×1+1,:3\nb.x RH301×1+1500,:1,:2,") {
		t.Errorf("%+v\n%.100s", r.Baseline, got)
	}

	// What was not asked stays known.
	r, _ = run(true, dir+"/in/a.x")
	if r.Baseline.Gone != 1 {
		t.Errorf("gone: %d", r.Baseline.Gone)
	}
	if err := r.Baseline.Write(r, rule.Note); err != nil {
		t.Fatal(err)
	}
	_, got = run(false, dir+"/in")
	if !strings.HasPrefix(got, "a.x RH301×0+2\nb.x RH301×1+1500,") {
		t.Errorf("%.100s", got)
	}

	// A store that is gone.
	os.Remove(dir + "/in/b.x")
	if r, _ = run(true, dir+"/in"); r.Baseline.Gone != 1500 {
		t.Errorf("gone: %d", r.Baseline.Gone)
	}
	if err := r.Baseline.Write(r, rule.Note); err != nil {
		t.Fatal(err)
	}
	if last, _ := os.ReadFile(file); strings.Contains(string(last), "b.x") {
		t.Errorf("%s", last)
	}
	left, _ := os.ReadDir(dir)
	if len(left) != 2 {
		t.Errorf("left behind: %v", left)
	}
}

func TestBrokenBaselines(t *testing.T) {
	dir := t.TempDir()
	os.Mkdir(dir+"/folder", 0o777)
	for name, text := range map[string]string{
		"text": "nothing", "torn": `{"rehome":"check-base`, "other": `{"rehome":"archive","version":1,"known":[]}`,
		"number": `{"rehome":"check-baseline","version":1e5000000,"known":[]}`, "count": `{"rehome":"check-baseline","version":1,"known":[{"path":"a","rule":"RH301","count":-1}]}`,
	} {
		laid(t, dir+"/"+name, text)
	}
	for _, name := range []string{"text", "torn", "other", "number", "count", "folder"} {
		if _, err := ReadBaseline(dir+"/"+name, true); err == nil || !strings.Contains(err.Error(), "not a baseline") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCheckDetails: that a store is read from a copy is reported only to those who
// ask for details, and once.
func TestCheckDetails(t *testing.T) {
	dir := t.TempDir()
	path := laid(t, dir+"/a.x", "lint\nRH301 real\n")
	f := lint()
	f.Check = func(_ context.Context, _ *formats.Location, v formats.View, _ *rule.Pass) error {
		if !v.Verbose {
			return nil
		}
		for range 2 {
			v.OnNotice(path + " is read from a copy")
		}
		return nil
	}
	for details, want := range map[bool]int{false: 0, true: 1} {
		r, err := Check(t.Context(), formats.NewRegistry(f), Options{Paths: []string{dir}, Layers: allLayers, Verbose: details})
		if err != nil || len(r.Stores) != 1 || len(r.Stores[0].Remarks) != want {
			t.Errorf("details %v: %v, %+v", details, err, r.Stores)
		}
	}
}

// TestCheckBusy: what is seen of a store that changes meanwhile is no finding,
// and a store that comes to rest is asked after all.
func TestCheckBusy(t *testing.T) {
	dir := t.TempDir()
	laid(t, dir+"/always.x", "lint\nRH301 torn\nbusy\n")
	laid(t, dir+"/once.x", "lint\nRH301 real\n")
	f := lint()
	whole, tries := f.Check, map[string]int{}
	f.Check = func(ctx context.Context, l *formats.Location, v formats.View, q *rule.Pass) error {
		tries[l.Name()]++
		if l.Name() == "once.x" && tries[l.Name()] == 1 {
			v.OnNotice("said of a state that is gone")
			q.Reportf("RH105", store.Addr{}, "torn")
			return formats.ErrBusy
		}
		return whole(ctx, l, v, q)
	}
	r, err := Check(t.Context(), formats.NewRegistry(f), Options{Paths: []string{dir}, Layers: allLayers, Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Stores) != 2 || len(r.Stores[0].Findings) > 0 || !errors.Is(r.Stores[0].Err, formats.ErrBusy) {
		t.Errorf("%s", spelled(r))
	}
	if got := spelled(&Report{Stores: r.Stores[1:]}); got != "once.x RH301×1,:2" || len(r.Stores[1].Remarks) > 0 {
		t.Errorf("%s, %q", got, r.Stores[1].Remarks)
	}
	if tries["always.x"] != maxTries || tries["once.x"] != 2 {
		t.Error(tries)
	}
}

// TestRulesNobodyAsks: who names a rule that nothing asks would take silence for
// an answer.
func TestRulesNobodyAsks(t *testing.T) {
	reg := formats.NewRegistry(lint())
	for _, c := range []struct {
		rules  []string
		layers rule.Layers
		hint   string
	}{
		{[]string{"RH501"}, rule.Container, "--secrets"},
		{[]string{"RH480"}, rule.Meaning, "--for"},
		{[]string{"RH101", "RH203"}, rule.Container, "layer schema"},
		{[]string{"RH101"}, rule.Container, ""},
	} {
		_, err := Check(t.Context(), reg, Options{Paths: []string{t.TempDir()}, Rules: c.rules, Layers: c.layers})
		if hint := formats.Hint(err); c.hint == "" && err != nil || !strings.Contains(hint, c.hint) || c.hint != "" && !errors.As(err, new(convert.Misuse)) {
			t.Errorf("%v: %v, %q", c.rules, err, hint)
		}
	}
}

// TestSchemaOfOthers: each line is held against a schema of anybody's.
func TestSchemaOfOthers(t *testing.T) {
	dir := t.TempDir()
	schema := laid(t, dir+"/s.txt", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}`)
	laid(t, dir+"/in/lines.jsonl", "{\"a\":1}\r\n\n{\"a\":\"secret\"}\n{}\n{\"a\":1e5000000}\n"+strings.Repeat("[", 1000)+"\n{\"a\":1")
	laid(t, dir+"/in/whole.json", "{\n  \"a\": 1\n}\n")
	laid(t, dir+"/in/deep/bad.JSON", "{\n  \"b\": 1\n}\n")
	laid(t, dir+"/in/notes.txt", "no JSON")
	r, err := Schema(t.Context(), Options{Paths: []string{dir + "/in"}}, schema)
	if err != nil {
		t.Fatal(err)
	}
	expectSpelled(t, spelled(r), "bad.JSON RH203×1,:1", "lines.jsonl RH203×5,:3,:4,:5,:6,:7", "whole.json")
	says := r.Stores[1].Findings[0].Places[0]
	if says.Pointer != "/a" || says.Text() != "must be integer" {
		t.Errorf("%+v", says)
	}
	if says := r.Stores[0].Findings[0].Places[0]; says.Pointer != "" || says.Text() != "lacks: 'a'" {
		t.Errorf("%+v", says)
	}
	if r, err = Schema(t.Context(), Options{Paths: []string{dir + "/in/notes.txt"}}, "canonical-1"); err != nil || r.Count(rule.Error) != 1 {
		t.Error(err, spelled(r))
	}
	for name, want := range map[string]string{
		"nowhere": "no such file", dir: "not a regular file", laid(t, dir+"/ref", `{"$ref":"https://example.org/x"}`): "schemas are never fetched",
		laid(t, dir+"/bad", `{"type":"thing"}`): "not a schema", laid(t, dir+"/torn", `{"type`): "incomplete", laid(t, dir+"/big", `{"maximum":1e5000000}`): "exponent",
		laid(t, dir+"/pattern", `{"pattern":"("}`): "pattern",
	} {
		if _, err := Schema(t.Context(), Options{Paths: []string{dir}}, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r, _ := Schema(t.Context(), Options{Paths: []string{dir + "/gone"}}, schema); r == nil || r.Stores[0].Err == nil {
		t.Error("a file that is not there was read")
	}
}

// TestLongLines: a line beyond all bounds is a finding, and costs no memory.
func TestLongLines(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(dir + "/x.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(maxDocument + 10); err != nil { // zero bytes, and no disk for them
		t.Fatal(err)
	}
	f.WriteAt([]byte("\n{}\n"), maxDocument+10)
	f.Close()
	r, err := Schema(t.Context(), Options{Paths: []string{dir}}, "error-1")
	if err != nil {
		t.Fatal(err)
	}
	expectSpelled(t, spelled(r), "x.jsonl RH203×2,:1,:2")
	if !slices.ContainsFunc(r.Stores[0].Findings[0].Places, func(f rule.Finding) bool { return strings.Contains(f.Text(), "longer than") }) {
		t.Error(r.Stores[0].Findings[0].Places)
	}
}

package claudecode

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/claudecode/internal/outline"
	"rehome/formats/formatstest"
	"rehome/formats/rule"
	"rehome/formats/session"
)

const allLayers = rule.Container | rule.Schema | rule.References | rule.Meaning

// asks checks a store and gives what was found, a line each, in order.
func asks(t testing.TB, path string, layers rule.Layers, jobs int) (out []string) {
	t.Helper()
	for _, f := range formatstest.Findings(t, Format(), path, layers, jobs) {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", rule.Lookup(f.Rule).Severity, f.Rule, f.At, f.Pointer)))
	}
	slices.Sort(out)
	return out
}

// grave are findings that are more than notes.
func grave(list []string) (out []string) {
	for _, f := range list {
		if !strings.HasPrefix(f, "note ") {
			out = append(out, f)
		}
	}
	return out
}

func sampleConfig(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "config")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "testdata", "claude", "config"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestRulesOfSamples: of the samples only the one that shows damage is found
// fault with, and all of that.
func TestRulesOfSamples(t *testing.T) {
	const file = "projects/-home-ann-app/20000000-0000-4000-8000-00000000000"
	want := []string{
		"error RH127 " + file + "2.jsonl:10", "error RH131 " + file + "2.jsonl:2", "error RH351 " + file + "2.jsonl:6 /uuid",
		"error RH451 " + file + "2.jsonl:8 /message/content/0/type", "note RH126 " + file + "2.jsonl:9", "note RH130 " + file + "2.jsonl:7",
		"note RH204 " + file + "1.jsonl:22 /type", "note RH356 " + file + "2.jsonl:6 /timestamp", "note RH357 " + file + "1.jsonl:13",
	}
	dir := sampleConfig(t)
	for jobs := 1; jobs <= 4; jobs++ {
		if got := asks(t, dir, allLayers, jobs); !slices.Equal(got, want) {
			t.Errorf("with %d workers:\n%s", jobs, strings.Join(got, "\n"))
		}
	}
	project := filepath.Join(dir, "projects", "-home-ann-app")
	if got := asks(t, project, allLayers, 2); len(got) != len(want) {
		t.Errorf("as a project:\n%s", strings.Join(got, "\n"))
	}
	for _, one := range []string{"1", "3", "4", "5"} {
		if got := grave(asks(t, filepath.Join(project, filepath.Base(file)+one+outline.Ending), allLayers, 1)); len(got) > 0 {
			t.Errorf("as a file: %v", got)
		}
	}
}

// TestRulesOfWritten: there is nothing to say against what Encode writes,
// whatever it is written from.
func TestRulesOfWritten(t *testing.T) {
	image := picture(t)
	for seed := range uint64(100) {
		r := &maker{Rand: rand.New(rand.NewPCG(seed, 11))}
		list, head := r.session(image)
		w := encoded(t, &session.Session{Head: head, Messages: stream(list...)}, formats.SessionBuild{FullHistory: r.chance(20)})
		for _, f := range grave(asks(t, w.path, allLayers, 1)) {
			switch {
			case strings.Contains(f, "RH463") && head.Parent != nil: // a subagent's file has another name
			case strings.HasSuffix(f, "/toolUseResult"): // the maker makes some of shapes that no tool has
			default:
				t.Errorf("seed %d: %s", seed, f)
			}
		}
	}
}

// Layers that are not asked for find nothing, and the others find the same.
func TestRulesByLayer(t *testing.T) {
	dir := sampleConfig(t)
	for _, f := range []string{"1", "3", "4"} {
		spoil(t, filepath.Join(dir, "projects", "-home-ann-app", "20000000-0000-4000-8000-00000000000"+f+outline.Ending), 3)
	}
	var joined []string
	for _, l := range []rule.Layers{rule.Container, rule.References, rule.Meaning} {
		joined = append(joined, asks(t, dir, l, 2)...)
	}
	all := asks(t, dir, rule.Container|rule.References|rule.Meaning, 2)
	slices.Sort(joined)
	if !slices.Equal(joined, all) {
		t.Errorf("one by one:\n%s\nat once:\n%s", strings.Join(joined, "\n"), strings.Join(all, "\n"))
	}
}

// spoil takes the members that the chain hangs on from a line.
func spoil(t *testing.T, path string, line int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	list := bytes.SplitAfter(b, []byte("\n"))
	list[line] = bytes.Replace(list[line], []byte(`"uuid":`), []byte(`"uid":`), 1)
	if err := os.WriteFile(path, bytes.Join(list, nil), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRulesOfNoise: bytes that were changed anywhere never end the walk, and
// what is found does not depend on the number of workers.
func TestRulesOfNoise(t *testing.T) {
	dir := sampleConfig(t)
	project := filepath.Join(dir, "projects", "-home-ann-app")
	var good [][]byte
	var paths []string
	filepath.WalkDir(project, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			b, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			good, paths = append(good, b), append(paths, p)
		}
		return err
	})
	r := rand.New(rand.NewPCG(3, 5))
	bits := []string{`"`, `null`, `{}`, `[]`, `true`, "\n", "\xff", `-1e999`, `\ud800`, `"parentUuid"`, `,`, `0`, ``, "\x00", `{"type":"tool_use"}`}
	for range 150 {
		for i, b := range good {
			b = bytes.Clone(b)
			for range r.IntN(4) {
				at := r.IntN(len(b) + 1)
				to := min(len(b), at+r.IntN(40))
				b = slices.Concat(b[:at:at], []byte(bits[r.IntN(len(bits))]), b[to:])
			}
			if err := os.WriteFile(paths[i], b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		one, two := asks(t, dir, allLayers, 1), asks(t, dir, allLayers, 3)
		if !slices.Equal(one, two) {
			t.Fatalf("one worker:\n%s\nthree:\n%s", strings.Join(one, "\n"), strings.Join(two, "\n"))
		}
	}
}

// Lines that hang on one another in a ring end the walk, too.
func TestRulesOfRings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "20000000-0000-4000-8000-000000000001.jsonl")
	var b bytes.Buffer
	for i := range 3 {
		fmt.Fprintf(&b, `{"type":"user","uuid":"%d","parentUuid":"%d","timestamp":"2026-01-01T00:00:0%d.000Z","message":{"content":"x"}}`+"\n", i, (i+1)%3, i)
	}
	fmt.Fprintln(&b, `{"type":"user","uuid":"9","parentUuid":"9","timestamp":"2026-01-01T00:00:09.000Z","message":{"content":"x"}}`)
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	asks(t, path, allLayers, 1)
}

func BenchmarkRules(b *testing.B) {
	path := filepath.Join(b.TempDir(), "20000000-0000-4000-8000-000000000004.jsonl")
	var text []byte
	for i := range 20000 {
		text = fmt.Appendf(text, `{"parentUuid":%s,"isSidechain":false,"type":"assistant","message":{"id":"m%[2]d","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"%[3]s"},{"type":"tool_use","id":"t%[2]d","name":"Bash","input":{"command":"ls"}}]},"uuid":"a%[2]d","timestamp":"2026-01-01T%02[4]d:%02[5]d:%02[6]d.000Z"}`+"\n",
			parentOf(i), i, strings.Repeat(`some words\n`, i%50), i/3600, i/60%60, i%60)
		text = fmt.Appendf(text, `{"parentUuid":"a%[1]d","isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%[1]d","content":"%[2]s"}]},"uuid":"b%[1]d","timestamp":"2026-01-01T%02[3]d:%02[4]d:%02[5]d.500Z"}`+"\n",
			i, strings.Repeat("what came of it; ", i%100), i/3600, i/60%60, i%60)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		asks(b, path, allLayers, 1)
	}
}

func parentOf(i int) string {
	if i == 0 {
		return "null"
	}
	return fmt.Sprintf(`"b%d"`, i-1)
}

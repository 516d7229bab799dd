package doctor

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestHide(t *testing.T) {
	for name, want := range map[string]string{
		"requestId":                         "requestId",
		"message.stop_u":                    "message.stop_u",
		"tool/args.#1001":                   "tool/args.#1001",
		"my secret plan":                    "<14 characters>",
		"a.my plan/b":                       "a.<7 characters>/b",
		"größe":                             "<5 characters>",
		"x\x1b[31m":                         "<6 characters>",
		"sk-ant-1234567890":                 "<17 characters>",
		"9f86d081884c7d659a":                "<18 characters>",
		"one-two-three-four-five-six-seven": "<33 characters>",
		strings.Repeat("a.", 1<<20):         "<2097152 characters>",
		strings.Repeat("a", 49):             "<49 characters>",
	} {
		if got := hide(name); got != want {
			t.Errorf("%.40q: %q, want %q", name, got, want)
		}
	}
}

// TestPathAsName: a field can be named after a file of the user.
func TestPathAsName(t *testing.T) {
	v := visitor{known: table()["claude-code"], out: tally{}, at: "user/tool_call"}
	v.add(Field, "files.home/ana/secret-project/plan.size")
	v.add(Record, "event/novel")
	list, _ := v.out.sorted()
	if len(list) != 2 || list[0].Name != "event/novel" || list[1].Name != "files.<28 characters>.size" || list[1].Where != "user/tool_call" {
		t.Errorf("%+v", list)
	}
}

func TestCompareVersions(t *testing.T) {
	want := []string{"unknown", "0.169.0", "2.0.77", "2.1.7", "2.1.328", "2.1.329-beta.1", "10.0"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, compareVersions)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if c := (Client{Tested: []string{"2.1.328"}, Versions: []Version{{Name: "unknown"}}}); c.Newer() {
		t.Error("an unknown version is newer than those tested")
	}
	for in, want := range map[string]string{"2.1.328": "2.1.328", "": "unknown", "Ann's": "unknown", strings.Repeat("1", 41): "unknown"} {
		if got := versionName(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestTally: a hostile store has more names than are kept. Which are kept, and all
// counts, do not depend on the order.
func TestTally(t *testing.T) {
	const n = 5 * maxDrift
	var first []Drift
	for _, step := range []int{1, 7, n - 1} {
		sum := tally{}
		for part := range 4 { // four stores
			one := tally{}
			for i := part; i < n; i += 4 {
				one.add(Drift{Kind: Field, Name: fmt.Sprintf("name%05d", i*step%n), Where: "user", Count: 3})
			}
			sum.merge(one)
			if len(sum) > 2*maxDrift+1 {
				t.Fatalf("%d names in memory", len(sum))
			}
		}
		list, more := sum.sorted()
		if len(list) != maxDrift || more != 3*(n-maxDrift) || list[0].Name != "name00000" || list[0].Count != 3 {
			t.Errorf("step %d: %d names, %d more, first %+v", step, len(list), more, list[0])
		}
		if first == nil {
			first = list
		}
		if !slices.Equal(list, first) {
			t.Errorf("step %d: other names", step)
		}
	}
}

// TestKnown: names are known from known.txt, exactly or by their start, and from
// schemas.
func TestKnown(t *testing.T) {
	if k := table()["claude-code"]; !k.has(Field, "message.usage.input_tokens") && !k.has(Field, "message.usage") || k.has(Field, "sparkle") || !k.has(Field, "tool-results/x.txt") || k.has(Tool, "Teleport") {
		t.Error("claude-code: known is not what known.txt and the schemas say")
	}
}

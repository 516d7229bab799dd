package formatstest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats/all"
	"rehome/formats/formatstest"
)

// canonicalShape is a session of another client's, as canonical text.
func canonicalShape(name, head string, lines func(n int, line liner)) formatstest.Shape {
	return formatstest.Shape{Name: name, Make: func(t *testing.T, dir string, n int) string {
		var b strings.Builder
		b.WriteString(`{"type":"session","version":1,"id":"s","agent":"cursor-cli"`)
		if strings.Contains(head, "%") {
			var list []string
			for i := range n {
				list = append(list, fmt.Sprintf(head, i))
			}
			fmt.Fprintf(&b, `,"%s":[%s]`, name, strings.Join(list, ","))
		}
		b.WriteString("}\n")
		lines(n, func(format string, args ...any) {
			fmt.Fprintf(&b, `{"type":"message",`+format+"}\n", args...)
		})
		path := filepath.Join(dir, "s.jsonl")
		if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}}
}

func canonicalShapes() []formatstest.Shape {
	prompt := func(line liner) { line(`"id":"u","role":"user","parts":[{"type":"text","text":"go"}]`) }
	call := func(line liner, i int, id string) {
		line(`"id":"c%d","role":"assistant","parts":[{"type":"tool_call","id":"%s","name":"Shell","kind":"shell","input":{"command":"x"}}]`, i, id)
	}
	came := func(line liner, i int, id string) {
		line(`"id":"r%d","role":"tool","parts":[{"type":"tool_result","call":"%s","content":[{"type":"text","text":"out"}]}]`, i, id)
	}
	return []formatstest.Shape{
		canonicalShape("turns", "", func(n int, line liner) {
			for i := range n {
				line(`"id":"u%d","role":"user","turn":{"number":%d},"parts":[{"type":"text","text":"go %d"}]`, i, i+1, i)
				call(line, i, fmt.Sprint("call", i))
				came(line, i, fmt.Sprint("call", i))
			}
		}),
		canonicalShape("one call, and no result", "", func(n int, line liner) {
			prompt(line)
			for i := range n {
				call(line, i, "same")
			}
		}),
		canonicalShape("results from behind", "", func(n int, line liner) {
			prompt(line)
			for i := range n {
				call(line, i, fmt.Sprint("call", i))
			}
			for i := range n {
				came(line, i, fmt.Sprint("call", n-1-i))
			}
		}),
		canonicalShape("results of nothing while a call waits", "", func(n int, line liner) {
			prompt(line)
			call(line, 0, "first")
			for i := range n {
				came(line, i+1, "nobody's")
				line(`"id":"s%d","role":"system","parts":[{"type":"text","text":"a word"}]`, i)
				line(`"id":"m%d","role":"user","simulated":true,"parts":[{"type":"text","text":"a word"}]`, i)
			}
			came(line, 0, "first")
		}),
		canonicalShape("children", `{"session":"kid%d","call":"c"}`, func(n int, line liner) {
			prompt(line)
			for i := range n {
				line(`"id":"c%d","role":"assistant","parts":[{"type":"tool_call","id":"c%d","name":"Task","kind":"task","input":{"prompt":"p"},"child":"kid%d"}]`, i, i, i)
				came(line, i, fmt.Sprint("c", i))
			}
		}),
		canonicalShape("branches", `{"name":"b%d","from":"last"}`, func(n int, line liner) {
			prompt(line)
			line(`"id":"last","role":"assistant","parts":[{"type":"text","text":"%s"}]`, strings.Repeat("long ", 4000))
			for i := range n {
				line(`"id":"b%d","branch":"b%d","role":"user","parts":[{"type":"text","text":"else"}]`, i, i)
			}
		}),
	}
}

func TestGrowthOfCanonical(t *testing.T) {
	f := all.Registry().Lookup("canonical")
	formatstest.Grows(t, all.Registry(), f, 150, canonicalShapes(), checking(f))
}

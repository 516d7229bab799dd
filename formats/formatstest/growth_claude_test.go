package formatstest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/formatstest"
	"rehome/formats/rule"
)

// claudeFile writes a session's file from its lines.
func claudeFile(t *testing.T, dir, name string, lines func(line func(format string, args ...any))) {
	t.Helper()
	var b strings.Builder
	lines(func(format string, args ...any) {
		b.WriteString(`{"isSidechain":false,"sessionId":"40000000-0000-4000-8000-000000000001","cwd":"/w","timestamp":"2026-01-01T00:00:00.000Z",`)
		fmt.Fprintf(&b, format, args...)
		b.WriteString("}\n")
	})
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(b.String()), 0o666)); err != nil {
		t.Fatal(err)
	}
}

const claudeMain = "projects/-w/40000000-0000-4000-8000-000000000001.jsonl"

// claudeShape is a config folder with one session.
func claudeShape(name string, lines func(n int, line func(format string, args ...any))) formatstest.Shape {
	return formatstest.Shape{Name: name, Make: func(t *testing.T, dir string, n int) string {
		claudeFile(t, dir, claudeMain, func(line func(string, ...any)) { lines(n, line) })
		return dir
	}}
}

type liner = func(format string, args ...any)

func ask(line liner, id, up int) {
	line(`"type":"user","uuid":"u%d","parentUuid":%s,"message":{"role":"user","content":"text %d"}`, id, parent(up), id)
}

func respond(line liner, id, up int, response, block string) {
	line(`"type":"assistant","uuid":"u%d","parentUuid":%s,"message":{"id":"%s","role":"assistant","model":"claude-opus-4-5","content":[%s]}`, id, parent(up), response, block)
}

func result(line liner, id, up int, call string) {
	line(`"type":"user","uuid":"u%d","parentUuid":%s,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":"out"}]}`, id, parent(up), call)
}

func parent(up int) string {
	if up < 0 {
		return "null"
	}
	return fmt.Sprintf(`"u%d"`, up)
}

func use(id string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":"%s","name":"Bash","input":{"command":"x"}}`, id)
}

// claudeShapes hang lines together in every way that somebody could think of to
// make reading them slow.
func claudeShapes() []formatstest.Shape {
	return []formatstest.Shape{
		claudeShape("each hangs on the next", func(n int, line liner) {
			for i := range n {
				ask(line, i, i+1)
			}
		}),
		claudeShape("a star", func(n int, line liner) {
			ask(line, 0, -1)
			respond(line, 1, 0, "m", `{"type":"text","text":"`+strings.Repeat("long ", 200)+`"}`)
			for i := range n {
				ask(line, i+2, 1)
			}
		}),
		claudeShape("a comb", func(n int, line liner) {
			for i := range n {
				ask(line, 2*i, 2*i-2+btoi(i == 0))
				ask(line, 2*i+1, 2*i)
			}
		}),
		claudeShape("branches from the last", func(n int, line liner) {
			ask(line, 0, -1)
			for i := range n {
				ask(line, i+2, 1)
			}
			respond(line, 1, 0, "m", `{"type":"text","text":"`+strings.Repeat("long ", 2000)+`"}`)
		}),
		claudeShape("parents that are gone and parents to come", func(n int, line liner) {
			for i := range n {
				if i%2 == 0 {
					ask(line, i, 1_000_000+i)
				} else {
					ask(line, i, 2*n-i)
				}
			}
			for i := range n {
				ask(line, n+i, 2_000_000+i)
			}
		}),
		claudeShape("sidechains", func(n int, line liner) {
			for i := range n {
				line(`"type":"user","isSidechain":true,"agentId":"a%d","uuid":"u%d","parentUuid":null,"message":{"role":"user","content":"go"}`, i, i)
			}
			for i := range n {
				line(`"type":"user","isSidechain":true,"agentId":"a%d","uuid":"v%d","parentUuid":"u%d","message":{"role":"user","content":"on"}`, i, i, i)
			}
		}),
		claudeShape("one uuid", func(n int, line liner) {
			for range n {
				ask(line, 0, -1)
			}
		}),
		claudeShape("one response", func(n int, line liner) {
			ask(line, 0, -1)
			for i := range n {
				line(`"type":"assistant","uuid":"u%d","parentUuid":"u%d","odd%d":1,"message":{"id":"m","role":"assistant","content":[%s]}`, i+1, i, i, use(fmt.Sprint("c", i)))
				line(`"type":"progress","uuid":"p%d","parentUuid":"u%d","data":{}`, i, i+1)
			}
			for i := range n {
				result(line, n+i+1, i+1, fmt.Sprint("c", n-1-i))
			}
		}),
		claudeShape("one call", func(n int, line liner) {
			ask(line, 0, -1)
			for i := range n {
				respond(line, 2*i+1, 2*i, fmt.Sprint("m", i), use("same"))
				result(line, 2*i+2, 2*i+1, "same")
			}
		}),
		claudeShape("calls without results", func(n int, line liner) {
			ask(line, 0, -1)
			for i := range n {
				respond(line, i+1, i, fmt.Sprint("m", i), use(fmt.Sprint("c", i)))
			}
			line(`"type":"system","uuid":"s","parentUuid":"u%d","subtype":"informational","content":"a word"`, n)
		}),
		claudeShape("results beside the way", func(n int, line liner) {
			ask(line, 0, -1)
			for i := range n {
				respond(line, i+1, i, "m", use(fmt.Sprint("c", i)))
			}
			for i := range n {
				result(line, n+i+1, 3_000_000, fmt.Sprint("c", i))
			}
			respond(line, 2*n+1, n, "z", `{"type":"text","text":"done"}`)
		}),
		claudeShape("responses woven together", func(n int, line liner) {
			ask(line, 0, -1)
			for i := range 2 * n {
				respond(line, i+1, i, fmt.Sprint("m", i%n), `{"type":"text","text":"x"}`)
			}
		}),
		claudeShape("no uuid", func(n int, line liner) {
			for i := range n {
				line(`"type":"user","message":{"role":"user","content":"text %d"}`, i)
			}
		}),
		claudeShape("commands", func(n int, line liner) {
			for i := range n {
				line(`"type":"user","uuid":"u%d","parentUuid":%s,"message":{"role":"user","content":"<command-name>/x</command-name>%s<command-args></command-args>"}`, i, parent(i-1), `\n            `)
			}
		}),
		{Name: "subagents of one name", Make: func(t *testing.T, dir string, n int) string {
			claudeFile(t, dir, claudeMain, func(line func(string, ...any)) { ask(line, 0, -1) })
			for i := range n / 8 {
				claudeFile(t, dir, fmt.Sprintf("%s/subagents/%d/agent-x.jsonl", strings.TrimSuffix(claudeMain, ".jsonl"), i), func(line func(string, ...any)) { ask(line, 0, -1) })
			}
			return dir
		}},
		{Name: "one long output", Make: func(t *testing.T, dir string, n int) string {
			claudeFile(t, dir, claudeMain, func(line func(string, ...any)) {
				ask(line, 0, -1)
				for i := range n {
					respond(line, 2*i+1, 2*i, fmt.Sprint("m", i), use(fmt.Sprint("c", i)))
					line(`"type":"user","uuid":"u%d","parentUuid":"u%d","toolUseResult":{"stdout":"","persistedOutputPath":"/x/tool-results/b.txt"},"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":"x"}]}`, 2*i+2, 2*i+1, i)
				}
			})
			side := filepath.Join(dir, filepath.FromSlash(strings.TrimSuffix(claudeMain, ".jsonl")), "tool-results")
			if err := errors.Join(os.MkdirAll(side, 0o777), os.WriteFile(filepath.Join(side, "b.txt"), []byte(strings.Repeat("x", 100*n)), 0o666)); err != nil {
				t.Fatal(err)
			}
			return dir
		}},
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestGrowthOfClaude(t *testing.T) {
	f := all.Registry().Lookup("claude-code")
	formatstest.Grows(t, all.Registry(), f, 150, claudeShapes(), checking(f))
}

// checking asks the rules of a store, but for the schemas.
func checking(f *formats.Format) formatstest.Work {
	return formatstest.Work{Name: "check", Do: func(ctx context.Context, path, _ string) {
		if l, err := formats.Locate(path); err == nil {
			f.Check(ctx, l, formats.View{Jobs: 1}, &rule.Pass{Layers: rule.Container | rule.References | rule.Meaning, Report: func(rule.Finding) {}})
		}
	}}
}

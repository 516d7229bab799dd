package all_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/convert"
	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/loss"
	"rehome/formats/session"
)

// forgedPair is a call whose result two records of a store tell differently: what the client
// sends, and what it only shows.
type forgedPair struct{ name, input, sent, shown string }

// patchOf is a patch that the model wrote.
const patchOf = `"*** Begin Patch\n*** Update File: s.txt\n@@\n-dry\n+sent\n*** End Patch\n"`

// codexPairs and claudePairs have "kept" in all that is not sent.
func codexPairs() []forgedPair {
	return []forgedPair{
		{"shell", `{"command":["bash","-lc","cat a"]}`, `"Exit code: 0\nOutput:\nsent\n"`, `{"type":"exec_command_end","stdout":"kept","aggregated_output":"kept","formatted_output":"kept","exit_code":3,"command":["kept"]}`},
		{"shell", `{"command":["bash","-lc","true"]}`, `""`, `{"type":"exec_command_end","stdout":"kept","aggregated_output":"kept"}`},
		{"shell", `{"command":["bash","-lc","true"]}`, `[]`, `{"type":"exec_command_end","stdout":"kept","output":"kept"}`},
		{"exec_command", `{"cmd":"cat b"}`, `"Process exited with code 0\nOutput:\nsent\n"`, `{"type":"CommandExecution","status":"completed","aggregated_output":"kept"}`},
		{"apply_patch", patchOf, `"Success. sent"`, `{"type":"patch_apply_end","stdout":"kept","changes":{"/app/s.txt":{"type":"update","unified_diff":"@@ -1 +1 @@\n-dry\n+kept\n"}}}`},
		{"apply_patch", patchOf, `"Success. sent"`, `{"type":"FileChange","stdout":"kept","path":"/app/kept","diffString":"@@ -1 +1 @@\n-dry\n+kept\n"}`},
		{"apply_patch", patchOf, `"Success. sent"`, `{"type":"FileChange","beforeFullFileContent":"dry\n","afterFullFileContent":"kept\n"}`},
		{"mcp__x__y", `{"q":1}`, `[{"type":"input_text","text":"sent"}]`, `{"type":"mcp_tool_call_end","result":{"Ok":{"content":[{"type":"text","text":"kept"}]}},"content":[{"type":"text","text":"kept"}]}`},
	}
}

func claudePairs() []forgedPair {
	return []forgedPair{
		{"Bash", `{"command":"cat a"}`, `"sent"`, `{"stdout":"kept","stderr":"kept","interrupted":false}`},
		{"Bash", `{"command":"true"}`, `""`, `{"stdout":"kept","stderr":""}`},
		{"Bash", `{"command":"true"}`, `[]`, `{"stdout":"kept","stderr":""}`},
		{"Bash", `{"command":"true"}`, `"sent"`, `"Error: kept"`},
		{"Read", `{"file_path":"/app/s.txt"}`, `"     1\tsent"`, `{"type":"text","file":{"filePath":"/app/s.txt","content":"kept","numLines":1,"startLine":1,"totalLines":1}}`},
		{"Edit", `{"file_path":"/app/s.txt","old_string":"dry","new_string":"sent"}`, `"updated, sent"`,
			`{"filePath":"/app/kept","oldString":"dry","newString":"kept","originalFile":"dry","structuredPatch":[{"oldStart":1,"oldLines":1,"newStart":1,"newLines":1,"lines":["-dry","+kept"]}],"diffString":"@@ -1 +1 @@\n-dry\n+kept\n"}`},
		{"Write", `{"file_path":"/app/n.txt","content":"sent"}`, `"created, sent"`, `{"type":"create","filePath":"/app/kept","content":"kept","structuredPatch":[]}`},
		{"Grep", `{"pattern":"x"}`, `"sent"`, `{"mode":"content","content":"kept","filenames":["kept"]}`},
		{"Glob", `{"pattern":"x"}`, `"/sent"`, `{"filenames":["/kept"],"numFiles":1}`},
		{"Agent", `{"description":"d","prompt":"p"}`, `[{"type":"text","text":"sent"}]`, `{"status":"completed","prompt":"kept","content":[{"type":"text","text":"kept"}]}`},
		{"WebFetch", `{"url":"https://x","prompt":"p"}`, `"sent"`, `{"result":"kept","url":"https://kept"}`},
		{"mcp__x__y", `{"q":1}`, `[{"type":"text","text":"sent"}]`, `[{"type":"text","text":"kept"}]`},
	}
}

// codexStore writes a rollout with pairs, and returns it.
func codexStore(t *testing.T, pairs []forgedPair) string {
	t.Helper()
	var out strings.Builder
	line := func(kind, payload string) {
		fmt.Fprintf(&out, `{"timestamp":"2026-01-01T00:00:%02d.000Z","type":%q,"payload":%s}`+"\n", strings.Count(out.String(), "\n"), kind, payload)
	}
	line("session_meta", `{"id":"0199aaaa-0000-7000-8000-000000000009","cwd":"/app"}`)
	line("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}`)
	for i, p := range pairs {
		id := fmt.Sprintf(`"call_id":"call_%d"`, i)
		if p.input[0] == '"' {
			line("response_item", fmt.Sprintf(`{"type":"custom_tool_call",%s,"name":%q,"input":%s}`, id, p.name, p.input))
		} else {
			line("response_item", fmt.Sprintf(`{"type":"function_call",%s,"name":%q,"arguments":%s}`, id, p.name, session.AppendString(nil, p.input)))
		}
		if strings.Contains(p.shown, "_end") {
			line("event_msg", strings.Replace(p.shown, "{", "{"+id+",", 1))
		} else {
			line("event_msg", `{"type":"item_completed","item":`+strings.Replace(p.shown, "{", fmt.Sprintf(`{"id":"call_%d",`, i), 1)+`}`)
		}
		line("response_item", fmt.Sprintf(`{"type":"function_call_output",%s,"output":%s}`, id, p.sent))
	}
	line("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"end"}]}`)
	path := filepath.Join(t.TempDir(), "rollout-2026-01-01T00-00-00-0199aaaa-0000-7000-8000-000000000009.jsonl")
	if err := os.WriteFile(path, []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// claudeStore writes a config folder with pairs, and returns it.
func claudeStore(t *testing.T, pairs []forgedPair) string {
	t.Helper()
	var out strings.Builder
	n := 0
	line := func(kind, rest string) {
		parent := "null"
		if n > 0 {
			parent = fmt.Sprintf(`"00000000-0000-4000-8000-%012d"`, n)
		}
		n++
		fmt.Fprintf(&out, `{"parentUuid":%s,"isSidechain":false,"userType":"external","cwd":"/app","sessionId":"11111111-0000-4000-8000-000000000001","version":"2.1.330","type":%q,"uuid":"00000000-0000-4000-8000-%012d","timestamp":"2026-01-01T00:00:%02d.000Z",%s}`+"\n",
			parent, kind, n, n, rest)
	}
	answer := func(block string) {
		line("assistant", fmt.Sprintf(`"message":{"id":"msg_%d","type":"message","role":"assistant","model":"m","content":[%s]}`, n, block))
	}
	line("user", `"message":{"role":"user","content":"go"}`)
	for i, p := range pairs {
		answer(fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":%q,"input":%s}`, i, p.name, p.input))
		line("user", fmt.Sprintf(`"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":%s}]},"toolUseResult":%s`, i, p.sent, p.shown))
	}
	answer(`{"type":"text","text":"end"}`)
	dir := filepath.Join(t.TempDir(), "projects", "-app")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "11111111-0000-4000-8000-000000000001.jsonl"), []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(filepath.Dir(dir))
}

// TestTwoTruths: where a store tells a result twice, each writer makes the next client send
// what the first one sends, and nothing of the other.
func TestTwoTruths(t *testing.T) {
	sources := map[string]string{"codex": codexStore(t, codexPairs()), "claude-code": claudeStore(t, claudePairs())}
	pairs := map[string]int{"codex": len(codexPairs()), "claude-code": len(claudePairs())}
	changes := map[string]int{"codex": 1, "claude-code": 2} // they differ only in how a file changed, which is no answer
	for from, path := range sources {
		for _, to := range all.Registry().All() {
			if to.Writer == nil {
				continue
			}
			t.Run(from+" to "+to.Name, func(t *testing.T) {
				out := filepath.Join(t.TempDir(), "out")
				rep, err := convert.Convert(t.Context(), all.Registry(), path, out, convert.Options{From: from, To: to.Name, Jobs: 1})
				if err != nil || !rep.Placed {
					t.Fatalf("not placed: %v", err)
				}
				if chats, err := filepath.Glob(filepath.Join(out, "chats", "*", "*", "store.db")); err == nil && len(chats) == 1 {
					out = chats[0]
				}
				l, err := formats.Locate(out)
				if err != nil {
					t.Fatal(err)
				}
				named := int64(0)
				for _, g := range rep.Stores[0].Losses {
					if g.Code == loss.ResultDiffers {
						named = g.Count
					}
				}
				if want := int64(pairs[from] - changes[from]); named != want && from != to.Name {
					t.Errorf("%d results are named, want %d", named, want)
				}
				results := 0
				for s, err := range to.Sessions.Decode(t.Context(), l, formats.FullView(1), session.Selection{History: true}) {
					if err != nil {
						t.Fatal(err)
					}
					for m, err := range s.Messages {
						if err != nil {
							t.Fatal(err)
						}
						results += checkTruth(t, m)
					}
				}
				if results != pairs[from] {
					t.Errorf("%d results arrive, want %d", results, pairs[from])
				}
			})
		}
	}
}

// checkTruth reports what of a message is sent though it was not, and returns how many results
// it has.
func checkTruth(t *testing.T, m *session.Message) (results int) {
	t.Helper()
	for _, p := range m.Parts {
		sent := ""
		switch p := p.(type) {
		case *session.ToolCall:
			sent = string(p.Input)
		case *session.ToolResult:
			results++
			b, err := json.Marshal(p.Content)
			if err != nil {
				t.Fatal(err)
			}
			sent = string(b)
		case *session.Text:
			sent = p.Text
		}
		if strings.Contains(sent, "kept") {
			t.Errorf("%s: the model is sent %s", m.ID, sent)
		}
	}
	return results
}

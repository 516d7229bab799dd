package tools

import (
	"testing"

	"rehome/formats/internal/cursortools"
	"rehome/formats/session"
)

// TestCircle: a call that went to Cursor comes back as the call that it was.
func TestCircle(t *testing.T) {
	for _, c := range []struct{ name, input, value string }{
		{"Bash", `{"command":"go test ./...","timeout":60000,"description":"Run","run_in_background":true}`, `{"stdout":"ok","stderr":""}`},
		{"Read", `{"file_path":"/a.go","offset":3,"limit":2}`, `{"type":"text","file":{"filePath":"/a.go","content":"x"}}`},
		{"Edit", `{"file_path":"/a","old_string":"x\n","new_string":"y\n","replace_all":true}`, `{"filePath":"/a","originalFile":"x\n"}`},
		{"Edit", `{"file_path":"/a","old_string":"x","new_string":""}`, ``},
		{"Write", `{"file_path":"/a","content":"x\n"}`, `{"type":"create","filePath":"/a","content":"x\n"}`},
		{"Write", `{"file_path":"/a","content":""}`, `{"type":"create","filePath":"/a","content":""}`},
		{"Grep", `{"pattern":"x","path":"/w","glob":"*.go","output_mode":"content","-A":2,"-n":true,"-i":true,"type":"go","head_limit":5}`, ``},
		{"Glob", `{"pattern":"*.go","path":"/w"}`, `{"filenames":["/w/a.go"]}`},
		{"TodoWrite", `{"todos":[{"content":"a","status":"in_progress","activeForm":"doing a"}]}`, ``},
		{"Agent", `{"description":"d","prompt":"p","subagent_type":"Explore","run_in_background":true}`, ``},
		{"WebSearch", `{"query":"q"}`, ``},
		{"WebFetch", `{"url":"https://x","prompt":"p"}`, `{"result":"R"}`},
		{"ExitPlanMode", `{"plan":"# P"}`, ``},
		{"AskUserQuestion", `{"questions":[{"question":"Which?","header":"H","options":[{"label":"A","description":"first"},{"label":"B"}],"multiSelect":true}]}`, `{"answers":{"Which?":"A"}}`},
		{"mcp__tracker__list_all", `{"q":"x","n":1.50}`, ``},
		{"NotebookEdit", `{"notebook_path":"/a.ipynb","cell_id":"c","new_source":"x"}`, ``},
		{"Skill", `{"skill":"x","args":"y"}`, `{"success":true}`},
		{"BashOutput", `{"bash_id":"b1"}`, ``},
		{"KillShell", `{"shell_id":"b1"}`, ``},
		{"TaskCreate", `{"subject":"s","description":"d"}`, ``},
		{"ToolSearch", `{"query":"q"}`, ``},
	} {
		for _, failed := range []bool{false, true} {
			r := &session.ToolResult{Call: "c", Status: "success", Error: failed, Content: []session.Part{&session.Text{Text: "shown"}}, Value: session.Raw(c.value)}
			got := cursortools.Spell(session.ClaudeCode, &session.ToolCall{ID: "c", Name: c.name, Kind: FromClaude(c.name), Input: session.Raw(c.input)}, r)
			if c.name == "Skill" && !failed {
				if n := Claude("", got.Kind, got.Name, got.Input, got.Args, got.Value); string(n.Result(got.Value, "shown", false)) != c.value {
					t.Errorf("the record of %s came back as %s", c.name, n.Result(got.Value, "shown", false))
				}
			}
			n := Claude("", got.Kind, got.Name, got.Input, got.Args, got.Value)
			if n.Name != c.name || string(n.Input) != c.input || !n.Own && c.name != "NotebookEdit" {
				t.Errorf("%s %s\ncame back from %s %s\nas %s %s, own: %v", c.name, c.input, got.Name, got.Input, n.Name, n.Input, n.Own)
			}
		}
	}
}

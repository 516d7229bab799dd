package cursortools

import (
	"strings"
	"testing"

	"rehome/formats/session"
)

// BenchmarkSpell: bytes are those of the arguments and the result.
func BenchmarkSpell(b *testing.B) {
	text := session.AppendString(nil, strings.Repeat("func main() { println(\"hello\") }\n", 200))
	for _, c := range []struct{ name, kind, input, value string }{
		{"Bash", "shell", `{"command":"go test ./...","description":"Run the tests"}`, `{"stdout":` + string(text) + `,"stderr":"","interrupted":false,"isImage":false}`},
		{"Read", "read", `{"file_path":"/a.go"}`, `{"type":"text","file":{"filePath":"/a.go","content":` + string(text) + `,"numLines":200,"startLine":1,"totalLines":200}}`},
		{"Write", "edit", `{"file_path":"/a.go","content":` + string(text) + `}`, `{"type":"create","filePath":"/a.go","content":` + string(text) + `,"structuredPatch":[],"originalFile":null}`},
		{"Edit", "edit", `{"file_path":"/a.go","old_string":"main","new_string":"start"}`, `{"filePath":"/a.go","oldString":"main","newString":"start","originalFile":` + string(text) + `,"structuredPatch":[{"oldStart":1,"oldLines":1,"newStart":1,"newLines":1,"lines":["-main","+start"]}]}`},
		{"Grep", "grep", `{"pattern":"main","output_mode":"content"}`, `{"mode":"content","filenames":[],"content":` + string(text) + `}`},
		{"Skill", "", `{"skill":"x"}`, `{"text":` + string(text) + `}`},
		{"small", "shell", `{"command":"ls"}`, `{"stdout":"a.go","stderr":"","interrupted":false,"isImage":false}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			call := &session.ToolCall{ID: "toolu_01", Name: c.name, Kind: c.kind, Input: session.Raw(c.input)}
			r := &session.ToolResult{Call: call.ID, Status: "success", Value: session.Raw(c.value), Content: []session.Part{&session.Text{Text: "shown"}}}
			b.SetBytes(int64(len(c.input) + len(c.value)))
			b.ReportAllocs()
			for b.Loop() {
				Spell(session.ClaudeCode, call, r)
			}
		})
	}
}

package cursortools

import (
	"strings"
	"testing"
)

func TestShown(t *testing.T) {
	for _, c := range []struct{ kind, value, want string }{
		{"shell", `{"success":{"stdout":"a","stderr":"b"}}`, "a\nb"},
		{"shell", `{"success":{"command":"true"}}`, "(no output, exit code 0)"},
		{"shell", `{"success":{"out":"a","n":1}}`, `{"success":{"out":"a","n":1}}`},
		{"shell", `{"success":{"stdout":"","outputTail":"a"}}`, `{"success":{"stdout":"","outputTail":"a"}}`},
		{"shell", `{"failure":{"stdout":"","exitCode":3}}`, "(no output, exit code 3)"},
		{"shell", `{"contents":"from elsewhere","exitCode":0}`, "from elsewhere"},
		{"shell", `{"failure":{"reason":"not allowed","exitCode":1}}`, "not allowed"},
		{"mcp", `{"success":{"content":[{"text":{"text":"x"}},{"text":{"text":"y"}}]}}`, "x\ny"},
		{"task", `{"success":{"conversationSteps":[{"assistantMessage":{"text":"One."}}]}}`, "One."},
		{"grep", `{"success":{"workspaceResults":{"/w":{"content":{"matches":[{"file":"a","matches":[{"lineNumber":7,"content":"x"},{"lineNumber":8,"content":"y","isContextLine":true}]}]}}}}}`, "a:7:x\na-8-y"},
		{"edit", `{"success":{"afterFullFileContent":"x"}}`, "The file was changed."},
		{"edit", `{"rejected":{"reason":"no"}}`, "no"},
		{"read", `{"error":{"errorMessage":"gone"}}`, "gone"},
		{"await", `{"stillRunning":{"taskId":"t"}}`, `{"stillRunning":{"taskId":"t"}}`},
		{"ls", `"text instead"`, "text instead"}, {"ls", "null", ""}, {"ls", "", ""},
	} {
		if got := Shown(c.kind, []byte(c.value)); got != c.want {
			t.Errorf("%s %s is shown as %q, want %q", c.kind, c.value, got, c.want)
		}
	}
}

// TestShownOfEvents: what only an event tells of a call is {"status","value"}, and
// the value of each kind is one of its own.
func TestShownOfEvents(t *testing.T) {
	for _, c := range []struct{ kind, value, want string }{
		{"shell", `{"exitCode":0,"signal":"","stdout":"begun","stderr":"","executionTime":31}`, "begun"},
		{"shell", `{"exitCode":3,"stdout":"","stderr":"bad"}`, "bad"},
		{"shell", `{"exitCode":0,"stdout":"","stderr":""}`, "(no output, exit code 0)"},
		{"read", `{"content":"a\nb","totalLines":2,"fileSize":3}`, "a\nb"},
		{"read", `{"content":"","totalLines":0,"fileSize":0}`, ""},
		{"edit", `{"linesAdded":1,"linesRemoved":1,"diffString":"-a\n+b"}`, "-a\n+b"},
		{"edit", `{"linesAdded":1}`, "The file was changed."},
		{"edit", `{}`, "The file was changed."},
		{"delete", `{"fileSize":3}`, "The file was deleted."},
		{"glob", `{"files":["a.go","b.go"],"totalFiles":2,"clientTruncated":false}`, "a.go\nb.go"},
		{"glob", `{"files":[],"totalFiles":0}`, "(no files)"},
		{"grep", `{"workspaceResults":{"/w":{"type":"content","output":{"matches":[{"file":"a","matches":[{"lineNumber":7,"content":"x"}]},{"file":"b"}],"totalMatches":1}}}}`, "a:7:x\nb"},
		{"grep", `{"workspaceResults":{"/w":{"type":"files","output":{"files":["a","b"],"totalFiles":2}}}}`, "a\nb"},
		{"grep", `{"workspaceResults":{"/w":{"type":"count","output":{"counts":[{"file":"a","count":2}],"totalMatches":2}}}}`, "a:2"},
		{"grep", `{"workspaceResults":{}}`, `{"workspaceResults":{}}`},
		{"ls", `{"directoryTreeRoot":{}}`, `{"directoryTreeRoot":{}}`},
		{"ls", `{"directoryTreeRoot":{"absPath":"/w","childrenDirs":[{"absPath":"/w/d","childrenDirs":[],"childrenFiles":[{"name":"x"}]}],"childrenFiles":[{"name":"a"}]}}`, "/w/\n  d/\n    x\n  a"},
		{"mcp", `{"content":[{"text":{"text":"x"}},{"text":{"text":"y"}}],"isError":false}`, "x\ny"},
		{"semSearch", `{"results":"here"}`, "here"},
		{"task", `{"agentId":"k","isBackground":false,"conversationSteps":[{"assistantMessage":{"text":"One."}}]}`, "One."},
		{"createPlan", `{}`, ""},
		{"readLints", `{"fileDiagnostics":[],"totalFiles":1,"totalDiagnostics":0}`, `{"fileDiagnostics":[],"totalFiles":1,"totalDiagnostics":0}`},
		{"updateTodos", `{"todos":[{"content":"do"}],"totalCount":1}`, `{"todos":[{"content":"do"}],"totalCount":1}`},
		{"generateImage", `{"filePath":"/w/a.png"}`, `{"filePath":"/w/a.png"}`},
		{"shell", `"as text"`, "as text"},
	} {
		if got := Shown(c.kind, []byte(`{"status":"success","value":`+c.value+`}`)); got != c.want {
			t.Errorf("%s %s is shown as %q, want %q", c.kind, c.value, got, c.want)
		}
	}
	deep := `{"absPath":"/w","childrenDirs":[` + strings.Repeat(`{"absPath":"d","childrenDirs":[`, 40) + strings.Repeat(`]}`, 41)
	if got := Shown("ls", []byte(`{"status":"success","value":{"directoryTreeRoot":`+deep+`}}`)); got != `{"directoryTreeRoot":`+deep+`}` {
		t.Errorf("a folder that goes deep is shown as %q", got)
	}
	if got := Shown("edit", []byte(`{"status":"error","error":{"message":"not found","path":"c.go"}}`)); got != "not found" {
		t.Errorf("an error is shown as %q", got)
	}
	if got := Shown("await", []byte(`{"status":"done","value":"v","more":1}`)); got != "v" {
		t.Errorf("a text is shown as %q", got)
	}
	image := Images([]byte(`{"status":"success","value":{"content":[{"image":{"data":"aGk="}}]}}`))
	if len(image) != 1 || string(image[0]) != "hi" {
		t.Errorf("the images are %q", image)
	}
	if got := Shown("edit", []byte(`{"status":"ok","value":{"linesAdded":1}}`)); got != "The file was changed." {
		t.Errorf("an edit is shown as %q", got)
	}
}

package sdksession

import (
	"testing"

	"rehome/formats/session"
)

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		full, part string
		want       bool
	}{
		{`{"command":"ls","timeout":30}`, `{"command":"ls"}`, true},
		{`{"command":"ls"}`, `{"command":"ls","workingDirectory":"","timeout":0,"x":[]}`, true},
		{`{"command":"ls"}`, `{"command":"pwd"}`, false},
		{`{"command":"ls"}`, `{"command":"ls","marked":"x"}`, false},
		{`{"size":"6"}`, `{"size":6}`, true},
		{`{"a":[{"b":1,"c":2}]}`, `{"a":[{"b":1}]}`, true},
		{`{"a":[1,2]}`, `{"a":[1]}`, false},
		{`{"a":"x"}`, `{"a":{"b":1}}`, false},
		{`{"a":"\u0078"}`, `{"a":"x"}`, true},
		{`{"todos":[{"id":"1","status":"TODO_STATUS_IN_PROGRESS"}]}`, `{"todos":[{"status":"inProgress"}]}`, true},
		{`{"status":"TODO_STATUS_COMPLETED"}`, `{"status":"completed"}`, true},
		{`{"status":"TODO_STATUS_COMPLETED"}`, `{"status":"pleted"}`, false},
		{`{"status":"TODO_STATUS_PENDING"}`, `{"status":"PENDING_"}`, false},
		{`{"status":"x_done"}`, `{"status":"done"}`, false},
		{``, `{"a":1}`, false},
		{``, `{}`, true},
	} {
		if got := covers([]byte(c.full), []byte(c.part)); got != c.want {
			t.Errorf("covers(%s, %s) = %v", c.full, c.part, got)
		}
	}
}

// TestCoversResult: both spellings of success say the same; a word that the
// checkpoint does not have is kept.
func TestCoversResult(t *testing.T) {
	for _, c := range []struct {
		status string
		failed bool
		event  string
		want   bool
	}{
		{"success", false, `{"status":"success","value":{"n":1}}`, true},
		{"success", false, `{"status":"ok","value":{"n":1}}`, true},
		{"success", false, `{"status":"ok","value":{"n":2}}`, false},
		{"success", false, `{"status":"partial","value":{"n":1}}`, false},
		{"success", false, `{"status":"error","value":{"n":1}}`, false},
		{"partial", false, `{"status":"partial","value":{"n":1}}`, true},
		{"rejected", true, `{"status":"error","error":{"message":"no"}}`, true},
		{"rejected", true, `{"status":"error","error":{"message":"rejected"}}`, true},
		{"rejected", true, `{"status":"error","error":{"message":"yes"}}`, false},
		{"rejected", true, `{"status":"error","error":{"message":"no","n":2}}`, false},
		{"rejected", true, `{"status":"error","error":"no"}`, false},
	} {
		r := &session.ToolResult{Status: c.status, Error: c.failed, Value: session.Raw(`{"` + c.status + `":{"n":1,"reason":"no"}}`)}
		if got := coversResult(r, []byte(c.event)); got != c.want {
			t.Errorf("%s of %s: %v", c.event, c.status, got)
		}
	}
	r := &session.ToolResult{Error: true} // a prompt message has no record of the result
	if coversResult(r, []byte(`{"status":"error","error":{"message":{"note":"no"}}}`)) {
		t.Error("a message that is not a string is not the status")
	}
}

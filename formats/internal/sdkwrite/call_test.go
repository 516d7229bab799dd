package sdkwrite

import "testing"

// TestProjection: events have what the SDK streams of a call, and no more.
func TestProjection(t *testing.T) {
	for _, c := range []struct{ kind, args, want string }{
		{"shell", `{"command":"ls","toolCallId":"c","timeout":30}`, `{"command":"ls","timeout":30}`},
		{"shell", `{}`, `{"command":""}`},
		{"recordScreen", `{"mode":1}`, `{}`},
		{"updateTodos", `{"todos":[{"id":"1","content":"a","status":"TODO_STATUS_IN_PROGRESS"},{"content":"b","status":"TODO_STATUS_PENDING"}],"merge":true}`,
			`{"todos":[{"content":"a","status":"inProgress"},{"content":"b","status":"pending"}]}`},
		{"glob", `{"globPattern":"*","targetDirectory":null}`, `{"globPattern":"*"}`},
	} {
		if got := string(appendFields(nil, []byte(c.args), projections()[c.kind].args)); got != c.want {
			t.Errorf("%s %s: %s", c.kind, c.args, got)
		}
	}
	for _, c := range []struct{ kind, value, want string }{
		{"shell", `{"failure":{"exitCode":3,"stderr":"bad"}}`, `{"status":"success","value":{"exitCode":3,"signal":"","stdout":"","stderr":"bad","executionTime":0}}`},
		{"read", `{"success":{"content":"x","path":"p","fileSize":"7"}}`, `{"status":"success","value":{"content":"x","totalLines":0,"fileSize":7}}`},
		{"read", `{"fileNotFound":{"path":"p"}}`, `{"status":"error","error":{"message":"fileNotFound"}}`},
		{"edit", `{"error":{"path":"p","error":"no \"such\" text"}}`, `{"status":"error","error":{"message":"no \"such\" text"}}`},
		{"createPlan", `{"success":{}}`, `{"status":"success"}`},
		{"read", `{"success":{"content":"x","path":"p","fileSize":"7"},"error":null}`, `{"status":"success","value":{"content":"x","totalLines":0,"fileSize":7}}`},
	} {
		if got := string(appendResult(nil, c.kind, []byte(c.value), projections()[c.kind].result)); got != c.want {
			t.Errorf("%s %s: %s", c.kind, c.value, got)
		}
	}
	for kind, p := range projections() {
		if len(p.args) > maxFields || len(p.result) > maxFields {
			t.Errorf("%s has more than %d members", kind, maxFields)
		}
	}
}

package graphgen

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"path/filepath"
)

// Envelopes are how a payload can hold a message, as a public description of the SDK's first
// stores leaves open.
var Envelopes = []string{
	`{"schemaVersion":1,"type":"sdk_message","agentId":"agent-d1","runId":"run-d1","message":%s}`,
	`{"type":"sdk_message","message":%s}`,
	`{"message":%s}`,
	`%s`,
}

// described is what that description shows or says of messages: tools with dotted names,
// a call as several messages of which the last has {status, value}, and edits of which
// there is only a diff.
var described = []string{
	`{"type":"thinking","text":"Let me look."}`,
	`{"type":"tool_call","call_id":"call_01","name":"shell.execute","args":{},"status":"running","result":null}`,
	`{"type":"tool_call","call_id":"call_01","name":"shell.execute","args":{"command":"pnpm test"},"status":"completed","result":{"status":"ok","value":{"stdout":"42 passed\n","stderr":"","exitCode":0}}}`,
	`{"type":"tool_call","call_id":"call_02","name":"file.read","args":{"path":"/proj/a.ts"},"status":"completed","result":{"status":"ok","value":{"content":"const a = 1;\n"}}}`,
	`{"type":"tool_call","call_id":"call_03","name":"file.edit","args":{"path":"/proj/a.ts"},"status":"running","result":null}`,
	`{"type":"tool_call","call_id":"call_03","name":"file.edit","args":{"path":"/proj/a.ts"},"status":"completed","result":{"status":"ok","value":{"diffString":"--- a/a.ts\n+++ b/a.ts\n@@ -1,2 +1,2 @@\n-const a = 1;\n+const a = 2;\n export {};\n"}}}`,
	`{"type":"tool_call","call_id":"call_04","name":"file.write","args":{"path":"/proj/b.ts"},"status":"completed","result":{"status":"ok","value":{"diffString":"@@ -0,0 +1,2 @@\n+one\n+two\n"}}}`,
	`{"type":"tool_call","call_id":"call_05","name":"file.multi_edit","args":{"path":"/proj/a.ts"},"status":"completed","result":{"status":"ok","value":{"diffString":"@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n"}}}`,
	`{"type":"tool_call","call_id":"call_06","name":"file.edit","args":{"path":"/proj/gone"},"status":"error","result":{"status":"error","value":{"error":"no such file"}}}`,
	`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"All done."}]}}`,
}

// WriteDescribed writes a project folder of the SDK's as it is publicly described.
func WriteDescribed(ctx context.Context, project, envelope string) error {
	const agent, cwd = "agent-d1", "/work"
	root := filepath.Join(project, "sdk-agent-store", fmt.Sprintf("%x", md5.Sum([]byte(cwd))))
	agents := Table{Name: "agents", SQL: "CREATE TABLE agents (agent_id TEXT, workspace_ref TEXT, status TEXT, name TEXT, created_at TEXT, updated_at TEXT, latest_checkpoint_ref_json TEXT)",
		Rows: [][]any{{agent, cwd, "IDLE", "Fix it", iso(1777629600000), iso(1777629660000), nil}}}
	runs := Table{Name: "runs", SQL: "CREATE TABLE runs (run_id TEXT, agent_id TEXT, turn_number INTEGER, status TEXT, model TEXT, started_at TEXT, finished_at TEXT, result TEXT)",
		Rows: [][]any{{"run-d1", agent, int64(0), "COMPLETED", "claude-4.5-sonnet", iso(1777629600000), iso(1777629660000), "All done."}}}
	events := Table{Name: "run_events", SQL: "CREATE TABLE run_events (run_id TEXT, seq INTEGER, event_type TEXT, payload_json TEXT)"}
	for i, m := range described {
		events.Rows = append(events.Rows, []any{"run-d1", int64(i), "run_stream_event", fmt.Sprintf(envelope, m)})
	}
	tables := []Table{agents, runs, events}
	for i := range tables {
		tables[i].Columns = columns(tables[i].SQL)
	}
	transcript := []string{jsonText("role", quote("user"), "message", jsonText("content", jsonList([]string{textPart("<user_query>\nfix a.ts\n</user_query>")}))),
		jsonText("role", quote("assistant"), "message", jsonText("content", jsonList([]string{textPart("All done.")})))}
	return errors.Join(WriteDB(ctx, filepath.Join(root, "index.db"), 0, tables), writeLines(filepath.Join(project, "agent-transcripts", agent, agent+".jsonl"), transcript))
}

package graphgen

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	agentsSQL = "CREATE TABLE agents (agent_id TEXT PRIMARY KEY, workspace_ref TEXT NOT NULL, status TEXT NOT NULL, active_run_id TEXT, latest_checkpoint_ref_json TEXT, name TEXT, metadata_json TEXT NOT NULL DEFAULT '{}', created_at TEXT NOT NULL, updated_at TEXT NOT NULL)"
	runsSQL   = "CREATE TABLE runs (run_id TEXT PRIMARY KEY, request_id TEXT, agent_id TEXT NOT NULL REFERENCES agents(agent_id), turn_number INTEGER NOT NULL, status TEXT NOT NULL, model TEXT, model_params_json TEXT, start_checkpoint_ref_json TEXT, latest_checkpoint_ref_json TEXT, error_code TEXT, usage_ref TEXT, usage_json TEXT, result TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, started_at TEXT, finished_at TEXT, cancelled_at TEXT, expired_at TEXT, UNIQUE(agent_id, turn_number))"
	eventsSQL = "CREATE TABLE run_events (run_id TEXT NOT NULL, seq INTEGER NOT NULL, offset TEXT NOT NULL, event_type TEXT NOT NULL, payload_json TEXT, payload_ref TEXT, idempotency_key TEXT, created_at TEXT NOT NULL, PRIMARY KEY (run_id, seq), UNIQUE(run_id, offset))"
)

func iso(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

func (t *turn) model(p *Plan) string {
	return jsonText("id", quote(p.Model), "params", `[{"id":"effort","value":"high"}]`)
}

// answer is what a run leaves as its result: its last words.
func (t *turn) answer() string {
	if t.run.ending != "finished" {
		return ""
	}
	return t.responses[len(t.responses)-1].text
}

func (t *turn) usageText() string {
	u := t.run.usage
	return jsonText("inputTokens", num(u[0]), "outputTokens", num(u[1]), "cacheReadTokens", num(u[2]), "cacheWriteTokens", num(u[3]), "totalTokens", num(u[4]))
}

// Runs are the turns that the SDK has runs for.
func (p *Plan) runs() (out []*turn) {
	for _, t := range p.turns {
		if t.shell == nil {
			out = append(out, t)
		}
	}
	return out
}

func (p *Plan) payload(g *Graph, t *turn, said string) string {
	said = g.odd.outer(said)
	return g.odd.outer(jsonText("schemaVersion", "1", "type", `"sdk_message"`, "agentId", quote(p.ID), "runId", quote(t.run.id), "message", said))
}

func (p *Plan) metadata(g *Graph) string {
	return g.odd.outer(`{"blobEncryptionKey":` + quote(p.key) + `,"initialMode":"agent"}`)
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// indexTables are the catalog.
func (p *Plan) indexTables(g *Graph, o Odd) []Table {
	ref := jsonText("blobId", quote(g.Root), "storeKind", `"local-agent-store"`)
	agents := Table{Name: "agents", SQL: agentsSQL, Columns: columns(agentsSQL), Rows: [][]any{{p.ID, p.Cwd, "IDLE", nil, ref, p.Name, p.metadata(g), iso(p.created), iso(p.updated)}}}
	runs := Table{Name: "runs", SQL: runsSQL, Columns: columns(runsSQL)}
	events := Table{Name: "run_events", SQL: eventsSQL, Columns: columns(eventsSQL)}
	for n, t := range p.runs() {
		var finished, cancelled, last any
		switch t.run.ending {
		case "finished":
			finished = iso(t.end)
		case "cancelled":
			cancelled = iso(t.end)
		}
		if t == p.runs()[len(p.runs())-1] {
			last = ref
		}
		runs.Rows = append(runs.Rows, []any{t.run.id, t.request, p.ID, int64(n + 1), strings.ToUpper(t.run.ending), p.Model, `[{"id":"effort","value":"high"}]`, nil, last, orNil(t.run.err), nil,
			g.odd.outer(t.usageText()), orNil(t.answer()), iso(t.start), iso(t.end), iso(t.start), finished, cancelled, nil})
		for seq, said := range p.events(t) {
			s := int64(seq + 1)
			events.Rows = append(events.Rows, []any{t.run.id, s, fmt.Sprint(s), "run_stream_event", p.payload(g, t, said), nil, nil, iso(t.start + s)})
		}
	}
	return o.tables(agents, runs, events)
}

// columns reads the names from the text of a table.
func columns(sql string) (out []string) {
	_, list, _ := strings.Cut(sql, "(")
	for _, def := range strings.Split(list, ", ") {
		name, _, _ := strings.Cut(def, " ")
		if name == strings.ToLower(name) && name != "" && !strings.Contains(name, "(") && !strings.HasSuffix(name, ")") {
			out = append(out, name)
		}
	}
	return out
}

// Places are where the parts of a store of the SDK lie.
type Places struct{ Project, Root, Index, Store, Transcript string }

// WriteSDK writes the plan as a project folder of the SDK.
func (p *Plan) WriteSDK(ctx context.Context, project string, g *Graph, o Odd) (Places, error) {
	root := filepath.Join(project, "sdk-agent-store", fmt.Sprintf("%x", md5.Sum([]byte(p.Cwd))))
	at := Places{Project: project, Root: root, Index: filepath.Join(root, "index.db"),
		Store:      filepath.Join(root, "agents", fmt.Sprintf("agent-%x", sha256.Sum256([]byte(p.ID))), "store.db"),
		Transcript: filepath.Join(project, "agent-transcripts", p.ID, p.ID+".jsonl")}
	err := WriteDB(ctx, at.Index, 0, p.indexTables(g, o))
	return at, errors.Join(err, WriteDB(ctx, at.Store, 1, p.storeTables(g, "", o)), p.writeTranscript(at.Transcript))
}

// WriteLines writes the plan as the four files of lines.
func (p *Plan) WriteLines(dir string, g *Graph) error {
	ref := jsonText("schemaVersion", "1", "rootBlobId", quote(g.Root))
	agents := []string{jsonText("agentId", quote(p.ID), "cwd", quote(p.Cwd), "status", `"idle"`, "activeRunId", "null", "name", quote(p.Name), "createdAt", num(p.created), "updatedAt", num(p.updated),
		"sdkMetadata", p.metadata(g), "latestCheckpoint", ref)}
	agents[0] = g.odd.outer(agents[0])
	var runs, events, blobs []string
	for n, t := range p.runs() {
		last, result, bad, ended := "null", "null", "null", num(t.end)
		if t == p.runs()[len(p.runs())-1] {
			last = ref
		}
		if a := t.answer(); a != "" {
			result = quote(a)
		}
		if t.run.ending == "error" {
			bad, ended = quote(t.run.err), "null"
		}
		doc := jsonText("runId", quote(t.run.id), "requestId", quote(t.request), "agentId", quote(p.ID), "turnNumber", fmt.Sprint(n+1), "status", quote(t.run.ending), "model", t.model(p), "result", result, "error", bad,
			"usageRef", "null", "usage", g.odd.outer(t.usageText()), "createdAt", num(t.start), "updatedAt", num(t.end), "startedAt", num(t.start), "endedAt", ended, "startCheckpointRef", "null", "latestCheckpointRef", last)
		runs = append(runs, g.odd.outer(doc))
		for i, said := range p.events(t) {
			s := int64(i + 1)
			events = append(events, g.odd.outer(jsonText("runId", quote(t.run.id), "seq", num(s), "offset", quote(num(s)), "eventType", `"run_stream_event"`, "payload", p.payload(g, t, said),
				"payloadRef", "null", "idempotencyKey", "null", "createdAt", quote(iso(t.start+s)))))
		}
	}
	for _, b := range g.Blobs {
		blobs = append(blobs, g.odd.outer(jsonText("agentId", quote(p.ID), "blobId", quote(b.ID), "dataBase64", quote(base64.StdEncoding.EncodeToString(b.Data)))))
	}
	err := os.MkdirAll(dir, 0o755)
	for name, list := range map[string][]string{"agents": agents, "runs": runs, "run_events": events, "checkpoints": blobs} {
		err = errors.Join(err, writeLines(filepath.Join(dir, name+".ndjson"), list))
	}
	return errors.Join(err, p.writeTranscript(filepath.Join(dir, "agent-transcripts", p.ID, p.ID+".jsonl")))
}

func writeLines(path string, lines []string) error {
	text := strings.Join(append(lines, ""), "\n")
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
}

// writeTranscript writes what the client keeps for people: prompts with their
// tag, answers with the thinking at their end, calls by the model's name.
func (p *Plan) writeTranscript(path string) error {
	var lines []string
	line := func(role string, parts ...string) {
		lines = append(lines, jsonText("role", quote(role), "message", jsonText("content", jsonList(parts))))
	}
	for _, t := range p.runs() {
		if t.run.lost {
			continue
		}
		line("user", textPart("<user_query>\n"+t.prompt+"\n</user_query>"))
		for _, r := range t.responses {
			var parts []string
			text := r.text
			if r.thinking != "" {
				text += "\n\n" + r.thinking
			}
			parts = append(parts, textPart(text))
			for _, c := range r.calls {
				parts = append(parts, jsonText("type", `"tool_use"`, "name", quote(c.name), "input", c.input))
			}
			line("assistant", parts...)
		}
	}
	return writeLines(path, lines)
}

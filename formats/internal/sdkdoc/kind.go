package sdkdoc

import (
	"slices"

	"rehome/formats/store"
)

// Kind is one of the four kinds of documents, in the order in which the stores
// hold them.
type Kind uint8

// The kinds.
const (
	Agent Kind = iota
	Run
	Event
	Checkpoint
)

// Kinds is how many there are.
const Kinds = 4

// File is the name of the kind's file in a line store.
func (k Kind) File() string {
	return [...]string{"agents.ndjson", "runs.ndjson", "run_events.ndjson", "checkpoints.ndjson"}[k]
}

// Table is the name of the kind's table in a database.
func (k Kind) Table() string { return [...]string{"agents", "runs", "run_events", "blobs"}[k] }

// Columns of agents.
const (
	agentID = iota
	agentWorkspace
	agentStatus
	agentActiveRun
	agentCheckpoint
	agentName
	agentMetadata
	agentCreated
	agentUpdated
	agentColumns
)

// Columns of runs.
const (
	runID = iota
	runRequest
	runAgent
	runTurn
	runStatus
	runModel
	runParams
	runStart
	runLatest
	runError
	runUsageRef
	runUsage
	runResult
	runCreated
	runUpdated
	runStarted
	runFinished
	runCancelled
	runExpired
	runColumns
)

// Columns of events.
const (
	eventRun = iota
	eventSeq
	eventOffset
	eventType
	eventPayload
	eventPayloadRef
	eventKey
	eventCreated
	eventColumns
)

// Columns of checkpoints. In databases the agent is not a column but the
// database itself.
const (
	checkpointAgent = iota
	checkpointID
	checkpointData
	checkpointColumns
)

// mostColumns is the width of the widest kind.
const mostColumns = runColumns

// Columns are the columns of the rows that Append takes and Parse gives, as
// version 1.0.32 of the SDK names and orders them. A checkpoint's first is the
// agent that owns the database.
func (k Kind) Columns() []string {
	switch k {
	case Agent:
		return []string{"agent_id", "workspace_ref", "status", "active_run_id", "latest_checkpoint_ref_json", "name", "metadata_json", "created_at", "updated_at"}
	case Run:
		return []string{"run_id", "request_id", "agent_id", "turn_number", "status", "model", "model_params_json", "start_checkpoint_ref_json", "latest_checkpoint_ref_json",
			"error_code", "usage_ref", "usage_json", "result", "created_at", "updated_at", "started_at", "finished_at", "cancelled_at", "expired_at"}
	case Event:
		return []string{"run_id", "seq", "offset", "event_type", "payload_json", "payload_ref", "idempotency_key", "created_at"}
	}
	return []string{"agent_id", "id", "data"}
}

// members are the names of the kind's members in the order in which they are
// written.
func (k Kind) members() []string {
	switch k {
	case Agent:
		return agentMembers[:]
	case Run:
		return runMembers[:]
	case Event:
		return eventMembers[:]
	}
	return checkpointMembers[:]
}

// Writes reports whether known versions write a member of this name.
func (k Kind) Writes(name []byte) bool {
	return slices.ContainsFunc(k.members(), func(m string) bool { return m == string(name) })
}

var (
	agentMembers = [...]string{"agentId", "cwd", "status", "activeRunId", "name", "createdAt", "updatedAt", "sdkMetadata", "latestCheckpoint"}
	runMembers   = [...]string{"runId", "requestId", "agentId", "turnNumber", "status", "model", "result", "error", "usageRef", "usage", "createdAt", "updatedAt",
		"startedAt", "endedAt", "startCheckpointRef", "latestCheckpointRef"}
	eventMembers      = [...]string{"runId", "seq", "offset", "eventType", "payload", "payloadRef", "idempotencyKey", "createdAt"}
	checkpointMembers = [...]string{"agentId", "blobId", "dataBase64"}
	modelMembers      = [...]string{"id", "params"}
	refMembers        = [...]string{"schemaVersion", "rootBlobId"}
	refCellMembers    = [...]string{"blobId", "storeKind"}
)

// mostMembers is the number of members of the largest document.
const mostMembers = len(runMembers)

// Spliced is the column whose bytes stand in the line as they are (for a
// checkpoint: as base64).
func (k Kind) Spliced() int {
	return [...]int{agentMetadata, runUsage, eventPayload, checkpointData}[k]
}

// Lost is a set of columns: those whose cell a line would not give back.
type Lost uint32

func (l *Lost) add(col int) { *l |= 1 << col }

// Has reports whether the column is in the set.
func (l Lost) Has(col int) bool { return l>>col&1 != 0 }

// Named reports whether a row has the key without which no document can be
// made of it.
func (k Kind) Named(row []store.Cell) bool {
	switch k {
	case Agent:
		return row[agentID].Class == store.Text
	case Run:
		return row[runID].Class == store.Text && row[runAgent].Class == store.Text && row[runTurn].Class == store.Int
	case Event:
		return row[eventRun].Class == store.Text && row[eventSeq].Class == store.Int
	}
	return row[checkpointAgent].Class == store.Text && row[checkpointID].Class == store.Text && blobID(row[checkpointID].Bytes()) != idWrong
}

// Mild reports columns whose cells a line says in its own way rather than not
// at all: statuses that read alike, and which kind of store a reference names.
func (k Kind) Mild(col int) bool {
	switch k {
	case Agent:
		return col == agentStatus || col == agentCheckpoint
	case Run:
		return col == runStatus || col == runStart || col == runLatest
	}
	return false
}

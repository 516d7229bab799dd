package sdkdoc

import (
	"slices"
	"strings"

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

// Form says what a column holds and how a line spells it. It decides about
// appending, parsing and checking.
type Form uint8

// The forms.
const (
	AsKey        Form = iota // text without which there is no document
	AsInteger                // an integer without which there is no document
	AsText                   // text, never NULL
	AsOffset                 // text, in lines of other stores absent: then the number of the event
	AsID                     // text or NULL
	AsProse                  // text or NULL, written by people, models and tools
	AsStatus                 // one word, in lower case in lines
	AsRunStatus              // AsStatus, except that CREATING reads as running
	AsMoment                 // a time, as text in both
	AsTime                   // a time, in milliseconds in lines
	AsTimeOrNull             // AsTime, or NULL
	AsEnd                    // a time that the status says the column of: see endColumn
	AsObject                 // JSON; {} stands for none
	AsPayload                // JSON; null stands for none
	AsJSONOrNull             // JSON, or NULL
	AsModel                  // text or NULL; an object together with the next
	AsParams                 // JSON or NULL
	AsRef                    // a reference to a checkpoint, or NULL
	AsRefIfAny               // AsRef, whose member is left out for NULL
	AsBlobID                 // bytes in hexadecimal, without which there is no document
	AsBytes                  // bytes, in base64 in lines
)

// column is a column of the rows that Append takes and Parse gives.
type column struct {
	name string // with a ? after it where earlier versions of the SDK lack it
	form Form
}

// MaxLine bounds a line, and with it the memory that a hostile file can claim.
const MaxLine = 512 << 20

// description is what there is to know of the documents of one kind.
type description struct {
	file, table string
	columns     []column
	members     []string // of a line, in the order in which they are written
	of          []int    // the column of each
	statuses    []string // that the SDK knows, as databases spell them; the first stands for none
	spliced     int      // the column whose bytes are in the line as they are (AsBytes: as base64)

	names []string // of the columns
	heads []string // of the members: what is written before each value
	at    []int    // the member of each column
}

// The documents, with the columns as version 1.0.32 of the SDK names and orders
// them. In databases the agent of a checkpoint is not a column but the database
// itself.
var kinds = [Kinds]*description{
	describe(description{file: "agents.ndjson", table: "agents", spliced: AgentMetadata,
		columns: []column{{"agent_id", AsKey}, {"workspace_ref", AsText}, {"status", AsStatus}, {"active_run_id", AsID}, {"latest_checkpoint_ref_json", AsRefIfAny},
			{"name", AsProse}, {"metadata_json", AsObject}, {"created_at", AsTime}, {"updated_at", AsTime}},
		members:  []string{"agentId", "cwd", "status", "activeRunId", "name", "createdAt", "updatedAt", "sdkMetadata", "latestCheckpoint"},
		of:       []int{AgentID, AgentWorkspace, AgentStatus, AgentActive, AgentName, AgentCreated, AgentUpdated, AgentMetadata, AgentCheckpoint},
		statuses: []string{"IDLE", "RUNNING", "ARCHIVED", "ERROR"},
	}),
	describe(description{file: "runs.ndjson", table: "runs", spliced: RunUsage,
		columns: []column{{"run_id", AsKey}, {"request_id?", AsID}, {"agent_id", AsKey}, {"turn_number", AsInteger}, {"status", AsRunStatus}, {"model", AsModel},
			{"model_params_json?", AsParams}, {"start_checkpoint_ref_json", AsRef}, {"latest_checkpoint_ref_json", AsRef}, {"error_code", AsProse}, {"usage_ref", AsID},
			{"usage_json?", AsJSONOrNull}, {"result?", AsProse}, {"created_at", AsTime}, {"updated_at", AsTime}, {"started_at", AsTimeOrNull},
			{"finished_at", AsEnd}, {"cancelled_at", AsEnd}, {"expired_at", AsEnd}},
		members: []string{"runId", "requestId", "agentId", "turnNumber", "status", "model", "result", "error", "usageRef", "usage", "createdAt", "updatedAt",
			"startedAt", "endedAt", "startCheckpointRef", "latestCheckpointRef"},
		of: []int{RunID, RunRequest, RunAgent, RunTurn, RunStatus, RunModel, RunResult, RunError, RunUsageRef, RunUsage, RunCreated, RunUpdated,
			RunStarted, RunFinished, RunStart, RunLatest},
		statuses: runWords(),
	}),
	describe(description{file: "run_events.ndjson", table: "run_events", spliced: EventPayload,
		columns: []column{{"run_id", AsKey}, {"seq", AsInteger}, {"offset", AsOffset}, {"event_type", AsText}, {"payload_json", AsPayload}, {"payload_ref", AsID},
			{"idempotency_key?", AsID}, {"created_at", AsMoment}},
		members: []string{"runId", "seq", "offset", "eventType", "payload", "payloadRef", "idempotencyKey", "createdAt"},
		of:      []int{EventRun, EventSeq, EventOffset, EventType, EventPayload, EventPayloadRef, EventKey, EventCreated},
	}),
	describe(description{file: "checkpoints.ndjson", table: "blobs", spliced: BlobData,
		columns: []column{{"agent_id", AsKey}, {"id", AsBlobID}, {"data", AsBytes}},
		members: []string{"agentId", "blobId", "dataBase64"},
		of:      []int{BlobAgent, BlobID, BlobData},
	}),
}

func describe(d description) *description {
	for _, c := range d.columns {
		d.names = append(d.names, strings.TrimSuffix(c.name, "?"))
	}
	d.at = make([]int, len(d.columns))
	for i, m := range d.members {
		d.heads = append(d.heads, `,"`+m+`":`)
		d.at[d.of[i]] = i
	}
	d.heads[0] = "{" + d.heads[0][1:]
	return &d
}

// Columns of agents.
const (
	AgentID = iota
	AgentWorkspace
	AgentStatus
	AgentActive
	AgentCheckpoint
	AgentName
	AgentMetadata
	AgentCreated
	AgentUpdated
)

// Columns of runs.
const (
	RunID = iota
	RunRequest
	RunAgent
	RunTurn
	RunStatus
	RunModel
	RunParams
	RunStart
	RunLatest
	RunError
	RunUsageRef
	RunUsage
	RunResult
	RunCreated
	RunUpdated
	RunStarted
	RunFinished
	RunCancelled
	RunExpired
	maxColumns // of any kind
)

// Columns of events.
const (
	EventRun = iota
	EventSeq
	EventOffset
	EventType
	EventPayload
	EventPayloadRef
	EventKey
	EventCreated
)

// Columns of checkpoints.
const (
	BlobAgent = iota
	BlobID
	BlobData
)

// maxMembers is the number of members of the largest document, a run.
const maxMembers = 16

var (
	modelMembers   = []string{"id", "params"}
	refMembers     = []string{"schemaVersion", "rootBlobId"}
	refCellMembers = []string{"blobId", "storeKind"}
)

// File is the name of the kind's file in a line store.
func (k Kind) File() string { return kinds[k].file }

// KindOf is the kind whose file has this name.
func KindOf(file string) (Kind, bool) {
	k := slices.IndexFunc(kinds[:], func(d *description) bool { return d.file == file })
	return Kind(max(k, 0)), k >= 0
}

// Table is the name of the kind's table in a database.
func (k Kind) Table() string { return kinds[k].table }

// Columns are the columns of the kind's rows. A checkpoint's first is the agent
// that owns the database.
func (k Kind) Columns() []string { return kinds[k].names }

// Declared is Columns with a ? after each that earlier versions of the SDK lack.
func (k Kind) Declared() (out []string) {
	for _, c := range kinds[k].columns {
		out = append(out, c.name)
	}
	return out
}

// Form is what a column holds.
func (k Kind) Form(col int) Form { return kinds[k].columns[col].form }

// HoldsJSON reports whether a column holds JSON, which the SDK parses whenever
// it lists the table.
func (k Kind) HoldsJSON(col int) bool {
	switch k.Form(col) {
	case AsObject, AsPayload, AsJSONOrNull, AsParams, AsRef, AsRefIfAny:
		return true
	}
	return false
}

// RefMember is the member for a column that refers to a checkpoint, "" for others.
func (k Kind) RefMember(col int) string {
	if f := k.Form(col); f != AsRef && f != AsRefIfAny {
		return ""
	}
	return kinds[k].members[kinds[k].at[col]]
}

// Writes reports whether known versions write a member of this name.
func (k Kind) Writes(name []byte) bool {
	return slices.ContainsFunc(kinds[k].members, func(m string) bool { return m == string(name) })
}

// Spliced is the column whose bytes are in the line as they are (for a
// checkpoint: as base64).
func (k Kind) Spliced() int { return kinds[k].spliced }

// Lost is a set of columns: those whose cell a line would not give back.
type Lost uint32

func (l *Lost) add(col int) { *l |= 1 << col }

// Has reports whether the column is in the set.
func (l Lost) Has(col int) bool { return l>>col&1 != 0 }

// Named reports whether a row has the key without which no document can be
// made of it.
func (k Kind) Named(row []store.Cell) bool {
	for col, c := range kinds[k].columns {
		switch c.form {
		case AsKey:
			if row[col].Class != store.Text {
				return false
			}
		case AsInteger:
			if row[col].Class != store.Int {
				return false
			}
		case AsBlobID:
			if row[col].Class != store.Text || blobID(row[col].Bytes()) == idWrong {
				return false
			}
		}
	}
	return true
}

// Mild reports columns whose cells a line says in its own way rather than not
// at all: statuses that read alike, and which kind of store a reference names.
func (k Kind) Mild(col int) bool {
	switch k.Form(col) {
	case AsStatus, AsRunStatus, AsRef, AsRefIfAny:
		return true
	}
	return false
}

// KnowsStatus reports whether the SDK knows a status, as databases spell it.
func (k Kind) KnowsStatus(status []byte) bool {
	return slices.ContainsFunc(kinds[k].statuses, func(s string) bool { return s == string(status) })
}

// KnowsWord is KnowsStatus for the status of a line.
func (k Kind) KnowsWord(word string) bool {
	status := upper(nil, []byte(word))
	return strings.ToLower(word) == word && word != Creating && k.KnowsStatus(status)
}

package sdkdoc

import (
	"encoding/base64"

	"rehome/formats/store"
)

// Append appends the line of a row, without its line end. lost names the cells
// that the line would not give back as they are. The row must be Named, and
// its cells in the order of Columns.
func (k Kind) Append(dst []byte, row []store.Cell) (out []byte, lost Lost) {
	return k.append(dst, row, false)
}

// append is Append; sure tells it that what is nested is known to be JSON that
// may stand in a line.
func (k Kind) append(dst []byte, row []store.Cell, sure bool) (out []byte, lost Lost) {
	w := writer{b: dst, row: row, sure: sure}
	switch k {
	case Agent:
		w.agent()
	case Run:
		w.run()
	case Event:
		w.event()
	default:
		w.checkpoint()
	}
	return w.b, w.lost
}

// writer spells one line.
type writer struct {
	b    []byte
	row  []store.Cell
	lost Lost
	sure bool
}

func (w *writer) agent() {
	w.raw(`{"agentId":`)
	w.text(agentID)
	w.raw(`,"cwd":`)
	w.text(agentWorkspace)
	w.raw(`,"status":`)
	w.status(agentStatus)
	w.raw(`,"activeRunId":`)
	w.optional(agentActiveRun)
	w.raw(`,"name":`)
	w.optional(agentName)
	w.raw(`,"createdAt":`)
	w.time(agentCreated, false)
	w.raw(`,"updatedAt":`)
	w.time(agentUpdated, false)
	w.raw(`,"sdkMetadata":`)
	w.json(agentMetadata, "{}")
	if w.row[agentCheckpoint].Class != store.Null {
		w.raw(`,"latestCheckpoint":`)
		w.ref(agentCheckpoint)
	}
	w.raw(`}`)
}

func (w *writer) run() {
	w.raw(`{"runId":`)
	w.text(runID)
	w.raw(`,"requestId":`)
	w.optional(runRequest)
	w.raw(`,"agentId":`)
	w.text(runAgent)
	w.raw(`,"turnNumber":`)
	w.int(runTurn)
	w.raw(`,"status":`)
	end := endColumn(w.row[runStatus].Bytes())
	w.runStatus()
	w.raw(`,"model":`)
	w.model()
	w.raw(`,"result":`)
	w.optional(runResult)
	w.raw(`,"error":`)
	w.optional(runError)
	w.raw(`,"usageRef":`)
	w.optional(runUsageRef)
	w.raw(`,"usage":`)
	w.nullable(runUsage)
	w.raw(`,"createdAt":`)
	w.time(runCreated, false)
	w.raw(`,"updatedAt":`)
	w.time(runUpdated, false)
	w.raw(`,"startedAt":`)
	w.time(runStarted, true)
	w.raw(`,"endedAt":`)
	for _, col := range []int{runFinished, runCancelled, runExpired} {
		if col != end && w.row[col].Class != store.Null {
			w.lost.add(col)
		}
	}
	if end < 0 {
		w.raw("null")
	} else {
		w.time(end, true)
	}
	w.raw(`,"startCheckpointRef":`)
	w.ref(runStart)
	w.raw(`,"latestCheckpointRef":`)
	w.ref(runLatest)
	w.raw(`}`)
}

// endColumn is the column that holds the end of a run of this status, -1 if
// none does: a run that failed has no end in a database.
func endColumn(status []byte) int {
	switch string(status) {
	case "FINISHED":
		return runFinished
	case "CANCELLED":
		return runCancelled
	case "EXPIRED":
		return runExpired
	}
	return -1
}

func (w *writer) event() {
	w.raw(`{"runId":`)
	w.text(eventRun)
	w.raw(`,"seq":`)
	w.int(eventSeq)
	w.raw(`,"offset":`)
	w.text(eventOffset)
	w.raw(`,"eventType":`)
	w.text(eventType)
	w.raw(`,"payload":`)
	w.json(eventPayload, "null")
	w.raw(`,"payloadRef":`)
	w.optional(eventPayloadRef)
	w.raw(`,"idempotencyKey":`)
	w.optional(eventKey)
	w.raw(`,"createdAt":`)
	w.text(eventCreated)
	w.raw(`}`)
}

func (w *writer) checkpoint() {
	w.raw(`{"agentId":`)
	w.text(checkpointAgent)
	w.raw(`,"blobId":`)
	w.text(checkpointID)
	if id := w.row[checkpointID].Bytes(); blobID(id) != idPlain {
		w.lost.add(checkpointID)
	}
	w.raw(`,"dataBase64":"`)
	c := w.row[checkpointData]
	if c.Class != store.Blob {
		w.lost.add(checkpointData)
	}
	w.b = base64.StdEncoding.AppendEncode(w.b, c.Bytes())
	w.raw(`"}`)
}

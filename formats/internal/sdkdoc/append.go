package sdkdoc

import (
	"encoding/base64"
	"strconv"

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

func (w *writer) raw(s string) { w.b = append(w.b, s...) }

// text spells a cell that must be text.
func (w *writer) text(col int) {
	c := w.row[col]
	if c.Class != store.Text {
		w.lost.add(col)
		w.raw(`""`)
		return
	}
	w.string(col, c.Bytes())
}

func (w *writer) string(col int, s []byte) {
	var exact bool
	if w.b, exact = appendString(w.b, s); !exact {
		w.lost.add(col)
	}
}

// optional spells a cell that is text or NULL.
func (w *writer) optional(col int) {
	if w.row[col].Class == store.Text {
		w.text(col)
		return
	}
	if w.row[col].Class != store.Null {
		w.lost.add(col)
	}
	w.raw("null")
}

func (w *writer) int(col int) {
	c := w.row[col]
	if c.Class != store.Int {
		w.lost.add(col)
		w.raw("0")
		return
	}
	w.b = strconv.AppendInt(w.b, c.Int(), 10)
}

// status spells a status in lower case.
func (w *writer) status(col int) {
	c := w.row[col]
	var space [32]byte
	low := lower(space[:0], c.Bytes())
	if c.Class != store.Text || string(upper(nil, low)) != string(c.Bytes()) {
		w.lost.add(col)
	}
	w.string(col, low)
}

// runStatus is status, but for CREATING, which the SDK reads as running.
func (w *writer) runStatus() {
	if string(w.row[runStatus].Bytes()) == "CREATING" {
		w.lost.add(runStatus)
		w.raw(`"running"`)
		return
	}
	w.status(runStatus)
}

// time spells a time as milliseconds. What is no time reads as null, whether
// or not the column may be NULL.
func (w *writer) time(col int, null bool) {
	c := w.row[col]
	if c.Class == store.Null && null {
		w.raw("null")
		return
	}
	ms, exact, ok := int64(0), false, false
	if c.Class == store.Text {
		ms, exact, ok = parseISO(c.Bytes())
	}
	if !exact {
		w.lost.add(col)
	}
	if !ok {
		w.raw("null")
		return
	}
	w.b = strconv.AppendInt(w.b, ms, 10)
}

// json splices a cell that holds JSON, or says what stands for none.
func (w *writer) json(col int, none string) {
	c := w.row[col]
	if c.Class == store.Text && (w.sure || valid(c.Bytes())) {
		w.b = append(w.b, c.Bytes()...)
		return
	}
	w.lost.add(col)
	if c.Class == store.Text {
		if f := flat(c.Bytes()); f != nil {
			w.b = append(w.b, f...)
			return
		}
	}
	w.raw(none)
}

// nullable is json for a column where NULL, and not the word null, says that
// there is nothing.
func (w *writer) nullable(col int) {
	c := w.row[col]
	switch {
	case c.Class == store.Null:
		w.raw("null")
	case string(c.Bytes()) == "null":
		w.lost.add(col)
		w.raw("null")
	default:
		w.json(col, "null")
	}
}

// model spells a model and its parameters as one object.
func (w *writer) model() {
	if w.row[runModel].Class != store.Text {
		for _, col := range []int{runModel, runParams} {
			if w.row[col].Class != store.Null {
				w.lost.add(col)
			}
		}
		w.raw("null")
		return
	}
	w.raw(`{"id":`)
	w.text(runModel)
	if w.row[runParams].Class != store.Null {
		w.raw(`,"params":`)
		w.params()
	}
	w.raw(`}`)
}

// params is json one level deeper: nesting that is just bearable alone would
// be too deep in its object.
func (w *writer) params() {
	c := w.row[runParams]
	if !w.sure && !valid(append(append([]byte{'['}, c.Bytes()...), ']')) && valid(c.Bytes()) {
		w.lost.add(runParams)
		w.raw("[]")
		return
	}
	w.json(runParams, "[]")
}

// ref spells a reference to a checkpoint. Which kind of store it names is not
// in the document; the SDK itself reads over it.
func (w *writer) ref(col int) {
	c := w.row[col]
	if c.Class == store.Null {
		w.raw("null")
		return
	}
	id, exact := readRef(c.Bytes())
	if c.Class != store.Text || !exact {
		w.lost.add(col)
	}
	if id == nil || c.Class != store.Text {
		w.raw("null")
		return
	}
	w.raw(`{"schemaVersion":1,"rootBlobId":"`)
	w.b = append(w.b, id...)
	w.raw(`"}`)
}

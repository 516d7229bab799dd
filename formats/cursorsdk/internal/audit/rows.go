package audit

import (
	"bytes"
	"cmp"
	"strings"

	"rehome/formats/internal/sdkcheck"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/internal/sqlitefile"
	"rehome/formats/internal/sqlitepages"
	"rehome/formats/rule"
	"rehome/formats/store"
)

// rowChecker takes the rows of a catalog.
type rowChecker struct {
	catalog *sdkcheck.Catalog
	q       *rule.Pass // which holds findings back until the file is sound
	out     *rule.Pass
	held    []rule.Finding
	file    string
	session string // of the current row
	schemas [sdkdoc.Checkpoint]rule.Validator
	doc     []byte
}

// mostHeld bounds the findings that wait.
const mostHeld = 100_000

func newRows(c *checker) *rowChecker {
	r := &rowChecker{out: c.q, file: c.index.Path}
	r.q = &rule.Pass{Layers: c.q.Layers, Schema: c.q.Schema, Report: func(f rule.Finding) {
		f.Session = cmp.Or(f.Session, r.session)
		if len(r.held) < mostHeld {
			r.held = append(r.held, f)
		}
	}}
	r.catalog = sdkcheck.New(r.q, pointers())
	return r
}

// release lets the findings go: the file is sound, and so are those to come.
func (r *rowChecker) release() {
	for _, f := range r.held {
		r.out.Report(f)
	}
	r.held, r.q.Report, r.session = nil, r.out.Report, ""
}

// of says what is done with the rows of a table.
func (r *rowChecker) of(t *sqlitefile.PlanTable) func(*sqlitepages.Row) error {
	for k := range sdkdoc.Checkpoint {
		if !strings.EqualFold(t.Name, k.Table()) || !r.q.Enabled(rule.Schema|rule.References|rule.Meaning) {
			continue
		}
		if r.q.Schema != nil {
			r.schemas[k] = r.q.Schema([]string{"cursor-sdk-agent-row-1", "cursor-sdk-run-row-1", "cursor-sdk-event-row-1"}[k])
		}
		w := &row{rowChecker: r, kind: k, table: t}
		for _, name := range k.Columns() {
			w.of = append(w.of, t.Column(name))
		}
		return w.take
	}
	return nil
}

// row is one row of a catalog's table at a time.
type row struct {
	*rowChecker
	kind   sdkdoc.Kind
	table  *sqlitefile.PlanTable
	of     []int // column of the table by column of the kind
	cells  []store.Cell
	at     store.Addr
	broken bool // a rule of its own is
}

func (w *row) take(r *sqlitepages.Row) error {
	w.cells, w.broken = w.cells[:0], false
	w.at = store.Addr{File: w.file, Set: w.table.Name, RowID: r.RowID, HasID: w.table.RowIDs}
	for _, col := range w.of {
		w.cells = append(w.cells, w.table.Value(r, col))
	}
	w.session = w.owner()
	if w.q.Enabled(rule.Meaning) {
		w.meaning()
	}
	if v := w.schemas[w.kind]; v != nil && !w.broken {
		w.hold(v)
	}
	if w.kind.Named(w.cells) {
		w.enter()
	}
	return nil
}

// owner returns the agent that the row belongs to, "" if it is not known.
func (w *row) owner() string {
	switch w.kind {
	case sdkdoc.Agent:
		return w.text(sdkdoc.AgentID)
	case sdkdoc.Run:
		return w.text(sdkdoc.RunAgent)
	}
	return w.catalog.AgentOf(w.cells[sdkdoc.EventRun].Bytes())
}

func (w *row) breach(id string, col int, says string, args ...any) {
	w.broken = true
	w.q.Report(rule.Finding{Rule: id, At: w.at, Pointer: "/" + w.kind.Columns()[col], Message: says, Args: args})
}

func (w *row) text(col int) string { return string(w.cells[col].Bytes()) }

// meaning asks what the client makes of each cell.
func (w *row) meaning() {
	for col, c := range w.cells {
		if c.Class != store.Text {
			continue
		}
		b := c.Bytes()
		switch w.kind.Form(col) {
		case sdkdoc.AsObject, sdkdoc.AsJSONOrNull, sdkdoc.AsParams:
			if !sdkdoc.JSON(b) {
				w.breach("RH406", col, "")
			}
		case sdkdoc.AsRef, sdkdoc.AsRefIfAny:
			if _, ok := sdkdoc.RootOf(b); !ok {
				w.breach("RH406", col, "")
			}
		case sdkdoc.AsTime, sdkdoc.AsTimeOrNull, sdkdoc.AsMoment, sdkdoc.AsEnd:
			if !sdkdoc.IsTime(b) {
				w.breach("RH409", col, "")
			}
		case sdkdoc.AsProse:
			if i := bytes.IndexByte(b, 0); i >= 0 {
				w.breach("RH410", col, "after %d bytes", i)
			}
		case sdkdoc.AsStatus, sdkdoc.AsRunStatus:
			if !w.kind.KnowsStatus(b) {
				w.breach("RH408", col, "%q", rule.Clip(string(b)))
			}
		case sdkdoc.AsPayload:
			w.payload(col, b)
		}
	}
}

func (w *row) payload(col int, b []byte) {
	switch {
	case !sdkdoc.JSON(b):
		w.breach("RH407", col, "")
	case w.text(sdkdoc.EventType) == sdkdoc.StreamEvent && string(b) != "null" && !sdkdoc.Streams(b):
		w.breach("RH411", col, "")
	}
}

// hold holds the row against its schema: as an object by column. What a text
// says matters only in the column of the status.
func (w *row) hold(v rule.Validator) {
	doc := append(w.doc[:0], '{')
	for col, name := range w.kind.Columns() {
		if w.of[col] < 0 {
			continue // an older version's
		}
		if len(doc) > 1 {
			doc = append(doc, ',')
		}
		doc = append(append(append(doc, '"'), name...), `":`...)
		switch c := w.cells[col]; c.Class {
		case store.Null:
			if w.table.Needs(w.of[col]) && w.q.Enabled(rule.Container) {
				return // which RH111 says
			}
			doc = append(doc, "null"...)
		case store.Int:
			doc = append(doc, '1')
		case store.Real:
			doc = append(doc, "1.5"...)
		case store.Blob:
			doc = append(doc, `{"blob":true}`...)
		default:
			if name == "status" {
				doc = sdkdoc.Quote(doc, c.Bytes())
			} else {
				doc = append(doc, `""`...)
			}
		}
	}
	w.doc = append(doc, '}')
	w.q.Matches(v, w.doc, w.at, "")
}

// enter enters the row in the catalog.
func (w *row) enter() {
	root := func(col int) string {
		id, _ := sdkdoc.RootOf(w.cells[col].Bytes())
		return id
	}
	switch w.kind {
	case sdkdoc.Agent:
		w.catalog.PutAgent(sdkcheck.Agent{ID: w.text(sdkdoc.AgentID), Workspace: w.text(sdkdoc.AgentWorkspace), Active: w.text(sdkdoc.AgentActive),
			Root: root(sdkdoc.AgentCheckpoint), At: w.at})
	case sdkdoc.Run:
		r := sdkcheck.Run{ID: w.text(sdkdoc.RunID), Agent: w.text(sdkdoc.RunAgent), Turn: w.cells[sdkdoc.RunTurn].Int(), At: w.at,
			Start: root(sdkdoc.RunStart), Latest: root(sdkdoc.RunLatest)}
		if s := w.cells[sdkdoc.RunStatus].Bytes(); sdkdoc.Run.KnowsStatus(s) {
			r.Status = strings.ToLower(string(s))
		}
		for _, col := range []int{sdkdoc.RunFinished, sdkdoc.RunCancelled, sdkdoc.RunExpired} {
			if w.cells[col].Class != store.Null {
				r.Ends = append(r.Ends, "/"+w.kind.Columns()[col])
			}
		}
		w.catalog.PutRun(r)
	case sdkdoc.Event:
		e := sdkcheck.Event{Run: w.cells[sdkdoc.EventRun].Bytes(), Seq: w.cells[sdkdoc.EventSeq].Int(), Offset: w.cells[sdkdoc.EventOffset].Bytes(),
			HasOffset: w.cells[sdkdoc.EventOffset].Class == store.Text, At: w.at}
		if k := w.cells[sdkdoc.EventKey]; k.Class == store.Text {
			e.Key = k.Bytes()
		}
		w.catalog.PutEvent(e)
	}
}

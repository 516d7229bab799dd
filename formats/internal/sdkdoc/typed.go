package sdkdoc

import (
	"strings"

	"rehome/formats/internal/members"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// Document is what all typed documents have: the account of their members, and
// those that nobody has described or that say something unusual.
type Document struct {
	Account session.Account
	Extras  []session.Extra
}

// Settle enters an object whose members were taken.
func (d *Document) Settle(o *members.Object) { d.Extras = append(d.Extras, o.Settle(&d.Account)...) }

// AgentDoc is an agent.
type AgentDoc struct {
	Document
	session.Head
	Status string
	Mode   string // the one it began in
	Root   string // the blob of its latest checkpoint
}

// RunDoc is a run.
type RunDoc struct {
	Document                   // its Extras are those of the turn
	Turn          session.Turn // except for its number
	Agent         string
	Number        int64
	Result        string
	Start, Latest string // blobs of checkpoints
}

// EventDoc is an event, whose payload is JSON.
type EventDoc struct {
	Document
	Run     string
	At      session.Stamp
	Payload []byte // nil of none; a view of the line

	o taken
}

// taken is an object by the columns of a kind.
type taken struct {
	members.Object
	at []int // member by column
}

func (t *taken) split(b []byte, k Kind) bool {
	t.at = kinds[k].at
	return t.Split(b, "", kinds[k].members)
}

func (t *taken) raw(col int) []byte          { return t.Raw(t.at[col]) }
func (t *taken) text(col int) string         { return t.Text(t.at[col]) }
func (t *taken) stamp(col int) session.Stamp { return t.Stamp(t.at[col]) }
func (t *taken) keep(col int)                { t.Keep(t.at[col]) }

// ReadAgent reads the line of an agent, which must be valid JSON; nil if it is
// not an object.
func ReadAgent(line []byte) *AgentDoc {
	var o taken
	bare, _, _ := Agent.Strip(line)
	if !o.split(bare, Agent) {
		return nil
	}
	d := &AgentDoc{Status: strings.ToLower(o.text(AgentStatus))}
	d.Agent = session.CursorSDK
	d.ID, d.Workspace, d.Title = o.text(AgentID), o.text(AgentWorkspace), o.text(AgentName)
	d.Created, d.Updated = o.stamp(AgentCreated), o.stamp(AgentUpdated)
	o.keep(AgentActive)
	var meta members.Object
	if raw := o.raw(AgentMetadata); raw != nil {
		if meta.Split(raw, "sdkMetadata.", []string{"initialMode"}) {
			d.Mode = meta.Text(0)
		} else {
			o.keep(AgentMetadata)
		}
	}
	d.Root = d.ref(&o, AgentCheckpoint)
	d.Settle(&o.Object)
	d.Settle(&meta)
	return d
}

// ref reads a reference to a checkpoint.
func (d *Document) ref(o *taken, col int) string {
	raw := o.raw(col)
	if raw == nil {
		return ""
	}
	var in members.Object
	if !in.Split(raw, o.Name(o.at[col])+".", refMembers) {
		o.keep(col)
		return ""
	}
	if v := in.Raw(0); v != nil && string(v) != "1" {
		in.Keep(0)
	}
	id := in.Text(1)
	d.Settle(&in)
	return id
}

// ReadRun reads the line of a run, which must be valid JSON; nil if it lacks
// what it is known by.
func ReadRun(line []byte) *RunDoc {
	var o taken
	bare, _, _ := Run.Strip(line)
	if !o.split(bare, Run) || !rawjson.IsText(o.raw(RunID)) || !rawjson.IsText(o.raw(RunAgent)) {
		return nil
	}
	d := &RunDoc{Agent: o.text(RunAgent), Number: o.Int(o.at[RunTurn], 0), Result: o.text(RunResult)}
	t := &d.Turn
	t.ID, t.RequestID, t.Status, t.Error = o.text(RunID), o.text(RunRequest), strings.ToLower(o.text(RunStatus)), o.text(RunError)
	o.keep(RunUsageRef)
	var inner Document // its members come after those of the run
	t.Model = inner.model(&o)
	t.Usage = inner.usage(&o)
	d.times(&o)
	d.Start = inner.ref(&o, RunStart)
	d.Latest = inner.ref(&o, RunLatest)
	d.Settle(&o.Object)
	d.Account.Add(inner.Account)
	t.Extras = append(d.Extras, inner.Extras...)
	return d
}

func (d *Document) model(o *taken) string {
	raw := o.raw(RunModel)
	if raw == nil {
		return ""
	}
	if raw[0] == '"' {
		return rawjson.Text(raw)
	}
	var in members.Object
	if !in.Split(raw, "model.", modelMembers) {
		o.keep(RunModel)
		return ""
	}
	id := in.Text(0)
	in.Keep(1)
	d.Settle(&in)
	return id
}

func (d *Document) usage(o *taken) *session.Usage {
	raw := o.raw(RunUsage)
	if raw == nil {
		return nil
	}
	u, in, ok := ReadUsage(raw)
	if !ok {
		o.keep(RunUsage)
		return nil
	}
	d.Settle(in)
	return u
}

// ReadUsage reads what a run cost.
func ReadUsage(raw []byte) (*session.Usage, *members.Object, bool) {
	var in members.Object
	if !in.Split(raw, "usage.", []string{"inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens", "totalTokens"}) {
		return nil, nil, false
	}
	u := session.UnknownUsage()
	for i, n := range []*int64{&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.Reasoning, &u.Total} {
		if *n = in.Int(i, -1); *n < -1 {
			*n = -1
			in.Keep(i)
		}
	}
	return &u, &in, true
}

// times reads when a run began and ended. When its record was made and touched
// is kept where it says something else.
func (d *RunDoc) times(o *taken) {
	t := &d.Turn
	created, updated := o.stamp(RunCreated), o.stamp(RunUpdated)
	t.Start, t.End = o.stamp(RunStarted), o.stamp(RunFinished)
	if !t.End.Known() && updated.Known() && Ended(t.Status) {
		t.End = session.Inferred(updated.Millis()) // no database holds the end of a run that failed
	}
	if created != t.Start {
		o.keep(RunCreated)
	}
	if updated.Millis() != t.End.Millis() {
		o.keep(RunUpdated)
	}
}

// Read reads the line of an event, which must be valid JSON; false if it is not
// an object. It may be used for one event after the other.
func (d *EventDoc) Read(line []byte) bool {
	o := &d.o
	if !o.split(line, Event) {
		return false
	}
	if offset := o.text(EventOffset); offset != "" && offset != string(o.raw(EventSeq)) {
		o.keep(EventOffset)
	}
	if o.text(EventType) != StreamEvent {
		o.keep(EventType)
	}
	o.keep(EventPayloadRef)
	o.keep(EventKey)
	if string(o.raw(EventCreated)) == `""` {
		o.Drop(o.at[EventCreated]) // a table without that column
	}
	d.At, d.Run, d.Payload = o.stamp(EventCreated), o.text(EventRun), o.raw(EventPayload)
	d.Document = Document{}
	d.Settle(&o.Object)
	return true
}

// ReadSeq reads of which run an event is, and its number there. The line must
// be valid JSON; false if it lacks either.
func ReadSeq(line []byte) (run string, seq int64, ok bool) {
	var id, number []byte
	for name, value := range rawjson.Members(line) {
		switch string(name) {
		case "runId":
			id = value
		case "seq":
			number = value
		}
	}
	if seq, ok = members.Whole(number); !ok || !rawjson.IsText(id) {
		return "", 0, false
	}
	return rawjson.Text(id), seq, true
}

package sdksession

import (
	"strings"

	"rehome/formats/internal/members"
	"rehome/formats/internal/rawjson"
	"rehome/formats/internal/secret"
	"rehome/formats/session"
)

// account counts the members of a document.
type account struct{ members, extras int64 }

func (a *account) enter(o *members.Object) []session.Extra {
	a.members += o.Count
	a.extras += int64(len(o.Extras))
	return o.Extras
}

func (a account) tally() session.Account {
	return session.Account{Members: a.members, MembersConverted: a.members - a.extras, MembersRaw: a.extras}
}

// agentDoc is an agent's document.
type agentDoc struct {
	session.Head
	status string
	mode   string // the one it began in
	root   string
	extras []session.Extra
	account
}

const (
	agentID = iota
	agentCwd
	agentStatus
	agentActiveRun
	agentName
	agentCreated
	agentUpdated
	agentMetadata
	agentCheckpoint
)

// ownLine is a line in which nobody says anything, without credentials.
func ownLine(line []byte) ([]byte, error) {
	b, _, err := rawjson.Line(line)
	if err == nil {
		b, _, _ = secret.StripOwn(b)
	}
	return b, err
}

// parseAgent reads an agent's document, nil if it is none.
func parseAgent(line []byte) *agentDoc {
	b, err := ownLine(line)
	var o members.Object
	if err != nil || !o.Split(b, "", []string{"agentId", "cwd", "status", "activeRunId", "name", "createdAt", "updatedAt", "sdkMetadata", "latestCheckpoint"}) {
		return nil
	}
	d := &agentDoc{}
	d.Agent = session.CursorSDK
	d.ID, d.Workspace, d.Title = o.Text(agentID), o.Text(agentCwd), o.Text(agentName)
	d.status = strings.ToLower(o.Text(agentStatus))
	d.Created, d.Updated = o.Stamp(agentCreated), o.Stamp(agentUpdated)
	o.Keep(agentActiveRun)
	var meta members.Object
	if raw := o.Raw(agentMetadata); raw != nil {
		if meta.Split(raw, "sdkMetadata.", []string{"initialMode"}) {
			d.mode = meta.Text(0)
		} else {
			o.Keep(agentMetadata)
		}
	}
	d.root = d.ref(&o, agentCheckpoint, "latestCheckpoint.")
	d.extras = append(append(d.extras, d.enter(&o)...), d.enter(&meta)...)
	return d
}

// ref reads a reference to a checkpoint.
func (d *agentDoc) ref(o *members.Object, i int, path string) string {
	id, extras := ref(o, i, path, &d.account)
	d.extras = append(d.extras, extras...)
	return id
}

func ref(o *members.Object, i int, path string, count *account) (string, []session.Extra) {
	raw := o.Raw(i)
	if raw == nil {
		return "", nil
	}
	var in members.Object
	if !in.Split(raw, path, []string{"schemaVersion", "rootBlobId"}) {
		o.Keep(i)
		return "", nil
	}
	if v := in.Raw(0); v != nil && string(v) != "1" {
		in.Keep(0)
	}
	id := in.Text(1)
	return id, count.enter(&in)
}

// runDoc is a run's document.
type runDoc struct {
	turn          session.Turn // but for its number
	agent         string
	number        int64
	result        string
	start, latest string
	account
}

const (
	runID = iota
	runRequest
	runAgent
	runNumber
	runStatus
	runModel
	runResult
	runError
	runUsageRef
	runUsage
	runCreated
	runUpdated
	runStarted
	runEnded
	runStart
	runLatest
)

// parseRun reads a run's document, nil if it is none.
func parseRun(line []byte) *runDoc {
	b, err := ownLine(line)
	var o members.Object
	if err != nil || !o.Split(b, "", []string{"runId", "requestId", "agentId", "turnNumber", "status", "model", "result", "error", "usageRef", "usage", "createdAt", "updatedAt",
		"startedAt", "endedAt", "startCheckpointRef", "latestCheckpointRef"}) || !isText(o.Raw(runID)) || !isText(o.Raw(runAgent)) {
		return nil
	}
	d := &runDoc{agent: o.Text(runAgent), number: o.Int(runNumber, 0), result: o.Text(runResult)}
	t := &d.turn
	t.ID, t.RequestID, t.Status, t.Error = o.Text(runID), o.Text(runRequest), strings.ToLower(o.Text(runStatus)), o.Text(runError)
	o.Keep(runUsageRef)
	d.model(&o)
	d.usage(&o)
	d.times(&o)
	var extras []session.Extra
	d.start, extras = ref(&o, runStart, "startCheckpointRef.", &d.account)
	t.Extras = append(t.Extras, extras...)
	d.latest, extras = ref(&o, runLatest, "latestCheckpointRef.", &d.account)
	t.Extras = append(append(d.enter(&o), t.Extras...), extras...)
	return d
}

func (d *runDoc) model(o *members.Object) {
	raw := o.Raw(runModel)
	if raw == nil {
		return
	}
	var in members.Object
	if raw[0] == '"' {
		d.turn.Model = rawjson.Text(raw)
		return
	}
	if !in.Split(raw, "model.", []string{"id", "params"}) {
		o.Keep(runModel)
		return
	}
	d.turn.Model = in.Text(0)
	in.Keep(1)
	d.turn.Extras = append(d.turn.Extras, d.enter(&in)...)
}

func (d *runDoc) usage(o *members.Object) {
	raw := o.Raw(runUsage)
	if raw == nil {
		return
	}
	u, in, ok := parseUsage(raw)
	if !ok {
		o.Keep(runUsage)
		return
	}
	d.turn.Usage = u
	d.turn.Extras = append(d.turn.Extras, d.enter(in)...)
}

// parseUsage reads what a run cost.
func parseUsage(raw []byte) (*session.Usage, *members.Object, bool) {
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
func (d *runDoc) times(o *members.Object) {
	t := &d.turn
	created, updated := o.Stamp(runCreated), o.Stamp(runUpdated)
	t.Start, t.End = o.Stamp(runStarted), o.Stamp(runEnded)
	if !t.End.Known() && updated.Known() && terminal(t.Status) {
		t.End = session.Inferred(updated.Millis()) // no database holds the end of a run that failed
	}
	if created != t.Start {
		o.Keep(runCreated)
	}
	if updated.Millis() != t.End.Millis() {
		o.Keep(runUpdated)
	}
}

func terminal(status string) bool {
	switch status {
	case "finished", "error", "cancelled", "expired":
		return true
	}
	return false
}

package sdkwrite

import (
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/filename"
	"rehome/formats/internal/transcript"
	"rehome/formats/session"
)

// namespace begins the name of each id that is made here. It must never change, so that
// a session has the same ids whenever it is written.
const namespace = "rehome/cursor-sdk/1"

// AgentID returns the id of a session as an agent. The SDK's own agents keep theirs, if
// it can be used.
func AgentID(h *session.Head) string {
	switch {
	case h.Agent == session.CursorSDK && usable(h.ID):
		return h.ID
	case formats.IsUUID(h.ID):
		return "agent-" + strings.ToLower(h.ID)
	}
	return "agent-" + filename.NamedUUID(namespace, "agent", h.Agent, h.ID)
}

// usable reports whether the SDK finds an agent by an id: it asks its cloud for those that
// begin with bc-, reads no text beyond a NUL, and names a folder of transcripts by the id.
func usable(id string) bool {
	return id != "" && id != "." && id != ".." && !strings.HasPrefix(id, "bc-") && !strings.ContainsRune(id, 0)
}

// path returns the name of a draft's folder.
func path(h *session.Head) string {
	id := AgentID(h)
	if filename.Safe(id) {
		return id
	}
	return "agent-" + filename.NamedUUID(namespace, "folder", id)
}

// ids gives ids to the runs of an agent. No two have the same.
type ids struct {
	agent string
	own   bool // the session is one of the SDK's
	used  map[string]struct{}
}

// run returns the id of a run.
func (d *ids) run(t *session.Turn, number int) string {
	if d.own && t.ID != "" && d.free(t.ID) {
		return t.ID
	}
	id := "run-" + filename.NamedUUID(namespace, "run", d.agent, strconv.Itoa(number))
	d.free(id)
	return id
}

// request returns the request id of a run, by which a reader finds its turn.
func (d *ids) request(t *session.Turn, number int) string {
	if t.RequestID != "" && d.free("request "+t.RequestID) {
		return t.RequestID
	}
	return filename.NamedUUID(namespace, "request", d.agent, strconv.Itoa(number))
}

func (d *ids) free(id string) bool {
	_, taken := d.used[id]
	d.used[id] = struct{}{}
	return !taken
}

// transcriptPath returns where the SDK keeps the readable copy of an agent.
func transcriptPath(id string) string {
	name := transcript.Spell(id)
	return transcript.Folder + "/" + name + "/" + name + ".jsonl"
}

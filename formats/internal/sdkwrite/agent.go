package sdkwrite

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rehome/formats"
	"rehome/formats/internal/sdkdoc"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/store"
)

// agent writes a session as an agent: everything but its conversation.
type agent struct {
	build   formats.SessionBuild
	at      string          // the current message, for losses
	s       session.Session // without its streams
	id, cwd string
	files   [sdkdoc.Kinds]*out
	events  events
	blobs   *blobs
	copy    *transcriptWriter
	ids     ids
	run     *run // the current one
	turns   int
	before  int    // turns of the session that this one continues
	first   int64  // time of the first event
	title   string // first line of the first prompt
	buf     []byte

	args, results map[string]session.Raw // of the current message: what only events have
}

func newAgent(s *session.Session, b formats.SessionBuild) (*agent, error) {
	a := &agent{build: b, s: *s, id: AgentID(&s.Head), cwd: cmp.Or(b.Cwd, s.Workspace, "/"), args: map[string]session.Raw{}, results: map[string]session.Raw{}}
	if c := b.Continues; c != nil {
		a.id, a.before = c.ID, c.Turns
	}
	a.s.Messages, a.s.Files = nil, nil
	a.ids = ids{agent: a.id, own: s.Agent == session.CursorSDK && s.Parent == nil, used: map[string]struct{}{}}
	if err := os.Mkdir(b.Path, 0o700); err != nil {
		return nil, err
	}
	for k := range sdkdoc.Kind(sdkdoc.Kinds) {
		a.files[k] = &out{path: filepath.Join(b.Path, k.File())}
	}
	a.copy = &transcriptWriter{out: &out{path: filepath.Join(b.Path, filepath.FromSlash(transcriptPath(a.id)))}}
	a.events = events{out: a.files[sdkdoc.Event], id: a.id, now: session.FirstMoment}
	if inReach(s.Created) {
		a.events.now = s.Created.Millis()
	}
	a.blobs = newBlobs(a.files[sdkdoc.Checkpoint], a.id)
	return a, nil
}

// bare returns a session without what its agent holds, for its conversation.
func (a *agent) bare(s *session.Session) *session.Session {
	b := *s
	b.Extras = slices.DeleteFunc(slices.Clone(s.Extras), func(x session.Extra) bool { return metadataName(x) != "" })
	return &b
}

// originName is the member of the SDK's metadata that says of which session an agent is a
// copy.
const originName = "rehome"

// metadataName returns the name of a member of the SDK's metadata that an Extra carries
// as a whole, "" if it is something else or is made anew.
func metadataName(x session.Extra) string {
	name, ok := strings.CutPrefix(x.Name, "sdkMetadata.")
	if !ok || strings.Contains(name, ".") || name == "initialMode" {
		return ""
	}
	return name
}

// close closes all files.
func (a *agent) close() error {
	errs := []error{a.blobs.end(), a.copy.out.close()}
	for _, f := range a.files {
		errs = append(errs, f.close())
	}
	return errors.Join(errs...)
}

// note reports a loss in the current message, or in the session.
func (a *agent) note(code loss.Code) {
	a.build.OnLoss.Add(loss.Loss{Code: code, At: store.Addr{File: cmp.Or(a.at, a.s.ID)}})
}

// unbroken returns a text as the SDK reads it back: the text of its database ends at a NUL.
func (a *agent) unbroken(text string) string {
	out := withoutNUL(text)
	if out != text {
		a.note(loss.TextRepaired)
	}
	return out
}

// withoutNUL replaces each NUL of a text.
func withoutNUL(text string) string { return strings.ReplaceAll(text, "\x00", "\uFFFD") }

// end writes the last run and the agent, which name the root of the conversation.
func (a *agent) end(root string) error {
	a.at = ""
	a.endRun(root)
	status := "idle"
	switch a.s.Status {
	case "", status:
	case "archived":
		status = a.s.Status
	default:
		a.note(loss.SessionMetadata)
	}
	title := a.unbroken(a.s.Title)
	if title == "" && a.title != "" {
		a.note(loss.TitleFromPrompt)
		title = a.title
	}
	created, updated := a.events.now, a.events.now
	if a.first > 0 {
		created = a.first
	}
	if inReach(a.s.Created) {
		created = a.s.Created.Millis()
	}
	if inReach(a.s.Updated) {
		updated = a.s.Updated.Millis()
	}
	b := quote([]byte(`{"agentId":`), a.id)
	b = appendMember(b, "cwd", a.cwd)
	b = appendMember(b, "status", status)
	b = quote(append(b, `,"activeRunId":null,"name":`...), cmp.Or(title, "New Agent"))
	b = strconv.AppendInt(append(b, `,"createdAt":`...), created, 10)
	b = strconv.AppendInt(append(b, `,"updatedAt":`...), updated, 10)
	b = a.metadata(append(b, `,"sdkMetadata":`...))
	b = append(appendRef(append(b, `,"latestCheckpoint":`...), root), '}')
	a.files[sdkdoc.Agent].line(b)
	return nil
}

// metadata appends what the SDK keeps for the program that made the agent, and of which
// session this is a copy.
func (a *agent) metadata(dst []byte) []byte {
	between := byte('{')
	add := func(name string) {
		dst = append(quote(append(dst, between), name), ':')
		between = ','
	}
	if a.s.Mode == "agent" || a.s.Mode == "plan" {
		add("initialMode")
		dst = quote(dst, a.s.Mode)
	}
	for i, x := range a.s.Extras {
		name := metadataName(x)
		switch {
		case name == "" || name == originName && a.id != a.s.ID:
		case slices.ContainsFunc(a.s.Extras[:i], func(y session.Extra) bool { return y.Name == x.Name }):
			a.note(loss.SessionMetadata)
		default:
			add(name)
			dst = append(dst, x.Raw...)
		}
	}
	if a.id != a.s.ID {
		add(originName)
		dst = append(appendMember(quote(append(dst, `{"agent":`...), a.s.Agent), "session", a.s.ID), '}')
	}
	if between == '{' {
		dst = append(dst, '{')
	}
	return append(dst, '}')
}

// appendRef appends a reference to a checkpoint, null without one.
func appendRef(dst []byte, root string) []byte {
	if root == "" {
		return append(dst, "null"...)
	}
	return append(append(append(dst, `{"schemaVersion":1,"rootBlobId":"`...), root...), `"}`...)
}

package agentstate

import (
	"bytes"

	"rehome/formats/internal/wire"
	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// root is what the root of a conversation says: its blobs by role, and its own fields.
type root struct {
	id    ID
	named bool // it has a blob of its own; otherwise id is that of the blob it is nested in

	prompts  []ID // what the model sees, as JSON messages
	turns    []ID
	todos    []ID
	pending  []pending
	summary  ID
	plan     ID
	archives []ID
	files    []snapshot
	timings  []timing
	children []childRef
	runs     map[string]run    // by the parent's call id
	threads  map[string]string // by call id; only one build of the client writes them

	context *session.Context
	uris    []string
	mode    string
	branch  string
	repos   []session.Repo
	started uint64
	extras  []session.Extra
	cut     bool   // the end of its bytes is not protobuf
	tail    int32  // the offset of doc
	doc     []byte // the JSON message after the references
}

type timing struct{ millis, end uint64 }

// childRef names a subagent. Its state is a blob, or inline in the root.
type childRef struct {
	name   string
	blob   ID
	isBlob bool
	inline []byte
}

// run is what the parent knows of a subagent's run.
type run struct {
	agent, title, status string
	at                   session.Stamp
}

// parseRoot decodes a root. b is only valid until the next read.
func (s *State) parseRoot(b []byte) {
	r, c := &s.root, codecs().root
	m := c.Decode(b)
	if doc := jsonTail(m.Raw[len(m.Raw)-m.Cut:]); doc != nil {
		r.doc, r.tail = bytes.Clone(doc), int32(len(b)-m.Cut)
		m.Raw, m.Cut = m.Raw[:len(m.Raw)-m.Cut], 0
	}
	r.cut = m.Cut > 0
	r.prompts, r.turns, r.todos, r.archives, r.started = m.Prompts, m.Turns, m.Todos, m.Archives, m.Started
	if m.Archive != (ID{}) {
		r.archives = append([]ID{m.Archive}, r.archives...)
	}
	r.summary, r.plan = m.Summary, m.Plan
	r.runs, r.threads, s.childAt = map[string]run{}, map[string]string{}, map[string]int{}
	for raw := range wire.List(bytes.Clone(m.Pending)).All() {
		r.pending = append(r.pending, pending{raw: raw, line: line{asked: -1}})
	}
	if m.Tokens != nil {
		s.rootContext(r, m.Tokens)
	}
	for uri := range m.URIs.All() {
		r.uris = append(r.uris, s.text(uri, "previousWorkspaceUris", &r.extras))
	}
	if r.mode = word(c.Message, "mode", m.Mode); r.mode == "" {
		c.Release(m, "mode")
	}
	s.rootTimings(r, m)
	s.rootFiles(m)
	r.branch = s.text(m.Branch, "activeBranchName", &r.extras)
	for b := range m.Repos.All() {
		s.rootRepo(r, b)
	}
	s.rootChildren(m, b)
	r.extras = append(s.keep(c.Message, &m.Unknown), r.extras...)
}

// jsonTail returns the message at the end of a root of 2025; nil if the end is not JSON.
func jsonTail(rest []byte) []byte {
	if len(rest) == 0 || rest[0] != '{' {
		return nil
	}
	doc, _, err := rawjson.Line(rest)
	if err != nil {
		return nil
	}
	return doc
}

// rootTail outlines that message. Only a root in a blob of its own has one.
func (s *State) rootTail() (line, bool) {
	if s.root.doc == nil || !s.root.named {
		return line{}, false
	}
	l := s.outlineDoc(s.root.id, s.root.doc)
	l.tail = s.root.tail
	return l, true
}

// known reports whether a root holds anything that the state uses.
func (r *root) known() bool {
	return len(r.prompts)+len(r.turns)+len(r.archives)+len(r.todos)+len(r.pending)+len(r.files)+len(r.children)+len(r.uris) > 0 ||
		r.mode != "" || r.context != nil
}

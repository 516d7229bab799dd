package agentstate

import (
	"rehome/formats/internal/rawjson"
	"rehome/formats/internal/wire"
	"rehome/formats/session"
)

// root is a ConversationStateStructure: a conversation's blobs by role.
type root struct {
	id    ID
	named bool // it is a blob; else it lies inside another message, whose id this is

	prompts  []ID // what the model sees, as JSON messages
	turns    []ID
	todos    []ID
	pending  []pending
	summary  []ID
	plan     []ID
	archives []ID
	files    []snapshot
	timings  []timing
	children []childRef
	runs     map[string]run    // by the parent's call id
	threads  map[string]string // of one build: call ids and subagents

	context *session.Context
	uris    []string
	mode    string
	branch  string
	repos   []session.Repo
	started uint64
	extras  []session.Extra
	cut     bool   // its bytes stop being protobuf
	tail    int32  // where they do, if a JSON message lies there
	doc     []byte // that message
}

type timing struct {
	millis, end uint64
	raw         []byte
}

// childRef is a subagent by name: its state is a blob, or lies in the root.
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

// Numbers of ConversationStateStructure.
const (
	rootPrompts    = 1
	rootTodos      = 3
	rootPending    = 4
	rootTokens     = 5
	rootSummary    = 6
	rootPlan       = 7
	rootTurns      = 8
	rootURIs       = 9
	rootMode       = 10
	rootArchive    = 11
	rootFiles      = 12
	rootArchives   = 13
	rootTimings    = 14
	rootFilesV2    = 15
	rootChildren   = 16
	rootBranch     = 19
	rootRepos      = 21
	rootThreads    = 24
	rootStarted    = 26
	rootRuns       = 30
	rootChildRefs  = 31
	rootDescriptor = "ConversationStateStructure"
)

// parseRoot reads a root.
func (s *State) parseRoot(all []byte) {
	r := &s.root
	b, refs := s.rootRefs(all)
	if doc, at := jsonTail(b); doc != nil {
		r.doc, r.tail, b = doc, int32(at), b[:at]
	}
	r.runs, r.threads = map[string]run{}, map[string]string{}
	rest, whole := s.fields(b, func(f *wire.Reader) bool {
		if f.Type == wire.Bytes {
			return s.rootBytes(r, f)
		}
		switch {
		case f.Is(rootMode, wire.Varint):
			r.mode = modeName(f.Uint)
			return r.mode != ""
		case f.Is(rootStarted, wire.Varint):
			r.started = f.Uint
			return true
		}
		return false
	})
	r.cut = !whole
	r.extras = append(s.leftover(rootDescriptor, rest), r.extras...)
	r.tail += refs
}

// rootRefs takes the references to prompt messages and turns, which are nearly
// all of a long conversation's root, and gives a copy of what is left, which
// stays: inline subagents and pending messages are views of it. n is how many
// bytes were taken.
func (s *State) rootRefs(b []byte) (rest []byte, n int32) {
	r := &s.root
	list := func(f *wire.Reader) *[]ID {
		switch {
		case f.Is(rootPrompts, wire.Bytes) && len(f.Body) == len(ID{}):
			return &r.prompts
		case f.Is(rootTurns, wire.Bytes) && len(f.Body) == len(ID{}):
			return &r.turns
		}
		return nil
	}
	var prompts, turns int
	for f := wire.Read(b); f.Next(); {
		switch list(&f) {
		case &r.prompts:
			prompts++
		case &r.turns:
			turns++
		}
	}
	r.prompts, r.turns = make([]ID, 0, prompts), make([]ID, 0, turns)
	f := wire.Read(b)
	for f.Next() {
		if l := list(&f); l != nil {
			*l = append(*l, ID(f.Body))
			n += int32(len(f.Raw))
			continue
		}
		rest = append(rest, f.Raw...)
	}
	s.ledger.took(int64(prompts + turns))
	return append(rest, f.Rest()...), n
}

// jsonTail finds the message that lies behind the references in a root of 2025.
func jsonTail(b []byte) (doc []byte, at int) {
	r := wire.Read(b)
	for r.Next() {
	}
	rest := r.Rest()
	if len(rest) == 0 || rest[0] != '{' {
		return nil, 0
	}
	doc, _, err := rawjson.Line(rest)
	if err != nil {
		return nil, 0
	}
	return doc, len(b) - len(rest)
}

// rootTail outlines that message. Only a root that is a blob has one.
func (s *State) rootTail() (line, bool) {
	if s.root.doc == nil || !s.root.named {
		return line{}, false
	}
	l := s.outlineDoc(s.root.id, s.root.doc)
	l.tail = s.root.tail
	return l, true
}

// rootBytes takes a field of bytes.
func (s *State) rootBytes(r *root, f *wire.Reader) bool {
	var list *[]ID
	switch f.Num {
	case rootPrompts, rootTurns: // such a reference is no id
		return false
	case rootTodos:
		list = &r.todos
	case rootSummary:
		list = &r.summary
	case rootPlan:
		list = &r.plan
	case rootArchive, rootArchives:
		list = &r.archives
	}
	if list != nil {
		id, ok := asID(f.Body)
		if ok {
			*list = append(*list, id)
		}
		return ok
	}
	switch f.Num {
	case rootPending:
		r.pending = append(r.pending, pending{raw: f.Body, line: line{asked: -1}})
	case rootURIs:
		r.uris = append(r.uris, s.text(f.Body, "previousWorkspaceUris", &r.extras))
	case rootBranch:
		r.branch = s.text(f.Body, "activeBranchName", &r.extras)
	case rootTokens:
		s.rootContext(r, f.Body)
	case rootTimings:
		return s.rootTiming(r, f)
	case rootRepos:
		s.rootRepo(r, f.Body)
	case rootFiles, rootFilesV2:
		return s.snapshot(f.Body, f.Num == rootFilesV2)
	case rootChildren, rootChildRefs:
		return s.childEntry(f.Body, f.Num == rootChildRefs)
	case rootThreads:
		key, value, ok := mapEntry(f.Body)
		if ok {
			r.threads[string(key)] = string(value)
		}
		return ok
	case rootRuns:
		key, value, ok := mapEntry(f.Body)
		if ok {
			r.runs[string(key)] = s.childRun(string(key), value)
		}
		return ok
	default:
		return false
	}
	return true
}

// mapEntry takes a map's entry apart whose key is text and whose value bytes.
func mapEntry(b []byte) (key, value []byte, ok bool) {
	r := wire.Read(b)
	ok = true
	for r.Next() {
		switch {
		case r.Is(1, wire.Bytes):
			key = r.Body
		case r.Is(2, wire.Bytes):
			value = r.Body
		default:
			ok = false
		}
	}
	return key, value, ok && len(r.Rest()) == 0
}

// modeName is a mode in the client's own words; "" for one that is not known.
func modeName(n uint64) string {
	names := [...]string{"", "agent", "ask", "plan", "debug", "triage", "project", "multitask", "custom"}
	if n < uint64(len(names)) {
		return names[n]
	}
	return ""
}

// known reports whether a root states anything at all.
func (r *root) known() bool {
	return len(r.prompts)+len(r.turns)+len(r.archives)+len(r.todos)+len(r.pending)+len(r.files)+len(r.children)+len(r.uris) > 0 ||
		r.mode != "" || r.context != nil
}

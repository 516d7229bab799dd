package agentstate

import (
	"bytes"
	"hash/maphash"

	"rehome/formats/session"
	"rehome/internal/rawjson"
)

// The outline is what is known of every message at once: who speaks, of what
// kinds its parts are, and a hash of each text and call id, enough to join the
// turns with the prompt messages. Content is read again when it is wanted.

// role is the role of a prompt message.
type role uint8

const (
	unknownRole role = iota
	systemRole
	userRole
	assistantRole
	toolRole
)

// line is a prompt message, or a boundary between archived and live ones. It takes 64
// bytes, as a conversation can have a hundred thousand.
type line struct {
	id       ID
	from, to int32 // in State.parts
	turn     int32 // that it begins; -1
	archive  int32
	tail     int32 // offset of its JSON in the blob
	asked    int32 // in State.askers; -1
	role     role
	archived bool
	boundary bool // where the conversation was compacted
	summary  bool // the summary that stands for archived messages
	clean    bool // its JSON needs no repair
	content  bool // a user's message that holds more than context
}

// asker holds what only a user's message has.
type asker struct {
	text      uint64 // of the prompt
	request   uint64
	message   uint64 // the id of the turn's message, if a mark states it
	requestID string
}

// asker holds what only a user's message has.
func (s *State) asker(l *line) asker {
	if l.asked < 0 {
		return asker{}
	}
	return s.askers[l.asked]
}

// partKind is the kind of a part of an assistant's or a tool's message.
type partKind uint8

const (
	otherPart partKind = iota
	textPart
	thinkingPart
	callPart
	resultPart
)

// spoken is what is kept of a part once the plan is made: 8 bytes.
type spoken struct {
	call name
	kind partKind
}

// partLine outlines a part of a prompt message, until the plan is made.
type partLine struct {
	key  uint64 // of the text, or of the call's id
	step int32  // that says the same; -1
	call name   // the call's id
	kind partKind
}

// stepLine outlines a step of a turn: 56 bytes.
type stepLine struct {
	id         ID // of its blob; of the parent's step if within
	start, end int64
	call       name
	kind       partKind
	result     bool // the call has a result
	matched    bool
}

// newStep is a step while it is outlined.
type newStep struct {
	stepLine
	key uint64 // of the text, or of the call's id
}

// within reports whether all steps are nested in one step of a parent, and are in
// State.inline; otherwise each is a blob.
func (s *State) within() bool { return len(s.inline) > 0 }

// turnLine outlines a turn.
type turnLine struct {
	id                      ID
	user, output            ID // zero if there is none
	shell, spoiled          bool
	from, to                int32 // in State.steps
	request, message, model string
	prompt                  string // its first bytes
	text                    uint64
	start, end              session.Stamp
	line                    int32 // the prompt message that holds the user's text; -1
	region                  int32 // where its prompt messages begin; -1
	firstAnchor, lastAnchor int32
}

const promptBytes = 200

func (s *State) hash(b []byte) uint64 {
	if b = bytes.TrimSpace(b); len(b) == 0 {
		return 0
	}
	return maphash.Bytes(s.seed, b) | 1
}

// hashJSON hashes the text of a JSON string.
func (s *State) hashJSON(value []byte) uint64 {
	if len(value) < 2 || value[0] != '"' {
		return 0
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return s.hash(value[1 : len(value)-1])
	}
	s.scratch = rawjson.AppendText(s.scratch[:0], value)
	return s.hash(s.scratch)
}

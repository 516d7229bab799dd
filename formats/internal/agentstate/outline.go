package agentstate

import (
	"bytes"
	"hash/maphash"

	"rehome/formats/internal/rawjson"
	"rehome/formats/session"
)

// The outline is what is known of every message at once: who speaks, of what
// kinds its parts are, and a hash of each text and call id, enough to join the
// turns with the prompt messages. Content is read again when it is wanted.

// role is who speaks in a prompt message.
type role uint8

const (
	unknownRole role = iota
	systemRole
	userRole
	assistantRole
	toolRole
)

// line is a prompt message, or a boundary between archived ones and live ones:
// 64 bytes, as a conversation can have a hundred thousand.
type line struct {
	id       ID
	from, to int32 // in State.parts
	turn     int32 // the turn it begins; -1
	archive  int32
	tail     int32 // where in the blob its JSON begins
	asked    int32 // in State.askers; -1
	role     role
	archived bool
	boundary bool // where the conversation was compacted
	summary  bool // the summary that stands for archived messages
	clean    bool // its JSON needs no mending
	content  bool // of a user's: holds more than context
}

// asker is what only a user's message has.
type asker struct {
	text      uint64 // of the prompt
	request   uint64
	requestID string
}

// asker is what a line has as a user's.
func (s *State) asker(l *line) asker {
	if l.asked < 0 {
		return asker{}
	}
	return s.askers[l.asked]
}

// partKind is what a part of an assistant's or a tool's message is.
type partKind uint8

const (
	otherPart partKind = iota
	textPart
	thinkingPart
	callPart
	resultPart
)

// spoken is what is known of a part once the plan is made: 8 bytes.
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

// stepLine is a step of a turn: 56 bytes.
type stepLine struct {
	id         ID // where it lies; of a conversation that lies in one step, that
	start, end int64
	call       name
	kind       partKind
	result     bool // of a call: there is one
	matched    bool
}

// newStep is a step while it is outlined.
type newStep struct {
	stepLine
	key uint64 // of the text, or of the call's id
}

// within reports whether all steps lie in one step of a parent's, in which case
// they are State.inline; else each is a blob.
func (s *State) within() bool { return len(s.inline) > 0 }

// turnLine is a turn.
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

// hashJSON hashes a JSON string's text, or what an array's text parts say.
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

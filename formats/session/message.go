package session

import "slices"

// Role is who speaks.
type Role string

// The roles. A user message holds what the user typed; context that the client
// added to it is in the same message, as Injected parts.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool" // the result of one call
)

// Message is one step of the conversation.
type Message struct {
	ID     string // unique in the session, and the same whenever it is decoded
	Parent string // "" if it follows the previous message
	Branch string // "" for the live branch
	Role   Role
	Turn   *Turn // the turn that starts here; nil on every other message
	At     Stamp
	End    Stamp
	Model  string // "" if not known for this message
	// Simulated messages have the role user, but the client wrote them.
	Simulated bool
	// Archived messages precede a Boundary: the model no longer sees them.
	Archived bool
	Parts    []Part
	Origin   []string // the records it came from, as addresses
	Extras   []Extra
}

// Said reports whether a message is part of the conversation: it starts a turn, answers,
// reasons, calls or returns. Others are the client's own: system prompts, context, compactions, records.
// Only what was said is counted where people read how many messages there are.
func (m *Message) Said() bool {
	return m.Turn != nil || m.Role != System && !m.Simulated && slices.ContainsFunc(m.Parts, func(p Part) bool {
		switch p.(type) {
		case *Injected, *Opaque, *Boundary, *Summary:
			return false
		}
		return true
	})
}

// Turn is a prompt and everything that follows from it.
type Turn struct {
	Number    int    // from 1
	ID        string // the client's id for it, such as that of an SDK run
	RequestID string
	Kind      string // "" for a turn of the agent, "shell" for a command that the user ran
	Model     string
	Mode      string
	Status    string // queued, running, finished, error, cancelled, expired; "" if not known
	Error     string
	Usage     *Usage
	Start     Stamp
	End       Stamp
	Extras    []Extra
}

// Usage counts the tokens of a turn. -1 means that the source does not state it.
type Usage struct{ Input, Output, CacheRead, CacheWrite, Reasoning, Total int64 }

// UnknownUsage returns a Usage without any count.
func UnknownUsage() Usage { return Usage{-1, -1, -1, -1, -1, -1} }

package session

// Role is who speaks.
type Role string

// The roles. A user's message holds what the user typed; what the client put
// in front of it stands in the same message as Context parts.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool" // the result of one call
)

// Message is one step of the conversation.
type Message struct {
	ID     string // unique in the session, and the same whenever it is decoded
	Parent string // "" if it follows the message in front of it
	Branch string // "" for the live branch
	Role   Role
	Turn   *Turn // the turn that begins here; nil on every other message
	At     Stamp
	End    Stamp
	Model  string // where it is known for this message
	// Simulated messages have the user's role, but the client wrote them.
	Simulated bool
	// Archived messages lie before a Boundary: the model does not see them any
	// more.
	Archived bool
	Parts    []Part
	Origin   []string // the records it came from, as addresses
	Extras   []Extra
}

// Turn is a prompt and all that came of it.
type Turn struct {
	Number    int    // from 1
	ID        string // the client's name for it, such as a run's
	RequestID string
	Kind      string // "" for the agent's, "shell" for a command of the user's own
	Model     string
	Mode      string
	Status    string // queued, running, finished, error, cancelled, expired; "" if nothing tells
	Error     string
	Usage     *Usage
	Start     Stamp
	End       Stamp
	Extras    []Extra
}

// Usage is what a turn cost in tokens. A count of -1 was not stated.
type Usage struct{ Input, Output, CacheRead, CacheWrite, Reasoning, Total int64 }

// UnknownUsage states nothing.
func UnknownUsage() Usage { return Usage{-1, -1, -1, -1, -1, -1} }

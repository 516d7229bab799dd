package session

// Part is one piece of the content of a message: one of the types below.
type Part interface {
	Record
	part()
}

// Text is text that the user or the model wrote.
type Text struct {
	Text string
	Source
	Extras []Extra
}

// Source says which source a part was taken from, if that is not the main one of
// its session: "prompts", "events", "transcript", "bubbles".
type Source struct{ From string }

// Injected is context that the client added to a prompt: the content of an envelope
// tag, an attachment, or a command that the user ran and its output.
type Injected struct {
	Tag  string // the tag, or the kind of attachment
	Text string // the content
	Data Raw    // an attachment's own record
	Source
	Extras []Extra
}

// Thinking is the model's reasoning.
type Thinking struct {
	Text      string
	Signature string
	Redacted  bool   // the provider withheld the text
	Data      string // what a redacted part holds instead
	Millis    int64  // duration in milliseconds; 0 if not known
	Start     Stamp
	End       Stamp
	Source
	Extras []Extra
}

// ToolCall is a call of a tool by the model.
type ToolCall struct {
	ID    string
	Name  string // the model's name for the tool; the name of the kind if only that is known
	Kind  string // the client's kind: shell, read, edit, …; "tool-<number>" if it is not in the table
	Input Raw    // the arguments as the model wrote them
	Args  Raw    // the arguments as the tool ran with them
	Start Stamp
	End   Stamp
	Child string // the session that this call started
	Source
	Extras []Extra
}

// ToolResult is the result of a call.
type ToolResult struct {
	Call    string // the id of the call
	Status  string // success, failure, rejected, timeout, …, by kind of tool; "" if not known
	Error   bool
	Content []Part // what the model saw: Text, Media, Opaque
	Value   Raw    // the client's structured record of the result
	// FileChange, if set, reads the content of an edited file before and after the
	// edit, which Session.Files yields, too. It is not part of the canonical form,
	// and can be called as long as the message is valid.
	FileChange func() (before, after *Body)
	Source
	Extras []Extra
}

// Media is an image or a file.
type Media struct {
	Mime, Name string
	Data       []byte // the content, if the store has it
	URI        string // where the content is, if not
	Source
	Extras []Extra
}

// Summary is what the client keeps of messages that it has compacted.
type Summary struct {
	Text string
	Source
	Extras []Extra
}

// Boundary is where the client compacted the session: the messages before it are
// archived.
type Boundary struct {
	Archived int // the number of these messages
	Extras   []Extra
}

// Opaque is content that was recognized but not converted.
type Opaque struct {
	Kind string
	Raw  Raw
	Source
}

func (*Text) part()       {}
func (*Injected) part()   {}
func (*Thinking) part()   {}
func (*ToolCall) part()   {}
func (*ToolResult) part() {}
func (*Media) part()      {}
func (*Summary) part()    {}
func (*Boundary) part()   {}
func (*Opaque) part()     {}

package session

// Part is a piece of a message: one of the types below.
type Part interface{ part() }

// Text is what somebody wrote.
type Text struct {
	Text   string
	Source // where it came from
	Extras []Extra
}

// Source says which source a part was taken from, where it is not the one that
// the session's spine comes from: "prompts", "events", "transcript", "bubbles".
type Source struct{ From string }

// Injected is context that the client put in front of a prompt: what stood in
// an envelope tag, or a thing the user attached; or a piece of a command of the
// user's, or of what that printed.
type Injected struct {
	Tag  string // the envelope's tag, or the kind of attachment
	Text string // what it held
	Data Raw    // an attachment's own record
	Source
	Extras []Extra
}

// Thinking is the model's reasoning.
type Thinking struct {
	Text      string
	Signature string
	Redacted  bool   // the text was withheld by its provider
	Data      string // what a redacted one holds instead
	Millis    int64  // how long it took; 0 if not known
	Start     Stamp
	End       Stamp
	Source
	Extras []Extra
}

// ToolCall is a tool that the model asked for.
type ToolCall struct {
	ID    string
	Name  string // as the model called it; the kind's own name if only that is known
	Kind  string // the client's kind: shell, read, edit, …; "tool-<number>" for one newer than our table
	Input Raw    // the arguments as the model wrote them
	Args  Raw    // the arguments as the tool ran with them
	Start Stamp
	End   Stamp
	Child string // the session that this call started
	Source
	Extras []Extra
}

// ToolResult is what came of a call.
type ToolResult struct {
	Call    string
	Status  string // which of the kind's cases: success, failure, rejected, timeout, …; "" if nothing tells
	Error   bool
	Content []Part // what the model was shown: Text, Media, Opaque
	Value   Raw    // the tool's own record of it
	// FileChange, where set, reads what the file of an edit held before and after,
	// which Session.Files yields, too. No line spells it; it can be asked as long
	// as the message is valid.
	FileChange func() (before, after *Body)
	Source
	Extras []Extra
}

// Media is an image or a file.
type Media struct {
	Mime, Name string
	Data       []byte // the bytes, if they are held
	URI        string // where they are, if not
	Source
	Extras []Extra
}

// Summary is what the client keeps of messages that it compacted.
type Summary struct {
	Text string
	Source
	Extras []Extra
}

// Boundary is where the client compacted: the messages in front of it are
// archived.
type Boundary struct {
	Archived int // how many
	Extras   []Extra
}

// Opaque is recognized and not translated.
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

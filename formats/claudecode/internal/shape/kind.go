// Package shape declares what Claude Code stores: the kinds of lines, their members, and the
// blocks of messages. Reading, checking, repairing and writing build on it, so that a name
// or a new type of block is added in one place.
package shape

// Kind is the kind of a line.
type Kind uint8

// The kinds of lines.
const (
	Broken     Kind = iota
	Blanks          // whitespace only
	User            // a prompt, a tool result, or text of the client in the role of the user
	Assistant       // an answer
	System          // a notice of the client
	Attachment      // context that the client added
	Progress        // written by older clients
	Title           // a title of the session
	Other           // not part of the conversation
)

// Titles are the types of lines of kind Title, and the members with their texts.
var Titles = map[string]string{"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}

// KindOf returns the kind of a line by its type.
func KindOf(name string) Kind {
	switch name {
	case "user":
		return User
	case "assistant":
		return Assistant
	case "system":
		return System
	case "attachment":
		return Attachment
	case "progress":
		return Progress
	}
	if Titles[name] != "" {
		return Title
	}
	return Other
}

// Chained reports whether lines of this kind form the tree of the conversation.
func (k Kind) Chained() bool { return k >= User && k <= Progress }

// Said reports whether lines of this kind are prompts, answers or results.
func (k Kind) Said() bool { return k == User || k == Assistant }

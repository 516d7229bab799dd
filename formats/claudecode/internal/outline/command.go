package outline

import (
	"strings"
)

// IsCommandTag reports whether the client wraps a slash command or its output in tag.
func IsCommandTag(tag string) bool {
	switch tag {
	case "command-name", "command-message", "command-args", "local-command-stdout", "local-command-stderr", "local-command-caveat":
		return true
	}
	return false
}

// IsCommand reports whether a text begins with a slash command.
func IsCommand(text string) bool {
	return strings.HasPrefix(text, "<command-name>") || strings.HasPrefix(text, "<command-message>")
}

// TypedSource is the promptSource of what a person typed.
const TypedSource = "typed"

// IsTagged reports whether a text begins with a tag that the client writes.
func IsTagged(text string) bool {
	tag, _, ok := strings.Cut(strings.TrimPrefix(text, "<"), ">")
	return IsOutput(text) || ok && text[0] == '<' && IsCommandTag(tag)
}

// CommandSeparator returns the text between the tags of a command whose first tag is given.
func CommandSeparator(tag string) string {
	if tag == "command-name" {
		return "\n            "
	}
	return "\n"
}

// OutputTag starts the output of a command that the user ran.
const OutputTag = "<bash-stdout>"

// IsOutput reports whether the client displays a text as the output of a command
// that the user ran. Such a line is not a prompt.
func IsOutput(text string) bool {
	for _, tag := range [...]string{OutputTag, "<bash-stderr>", "<local-command-stdout>", "<local-command-stderr>"} {
		if strings.HasPrefix(text, tag) {
			return true
		}
	}
	return false
}

package session

import (
	"slices"
	"strings"
)

// Contradicts reports whether a text that a client recorded of a result says something else
// than what the model is sent: each has a line that the other lacks. What clients put around
// output, and what they leave out of it, is no difference.
func (t *ToolResult) Contradicts(recorded string) bool {
	if recorded = strings.TrimSpace(strings.TrimPrefix(recorded, "Error: ")); len(t.Content) == 0 || recorded == "" {
		return false
	}
	var texts []string
	for _, p := range t.Content {
		if words, ok := p.(*Text); ok {
			texts = append(texts, words.Text)
		}
	}
	sent := strings.Join(texts, "\n")
	if strings.Contains(sent, recorded) || follows(sent, recorded) || strings.Contains(sent, inJSON(recorded)) {
		return false
	}
	if len(texts) < len(t.Content) && strings.TrimSpace(sent) == "" {
		return false // it is an image
	}
	known, said := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(recorded) {
		known[bare(line)] = true
	}
	more, cut := 0, false
	for line := range strings.Lines(sent) {
		line = bare(line)
		said[line] = true
		if !known[line] && !isFrame(line) {
			more++
			cut = cut || isCut(line)
		}
	}
	for line := range known {
		if !said[line] {
			return strings.TrimSpace(sent) == "" || more > 0 && !cut || more > maxCut
		}
	}
	return false
}

// follows reports whether a text has all lines of another one, in their order.
func follows(text, lines string) bool {
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		for next, found := "", line == ""; !found; {
			if text == "" {
				return false
			}
			next, text, _ = strings.Cut(text, "\n")
			next = strings.TrimSpace(next)
			found = next == line || strings.HasSuffix(next, line) && bare(next) == line
		}
	}
	return true
}

// inJSON returns a text as it is within a string of JSON.
func inJSON(text string) string { return strings.Trim(string(AppendString(nil, text)), `"`) }

// bare returns a line without what clients put before it: the number of a line, or that it is
// an error.
func bare(line string) string {
	line = strings.TrimSpace(line)
	if rest := strings.TrimLeft(line, "0123456789"); len(rest) < len(line) {
		if after := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(rest, "→"), "\t"), "|"); len(after) < len(rest) {
			return strings.TrimSpace(after)
		}
	}
	return strings.TrimSpace(strings.TrimPrefix(line, "Error: "))
}

// isFrame reports whether a line is one that clients put around output.
func isFrame(line string) bool {
	return line == "" || slices.ContainsFunc([]string{"```", "Exit code", "Chunk ID: ", "Wall time: ", "Original token count: ", "Total output lines: ", "Output:",
		"Command output:", "Command completed", "Process exited with code ", "Process running with session ID "}, func(s string) bool { return strings.HasPrefix(line, s) })
}

// maxCut is how many lines a text that was cut can have besides: where it was cut, and what
// is left of lines there.
const maxCut = 4

// isCut reports whether a client says with a line that it left out something.
func isCut(line string) bool {
	return slices.ContainsFunc([]string{"truncated", "omitted", "<persisted-output>", "Output too large"}, func(s string) bool { return strings.Contains(line, s) })
}

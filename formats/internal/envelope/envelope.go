// Package envelope takes apart what a client sends as the user's text: the
// prompt, and around it context in tags of its own.
//
//	<user_info>
//	OS Version: linux
//	</user_info>
//
//	<user_query>
//	what the user typed
//	</user_query>
//
// Only tags that the client is known to use count, only where one begins a
// line and its end ends one, and only on the outermost level: a prompt that
// mentions a tag, even one that holds a whole envelope in its query, is left
// alone. A tag that is not closed is text.
package envelope

import "strings"

// Query is the tag around the prompt itself.
const Query = "user_query"

// Clock is the tag around the time at which a prompt was sent, for people.
const Clock = "timestamp"

// Piece is one piece of a user's text, in its order.
type Piece struct {
	Tag  string // "" for text that stood in no tag
	Text string // what the tag held, without the line ends at its rims
}

// Prompt reports whether a piece is the user's own text.
func (p Piece) Prompt() bool { return p.Tag == "" || p.Tag == Query }

// tags are all that clients have been seen to use.
var tags = [...]string{
	Query, Clock,
	"user_info", "project_layout", "rules", "always_applied_workspace_rules", "agent_requestable_workspace_rules",
	"user_rules", "agent_skills", "available_skills", "cloud_instructions", "cloud_task_instructions",
	"open_and_recently_viewed_files", "system_reminder", "system-reminder", "instructions_update",
	"mcp_instructions", "mcp_file_system", "mcp_file_system_servers", "git_status", "agent_transcripts",
	"cursor_rules_context", "attached_files", "system_notification", "task_notification", "agent_notification",
}

// Split takes a text apart. Line ends between the pieces, up to two, are the
// client's way of setting them apart and belong to none; everything else does.
func Split(text string) []Piece {
	if !strings.Contains(text, "<") {
		return plain(nil, text, false, false)
	}
	var out []Piece
	from := 0                   // of the text that is in no tag so far
	var open [len(tags)][2]bool // what is not closed here is not closed further on
	for i := 0; i < len(text); {
		tag := opening(text[i:])
		if tag < 0 {
			next := strings.IndexByte(text[i:], '\n')
			if next < 0 {
				break
			}
			i += next + 1
			continue
		}
		name := tags[tag]
		inner := text[i+len(name)+2:]
		block := 0
		if strings.HasPrefix(inner, "\n") {
			block = 1
		}
		n := -1
		if !open[tag][block] {
			n = closing(inner, name, block == 1)
			open[tag][block] = n < 0
		}
		if n < 0 {
			i += len(name) + 2
			if next := strings.IndexByte(text[i:], '\n'); next >= 0 {
				i += next + 1
				continue
			}
			break
		}
		out = plain(out, text[from:i], from > 0, true)
		out = append(out, Piece{name, trim(inner[:n], 1, 1)})
		i += len(name) + 2 + n + len(name) + 3
		from = i
	}
	return plain(out, text[from:], from > 0, false)
}

// plain adds text that stood in no tag, if there is any.
func plain(out []Piece, text string, after, before bool) []Piece {
	front, back := 0, 0
	if after {
		front = 2
	}
	if before {
		back = 2
	}
	if text = trim(text, front, back); text == "" {
		return out
	}
	return append(out, Piece{"", text})
}

// trim takes away line ends, so many at most.
func trim(text string, front, back int) string {
	for ; front > 0 && strings.HasPrefix(text, "\n"); front-- {
		text = text[1:]
	}
	for ; back > 0 && strings.HasSuffix(text, "\n"); back-- {
		text = text[:len(text)-1]
	}
	return text
}

// opening is the tag that begins a text, -1 if none does.
func opening(text string) int {
	if len(text) < 3 || text[0] != '<' {
		return -1
	}
	for i, tag := range tags {
		if len(text) > len(tag)+1 && text[len(tag)+1] == '>' && text[1:len(tag)+1] == tag {
			return i
		}
	}
	return -1
}

// closing finds the end of a tag whose inside begins here: the first place
// where it can end. A prompt can hold such a place itself, so that the end of a
// query is rather one behind which nothing follows, or another tag.
func closing(inner, tag string, block bool) int {
	end := "</" + tag + ">"
	best := -1
	again := "\n<" + tag + ">"
	until := len(inner)
	for from := 0; from < until; {
		n := strings.Index(inner[from:until], end)
		if n < 0 {
			return best
		}
		n += from
		from = n + len(end)
		behind := inner[from:]
		if behind != "" && behind[0] != '\n' || block && inner[n-1] != '\n' {
			continue
		}
		if tag != Query || strings.TrimLeft(behind, "\n") == "" || opening(strings.TrimLeft(behind, "\n")) >= 0 {
			return n
		}
		if best < 0 {
			if next := strings.Index(inner[from:], again); next >= 0 {
				until = from + next + 1
			}
		}
		best = n
	}
	return best
}

// maxTitle is the number of characters of a prompt that make a title.
const maxTitle = 80

// Title returns the first line of a prompt, cut short: what lists show of a
// session without a name.
func Title(prompt string) string {
	title, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	title = strings.TrimSpace(title)
	n := 0
	for i := range title {
		if n++; n > maxTitle {
			return strings.TrimSpace(title[:i]) + "…"
		}
	}
	return title
}

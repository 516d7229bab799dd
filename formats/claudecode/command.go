package claudecode

import (
	"strings"

	"rehome/formats/session"
)

// commandTag reports what the client wraps a slash command in, or what came of
// one.
func commandTag(tag string) bool {
	switch tag {
	case "command-name", "command-message", "command-args", "local-command-stdout", "local-command-stderr", "local-command-caveat":
		return true
	}
	return false
}

// command reports a line that begins with a slash command.
func command(text string) bool {
	return strings.HasPrefix(text, "<command-name>") || strings.HasPrefix(text, "<command-message>")
}

// between is what stands between the tags of a command that begins with one.
func between(tag string) string {
	if tag == "command-name" {
		return "\n            "
	}
	return "\n"
}

// commanded tells the pieces of a command where they can be spelled again as
// they were; all else stays as it is.
func commanded(parts []session.Part) []session.Part {
	if len(parts) != 1 {
		return parts
	}
	t, ok := parts[0].(*session.Text)
	if !ok || len(t.Extras) > 0 {
		return parts
	}
	var out []session.Part
	for rest := t.Text; ; {
		tag, inner, ok := strings.Cut(strings.TrimPrefix(rest, "<"), ">")
		if !ok || rest[0] != '<' || !commandTag(tag) {
			return parts
		}
		if inner, rest, ok = strings.Cut(inner, "</"+tag+">"); !ok {
			return parts
		}
		out = append(out, &session.Injected{Tag: tag, Text: inner})
		if rest == "" {
			return out
		}
		if rest, ok = strings.CutPrefix(rest, between(out[0].(*session.Injected).Tag)); !ok || rest == "" {
			return parts
		}
	}
}

// spelledCommand is a command as the client spells it; "" if the parts are none.
func spelledCommand(parts []session.Part) string {
	var out []string
	for _, p := range parts {
		t, ok := p.(*session.Injected)
		if !ok || !commandTag(t.Tag) || len(t.Data) > 0 {
			return ""
		}
		out = append(out, "<"+t.Tag+">"+t.Text+"</"+t.Tag+">")
	}
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, between(parts[0].(*session.Injected).Tag))
}

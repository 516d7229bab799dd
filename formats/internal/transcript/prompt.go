package transcript

import (
	"rehome/formats/internal/envelope"
	"rehome/formats/session"
)

// Prompt takes the envelope off what the user wrote. The extras are those of the first
// part that the user typed.
func Prompt(text string, extras []session.Extra) []session.Part {
	var parts []session.Part
	for _, p := range envelope.Split(text) {
		if p.Prompt() {
			parts = append(parts, &session.Text{Text: p.Text, Source: of(), Extras: extras})
			extras = nil
			continue
		}
		parts = append(parts, &session.Injected{Tag: p.Tag, Text: p.Text, Source: of()})
	}
	if extras != nil {
		parts = append(parts, &session.Text{Source: of(), Extras: extras})
	}
	return parts
}

package session_test

import (
	"fmt"
	"log"

	"rehome/formats/session"
)

// Walk the messages of a session. Decoders return one; this one is written by hand.
func ExampleSession() {
	s := &session.Session{
		Head: session.Head{ID: "a1", Agent: session.CursorCLI, Title: "Count files"},
		Messages: func(yield func(*session.Message, error) bool) {
			_ = yield(&session.Message{ID: "1", Role: session.User, Parts: []session.Part{&session.Text{Text: "How many files are here?"}}}, nil) &&
				yield(&session.Message{ID: "2", Role: session.Assistant, Parts: []session.Part{&session.ToolCall{ID: "c", Name: "Shell", Args: session.Raw(`{"command":"ls | wc -l"}`)}}}, nil)
		},
	}
	for m, err := range s.Messages {
		if err != nil {
			log.Fatal(err)
		}
		for _, part := range m.Parts {
			switch part := part.(type) {
			case *session.Text:
				fmt.Printf("%s: %s\n", m.Role, part.Text)
			case *session.ToolCall:
				fmt.Printf("%s: %s %s\n", m.Role, part.Name, part.Args)
			}
		}
	}
	// Output:
	// user: How many files are here?
	// assistant: Shell {"command":"ls | wc -l"}
}

// Write a message in the canonical form.
func ExampleAppendMessage() {
	line := session.AppendMessage(nil, &session.Message{ID: "1", Role: session.User, At: session.Stored(1769860800000), Parts: []session.Part{&session.Text{Text: "Hello"}}})
	fmt.Printf("%s\n", line)
	// Output:
	// {"type":"message","id":"1","role":"user","at":"2026-01-31T12:00:00.000Z","parts":[{"type":"text","text":"Hello"}]}
}

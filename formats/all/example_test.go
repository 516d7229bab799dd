package all_test

import (
	"context"
	"fmt"
	"log"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/session"
)

// Read the sessions of a store of any format, message by message.
func Example() {
	ctx := context.Background()
	l, err := formats.Locate("../../testdata/chat/before.db")
	if err != nil {
		log.Fatal(err)
	}
	found, err := all.Registry().Detect(ctx, l)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found[0].Format.Name)
	for s, err := range found[0].Format.Sessions.Decode(ctx, l, formats.View{}, session.Selection{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s (%s)\n", s.Title, s.Agent)
		for m, err := range s.Messages {
			if err != nil {
				log.Fatal(err)
			}
			for _, part := range m.Parts {
				if text, ok := part.(*session.Text); ok {
					fmt.Printf("%s: %.40s\n", m.Role, text.Text)
				}
			}
		}
	}
	// Output:
	// cursor-chat
	// Golden demo (cursor-cli)
	// system: You are an AI coding assistant.
	// user: first question (compacted)
	// assistant: first answer (compacted)
	// user: change hello to hello world
	// assistant: Done, one command failed.
	// user: ls
}

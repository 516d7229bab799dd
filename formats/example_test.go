package formats_test

import (
	"context"
	"fmt"
	"log"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/session"
)

// Find out what a path is, and walk the messages of its sessions.
func Example() {
	ctx := context.Background()
	store, err := formats.Locate("../testdata/canonical/one.jsonl")
	if err != nil {
		log.Fatal(err)
	}
	found, err := all.Registry().Detect(ctx, store)
	if err != nil || len(found) == 0 {
		log.Fatal("no known format", err)
	}
	of := found[0].Format
	for s, err := range of.Sessions.Decode(ctx, store, formats.FullView(1), session.Selection{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(of.Name, s.ID, s.Title)
		for m, err := range s.Messages {
			if err != nil {
				log.Fatal(err)
			}
			for _, p := range m.Parts {
				if text, ok := p.(*session.Text); ok {
					fmt.Printf("%s: %s\n", m.Role, text.Text)
				}
			}
		}
	}
	// Output:
	// canonical 0a1b Fix the parser
	// user: hello
}

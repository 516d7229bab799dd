package sessions_test

import (
	"context"
	"fmt"
	"log"

	"rehome/convert/sessions"
	"rehome/formats/all"
)

// List the sessions below a folder, newest first.
func ExampleList() {
	listing, err := sessions.List(context.Background(), all.Registry(), sessions.Options{Paths: []string{"../../testdata/claude/config"}})
	if err != nil {
		log.Fatal(err)
	}
	found, hidden := listing.Select(sessions.Filter{Limit: 3})
	for _, s := range found {
		fmt.Printf("%s in %s: %s\n", s.Agent, s.Workspace, s.Title)
	}
	fmt.Println(hidden.Older, "more")
	// Output:
	// claude-code in /home/ann/app: An old one
	// claude-code in /home/ann/app: what is this
	// claude-code in /home/ann/app: old question
	// 2 more
}

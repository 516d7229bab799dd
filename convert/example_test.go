package convert_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"rehome/convert"
	"rehome/formats/all"
)

// Write a chat of the Cursor CLI as text for git.
func ExampleConvert() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	report, err := convert.Convert(context.Background(), all.Registry(), "../testdata/chat/before.db", filepath.Join(dir, "chat"), convert.Options{To: "archive"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("placed:", report.Placed)
	for _, s := range report.Stores {
		fmt.Printf("%s to %s: %d rows\n", s.From, s.To, s.Rows)
	}
	// Output:
	// placed: true
	// cursor-chat to archive: 27 rows
}

package check_test

import (
	"context"
	"fmt"
	"log"

	"rehome/convert/check"
	"rehome/formats/all"
	"rehome/formats/rule"
)

// Check a store, and print what is wrong with it.
func ExampleCheck() {
	report, err := check.Check(context.Background(), all.Registry(), check.Options{
		Paths: []string{"../../testdata/canonical/strange.jsonl"}, Layers: rule.Container | rule.Schema | rule.References | rule.Meaning,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range report.Stores {
		fmt.Printf("%s: %d errors\n", s.Format, s.Count(rule.Error))
		for _, f := range s.Findings {
			fmt.Println(f.Rule.ID, f.Count)
		}
	}
	// Output:
	// canonical: 7 errors
	// RH131 1
	// RH143 1
	// RH203 6
}

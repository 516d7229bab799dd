package sdkdoc

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestRunStatuses: what users read of the statuses of runs is the list of this package,
// and so are the columns for their ends.
func TestRunStatuses(t *testing.T) {
	var want, columns []string
	for _, s := range runStatuses {
		if s.word != Creating { // no line has it
			want = append(want, s.word)
		}
	}
	for status, column := range RunEnds {
		if !Ended(status) || endColumn(upper(nil, []byte(status))) != column || endColumn([]byte(status)) != -1 {
			t.Errorf("%s ends in column %d", status, column)
		}
		if column >= 0 {
			columns = append(columns, Run.Columns()[column])
		}
	}
	if want := []string{"finished_at", "cancelled_at", "expired_at"}; !slices.Equal(columns, want) {
		t.Errorf("ends are in %q, want %q", columns, want)
	}
	if Ended(Queued) || Ended(Running) || Ended("") || Ended("FINISHED") || endColumn(nil) != -1 {
		t.Error("a run has ended that has not")
	}
	b, err := os.ReadFile("../../../schemas/cursor-ndjson-run-1.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties struct{ Status struct{ Description string } }
	}
	if err := json.Unmarshal(b, &schema); err != nil {
		t.Fatal(err)
	}
	said := schema.Properties.Status.Description
	if got := regexp.MustCompile(`, | or `).Split(said, -1); !slices.Equal(got, want) {
		t.Errorf("the schema has %q, want %q", got, want)
	}
}

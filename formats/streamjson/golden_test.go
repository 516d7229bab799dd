package streamjson_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/formats/streamjson"
	"rehome/golden"
)

func TestMain(m *testing.M) { golden.Main(m) }

const samples = "../../testdata/stream"

func files(t testing.TB) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(samples, "*.json*"))
	if err != nil || len(list) < 15 {
		t.Fatal("no samples", err)
	}
	return list
}

// told is what a file holds: canonical lines, then what was noted and counted.
func told(t testing.TB, path string) (text []byte, tally session.Account) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	var books loss.Log
	var sel session.Selection
	sel.Account = new(session.SharedAccount)
	for s, err := range streamjson.Format().Sessions.Decode(t.Context(), l, formats.View{OnLoss: books.Add}, sel) {
		if err != nil {
			t.Fatal(err)
		}
		text = lines(t, text, s)
	}
	return ledger(text, &books), sel.Account.Total()
}

func lines(t testing.TB, text []byte, s *session.Session) []byte {
	t.Helper()
	text = append(session.AppendHead(text, s), '\n')
	for m, err := range s.Messages {
		if err != nil {
			t.Fatal(err)
		}
		text = append(session.AppendMessage(text, m), '\n')
	}
	return text
}

func ledger(text []byte, books *loss.Log) []byte {
	for _, l := range books.Groups() {
		text = fmt.Appendf(text, "# %s %s: %d at %s\n", l.Kind, l.Code, l.Count, strings.Join(l.Places, " "))
	}
	return text
}

// TestGolden holds every kind of line that is known against what is made of it.
func TestGolden(t *testing.T) {
	for _, path := range files(t) {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			text, tally := told(t, path)
			golden.Bytes(t, "stream-json-to-canonical/"+strings.TrimSuffix(strings.TrimSuffix(name, ".jsonl"), ".json")+".jsonl", text)
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if n := int64(bytes.Count(raw, []byte("\n"))); tally.Read != n || !tally.Balanced() {
				t.Errorf("%d lines, %+v", n, tally)
			}
			if again, _ := told(t, path); !bytes.Equal(text, again) {
				t.Error("another time it is told differently")
			}
		})
	}
}

package all_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/all"
	"rehome/formats/loss"
	"rehome/formats/session"
	"rehome/golden"
)

func TestMain(m *testing.M) { golden.Main(m) }

// TestLines: what is made of the samples of each client whose sessions are files of lines, with
// the branches that were left, and what is lost.
func TestLines(t *testing.T) {
	for _, f := range all.Registry().All() {
		if f.Family != "lines" {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			list, err := os.ReadDir(filepath.Join("../../testdata", f.Name))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range list {
				if e.IsDir() {
					golden.Bytes(t, f.Name+"-to-canonical/"+e.Name()+".jsonl", asCanonical(t, f, filepath.Join("../../testdata", f.Name, e.Name())))
				}
			}
		})
	}
}

// asCanonical returns canonical lines of a store, then the losses of reading it with the branches that
// were left, and without.
func asCanonical(t *testing.T, f *formats.Format, path string) (text []byte) {
	t.Helper()
	l, err := formats.Locate(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, history := range []bool{true, false} {
		var log loss.Log
		sel := session.Selection{History: history, Account: new(session.SharedAccount)}
		for s, err := range f.Sessions.Decode(t.Context(), l, formats.View{OnLoss: log.Add}, sel) {
			if err != nil {
				t.Fatal(err)
			}
			lines := append(session.AppendHead(nil, s), '\n')
			for m, err := range s.Messages {
				if err != nil {
					t.Fatal(err)
				}
				lines = append(session.AppendMessage(lines, m), '\n')
			}
			if history {
				text = append(text, lines...)
			}
		}
		for _, l := range log.Groups() {
			text = fmt.Appendf(text, "# history %v: %s %s: %d at %s\n", history, l.Kind, l.Code, l.Count, strings.Join(l.Places, " "))
		}
		if a := sel.Account.Total(); !a.Balanced() {
			t.Errorf("%s: %+v", path, a)
		}
	}
	return text
}

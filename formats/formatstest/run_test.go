package formatstest_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rehome/formats"
	"rehome/formats/formatstest"
	"rehome/formats/store"
)

// faultVar names the fault that the fake format has in a child process.
const faultVar = "FORMATSTEST_FAULT"

// The suite passes a format that keeps its promises. With a fault named in
// the environment this is the child of TestFaultsAreFound.
func TestFake(t *testing.T) {
	fault := os.Getenv(faultVar)
	f, text := fake{"fake", fault}.format(), fake{"fake-text", fault}.format()
	reg := formats.NewRegistry(f, text)
	formatstest.Run(t, formatstest.Case{Format: f, Registry: reg, Fixtures: []formatstest.Fixture{
		{Name: "secret", Make: builder(f, true), Secrets: []string{"hunter2"}},
		{Name: "plain", Make: builder(f, false)},
	}})
	formatstest.Run(t, formatstest.Case{Format: text, Registry: reg, Fixtures: []formatstest.Fixture{{Name: "text", Make: builder(text, false)}}})
}

// builder makes a small store of a table and a plain file.
func builder(f *formats.Format, secret bool) func(t *testing.T, dir string) string {
	return func(t *testing.T, dir string) string {
		// The source itself is always sound: what is tried is what is made of it.
		sound := fake{name: f.Name}
		schema := &store.Schema{
			Origin:    "fake",
			Databases: []store.Database{{Objects: []store.Object{{Type: "table", Name: "t", Table: "t", SQL: "CREATE TABLE t(a, b)"}}}},
			Sets:      []store.Set{{Name: "t", Columns: []string{"a", "b"}, RowIDs: true}, {File: "notes", Kind: store.Plain}},
		}
		path := filepath.Join(dir, "sample")
		w, err := sound.create(context.Background(), formats.Build{Path: path, Schema: schema})
		if err != nil {
			t.Fatal(err)
		}
		if secret {
			row(t, w, 0, 1, store.TextCell([]byte("secret:hunter2")), store.NullCell())
		}
		row(t, w, 0, 2, store.BlobCell([]byte{0, 0xff}), store.IntCell(-1))
		row(t, w, 0, 7, store.NullCell(), store.TextCell([]byte("x")))
		row(t, w, 1, 0, store.BlobCell([]byte("plain")))
		row(t, w, 1, 1, store.BlobCell([]byte("file")))
		if err := w.Finish(context.Background()); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

func row(t *testing.T, w store.Writer, set int, id int64, cells ...store.Cell) {
	t.Helper()
	b := store.NewBatch(set, len(cells))
	b.Row(id)
	for _, c := range cells {
		b.Add(c)
	}
	if err := w.Put(context.Background(), b); err != nil {
		t.Fatal(err)
	}
}

// A suite that finds nothing proves nothing: each law must catch a format that
// breaks it.
func TestFaultsAreFound(t *testing.T) {
	for fault, want := range map[string]string{
		"claims everything":            "recognized with score 90",
		"claims nothing":               "is not the best match",
		"no evidence":                  "no evidence",
		"errors without a place":       "the error names no place",
		"panics":                       "panic:",
		"side file":                    "was left beside the source",
		"touches":                      "the source was changed",
		"reads on":                     "read without an error",
		"closes once":                  "closing twice",
		"ignores canceling":            "cancelled after 1 of",
		"writes on":                    "cancelled, and ends with <nil>",
		"miscounts":                    "the summary counts",
		"wrong width":                  "records of 3 cells, want 2",
		"wrong row ids":                "row id -7 after -2",
		"tells secrets":                "holds a secret",
		"forgets sidecar":              "with a sidecar",
		"restores markers":             "things were left out of a store",
		"loses a record with workers":  "eight workers",
		"loses a record later":         "a second scan",
		"refuses rudely":               "without a hint",
		"refuses and litters":          "and leaves sample",
		"changes a pragma":             "the databases differ",
		"changes a class":              "record 0 differs",
		"drops a record":               "read back: t: 2 records and 1",
		"counts workers":               "one worker and eight",
		"not a fault, only a bad name": "",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			out, err := child(fault, "^TestFake$")
			if want == "" {
				if err != nil {
					t.Errorf("a sound format fails: %s", out)
				}
				return
			}
			if err == nil {
				t.Fatal("the suite passed it")
			}
			if !strings.Contains(out, want) {
				t.Errorf("no %q in:\n%s", want, out)
			}
		})
	}
}

// Each law waits for goroutines to end, so this fault is tried on one of them.
func TestLeakIsFound(t *testing.T) {
	t.Parallel()
	out, err := child("leaves a goroutine", "^TestFake$/^plain$/^close$")
	if err == nil || !strings.Contains(out, "goroutines at the start") {
		t.Errorf("the suite did not see a goroutine left behind: %s", out)
	}
}

// child runs tests of this program with a faulty fake.
func child(fault, tests string) (string, error) {
	c := exec.Command(os.Args[0], "-test.run="+tests, "-test.timeout=60s")
	c.Env = append(os.Environ(), faultVar+"="+fault)
	out, err := c.CombinedOutput()
	return string(out), err
}

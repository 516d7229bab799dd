package catalog

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"rehome/formats/all"
)

const testdata = "../../../../testdata/"

// TestWriteFile writes the same bytes each time, replaces nothing and leaves nothing.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	var was []byte
	for _, name := range []string{"a", "b"} {
		to := filepath.Join(dir, name)
		rep, err := WriteFile(t.Context(), all.Registry(), testdata+"codex/home", to, Options{})
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(to)
		if err != nil || was != nil && !bytes.Equal(text, was) {
			t.Errorf("%s: other bytes (%v)", name, err)
		}
		was = text
		if s := rep.Stores[0]; s.Status != Written || s.Sessions == 0 || bytes.Count(text, []byte("\n")) != 1+s.Sessions+s.Losses+s.Findings {
			t.Errorf("%+v", s)
		}
		if bytes.Contains(text, []byte(`"machine"`)) || !bytes.HasPrefix(text, []byte(`{"catalog":1,"format":"codex"}`)) {
			t.Errorf("%.300s", text)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for to, ctx := range map[string]context.Context{"a": t.Context(), "c": cancelled, "none/c": t.Context()} {
		if _, err := WriteFile(ctx, all.Registry(), testdata+"codex/home", filepath.Join(dir, to), Options{}); err == nil {
			t.Errorf("%s: written", to)
		}
	}
	src := filepath.Join(t.TempDir(), "src")
	link := filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.CopyFS(src, os.DirFS(testdata+"codex/home")), os.Symlink(src, link)); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{src + "/rows", link + "/rows", src + "/sessions/rows"} {
		if _, err := WriteFile(t.Context(), all.Registry(), src, to, Options{}); err == nil || !strings.Contains(err.Error(), "overlap") {
			t.Errorf("in the source: %v", err)
		}
	}
	if list, _ := os.ReadDir(dir); len(list) != 2 {
		t.Errorf("left: %v", list)
	}
}

// TestRows refuses files that this package does not write: the process that wrote one read
// bytes that anybody can write.
func TestRows(t *testing.T) {
	const h, f = `{"catalog":1,"format":"codex"}` + "\n", `{"finding":{"count":1,"rule":"RH1"}}` + "\n"
	for text, want := range map[string]string{
		h:                               "",
		h + f + f:                       "",
		h + strings.TrimSuffix(f, "\n"): "",
		h + `{"finding":{"count":1,"store":"/other"}}`: "", // the store is that of the plan
		"":                                  "line 1: not the header",
		f:                                   "line 1: not the header",
		`{"catalog":2}`:                     "line 1: not the header",
		`{"catalog":1,"format":"\u0000"}`:   "line 1: not the header",
		`{"catalog":1,"machine":"m"}`:       "line 1: not the header",
		h + f + `{"store":{"path":"."}}`:    "line 3: unknown kind",
		h + "\n":                            "line 2: not a row",
		h + "null":                          "line 2: not a row",
		h + `{"finding":[]}`:                "line 2: not a row",
		h + `{"finding":{"count":1}`:        "line 2: not a row",
		h + strings.Repeat("[", 1<<20):      "line 2: not a row",
		h + f[:len(f)-2] + `,"session":{}}`: "line 2: not a row",
		h + `{"finding":{}}`:                "finding.count: missing",
		h + `{"finding":null}`:              "finding.count: missing",
		h + `{"finding":{"count":null}}`:    "finding.count: missing",
		h + `{"finding":{"count":"1"}}`:     "finding.count: another type",
		h + `{"finding":{"count":1.5}}`:     "finding.count: another type",
		h + `{"finding":{"count":9223372036854775808}}`:                                         "finding.count: another type",
		h + `{"finding":{"count":1,"rule":null}}`:                                               "finding.rule: missing",
		h + `{"finding":{"count":1,"rule":"a\u0000"}}`:                                          "finding.rule: U+0000",
		h + `{"finding":{"count":1,"machine":"other"}}`:                                         "unknown column",
		h + `{"finding":{"count":1,"unit_id":"other"}}`:                                         "unknown column",
		h + `{"finding":{"count":1,"x\"; drop table":1}}`:                                       "unknown column",
		h + `{"loss":{"code":"L1","kind":"k","consequence":"c","count":1,"places":["\u0000"]}}`: "loss.places: U+0000",
		h + `{"loss":{"code":"L1","kind":"k","consequence":"c","count":1}}`:                     "loss.places: missing",
		h + `{"session":{"created_at":"0000-01-01T00:00:00Z"}}`:                                 "session.",
		h + `{"finding":{"count":1,"rule":"` + strings.Repeat("x", maxRow) + `"}}`:              "line 2: a row is larger than 16 MB",
	} {
		r, _, err := readRows(strings.NewReader(text), nil, [placeColumns]any{"m", "u", "s"})
		if err == nil {
			for r.Next() {
				if row, _ := r.Values(); row[0] != "m" || row[1] != "u" || row[2] != "s" {
					t.Errorf("%v", row)
				}
			}
			err = r.Err()
		}
		switch {
		case want == "" && err != nil, want != "" && (!errors.Is(err, ErrRows) || !strings.Contains(err.Error(), want)):
			t.Errorf("%.200q: %v, want %q", text, err, want)
		}
	}
	for _, year := range []string{"0000", "10000"} {
		if v, err := value([]byte(`"`+year+`-01-01T00:00:00Z"`), reflect.TypeFor[time.Time]()); err == nil {
			t.Error(v)
		}
	}
}
